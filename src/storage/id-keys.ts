import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Log } from "../log.js";
import { KEY_MARK } from "../text/ids.js";
import { ageOf } from "../util/clock.js";
import { DAY } from "../util/units.js";
import type { State } from "./state.js";
import type { Write } from "./store.js";

/** Where ids that do not fit into a button are kept, by a key derived from them. */
export interface IdKeys {
  /** Keeps an id; nothing waits for it. */
  remember(key: string, id: string): void;
  /** Holds an id in this process alone. */
  hold(key: string, id: string): void;
  /** The id with that key, if it is known. */
  resolve(key: string): Promise<string | undefined>;
}

/** An id's key: 17 characters that no packed id begins with. */
export function keyOf(id: string): string {
  return KEY_MARK + hash("sha256", id, "base64url").slice(0, 16);
}

/** Keys are written together, so many ms after the first. */
const GATHER_MS = 1_000;
/** An id that no button has shown, and nobody has pressed, for so many ms is forgotten. */
const KEPT_MS = 365 * DAY;
/** How often the state is told that an id is in use, in ms. */
const RENEW_MS = 30 * DAY;

/** A time before any that is believed: the state is to be told. */
const LONG_AGO = 0;
/** Ids that are forgotten, or dated, in one commit. */
const BATCH = 1_000;
/** Before this no clock is right, epoch ms. */
const EARLIEST = Date.UTC(2024);

interface Held {
  readonly id: string;
  /** When the state was last told that it is in use, epoch ms; null where it is not to be kept. */
  readonly usedAt: number | null;
}

/** Ids by key: in memory at once, and in the state a moment later, so that a button works for as long as it is seen. */
export function createIdKeys(
  state: State,
  log: Pick<Log, "warn">,
  now = Date.now,
): IdKeys & { flush(): Promise<void> } {
  const memory = new LRUCache<string, Held>({ max: 50_000 });
  /** By key. */
  let unwritten = new Map<string, string>();
  let timer: NodeJS.Timeout | undefined;

  const flush = async () => {
    clearTimeout(timer);
    timer = undefined;
    const ids = unwritten;
    unwritten = new Map();
    if (ids.size === 0) return;
    try {
      await state.commit([...ids].map(([key, id]) => state.ids.put(key, { id, usedAt: now() })));
    } catch (error) {
      // Written once they are shown or pressed again.
      for (const [key, id] of ids) memory.set(key, { id, usedAt: LONG_AGO });
      log.warn(
        { err: error, ids: ids.size },
        "Long ids could not be kept; their buttons work until a restart",
      );
    }
  };

  /** Takes an id into memory, and notes in the state that it is in use, where that is long ago. */
  const use = (key: string, { id, usedAt }: Held) => {
    const isRecent = usedAt !== null && ageOf(usedAt, now()) < RENEW_MS;
    memory.set(key, { id, usedAt: isRecent ? usedAt : now() });
    if (isRecent) return;
    unwritten.set(key, id);
    timer ??= setTimeout(flush, GATHER_MS);
  };

  return {
    remember: (key, id) => use(key, memory.get(key) ?? { id, usedAt: null }),
    hold(key, id) {
      if (!memory.has(key)) memory.set(key, { id, usedAt: null });
    },
    async resolve(key) {
      const held = memory.get(key);
      if (held && held.usedAt !== null) use(key, held);
      if (held) return held.id;
      const kept = await state.ids.get(key);
      if (kept) use(key, kept);
      return kept?.id;
    },
    flush,
  };
}

/**
 * Forgets the ids that have not been in use for long. Those of which nobody knows when they were, or whose date is from a clock
 * that was wrong, are dated now.
 */
export async function forgetOldIds(state: State, now = Date.now()): Promise<void> {
  if (now < EARLIEST) return;
  let undated: Write[] = [];
  const date = async () => {
    await state.commit(undated);
    undated = [];
  };
  for await (const [key, document] of state.ids.entries()) {
    const { id, usedAt } = document;
    const isDated = usedAt !== null && usedAt >= EARLIEST && usedAt <= now;
    if (!isDated) undated.push(state.ids.put(key, { id, usedAt: now }));
    if (undated.length === BATCH) await date();
    // Not where it has been used meanwhile.
    if (isDated && usedAt < now - KEPT_MS)
      await state.commit([state.ids.expect(key, document), state.ids.delete(key)]);
  }
  if (undated.length > 0) await date();
}
