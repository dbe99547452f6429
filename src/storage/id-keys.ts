import { LRUCache } from "lru-cache";
import * as z from "zod";
import type { Log } from "../log.js";
import { KEY_MARK } from "../text/ids.js";
import { ageOf } from "../util/clock.js";
import { digest } from "../util/digest.js";
import { DAY } from "../util/units.js";
import { defineCollection } from "./collection.js";
import type { State } from "./state.js";
import type { Write } from "./store.js";
import { timestampSchema } from "./timestamp.js";

/** Ids that are too long for a button. */
export const longIds = defineCollection({
  name: "ids",
  // Version 1 stored only the id, as a string.
  schema: z.preprocess(
    (value) => (typeof value === "string" ? { id: value, usedAt: null } : value),
    z.object({ id: z.string(), usedAt: timestampSchema.nullable() }),
  ),
  lifetime: "for a year after a button with it was last shown or pressed",
  isShared: true,
});

/** Long ids by short keys, for links that are too short for the ids. */
export interface IdKeys {
  /** Stores an id without waiting for the write. */
  remember(key: string, id: string): void;
  /** Keeps an id in this process only. */
  hold(key: string, id: string): void;
  /** Returns the id with this key, if it is known. */
  resolve(key: string): Promise<string | undefined>;
}

/** Returns an id's key: 17 characters. The first one is a character that no packed id starts with. */
export function keyOf(id: string): string {
  return KEY_MARK + digest(id, 16);
}

/** Time for which writes are batched, in ms. */
const GATHER_MS = 1_000;
/** Time after which an id is deleted if no button with it was shown or pressed, in ms. */
const KEPT_MS = 365 * DAY;
/** Interval at which the use of an id is recorded, in ms. */
const RENEW_MS = 30 * DAY;

/** A `usedAt` that is always too old, so that the next use writes the id to the state. */
const LONG_AGO = 0;
/** Maximum number of ids that are dated in one commit. */
const BATCH = 1_000;
/** A clock that shows an earlier time is wrong, epoch ms. */
const EARLIEST = Date.UTC(2024);

interface HeldId {
  readonly id: string;
  /** Time at which the state last recorded a use of the id, epoch ms. null if the id is not stored in the state. */
  readonly usedAt: number | null;
}

/**
 * Creates the ids by key. An id is immediately in memory and shortly after in the state, so that its buttons work for as long as
 * they are visible.
 */
export function createIdKeys(
  state: State,
  log: Pick<Log, "warn">,
  now = Date.now,
): IdKeys & { flush(): Promise<void> } {
  const memory = new LRUCache<string, HeldId>({ max: 50_000 });
  /** Ids that are not in the state yet, by key. */
  let unwritten = new Map<string, string>();
  let timer: NodeJS.Timeout | undefined;

  const flush = async () => {
    clearTimeout(timer);
    timer = undefined;
    const ids = unwritten;
    unwritten = new Map();
    if (ids.size === 0) return;
    try {
      await state.commit([...ids].map(([key, id]) => state.open(longIds).put(key, { id, usedAt: now() })));
    } catch (error) {
      // They are written the next time they are shown or pressed.
      for (const [key, id] of ids) memory.set(key, { id, usedAt: LONG_AGO });
      log.warn(
        { err: error, ids: ids.size },
        "Long ids could not be stored; their buttons work until a restart",
      );
    }
  };

  /** Keeps an id in memory. If the state has not recorded a use of it lately, schedules a write that does. */
  const use = (key: string, { id, usedAt }: HeldId) => {
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
      const heldId = memory.get(key);
      if (heldId && heldId.usedAt !== null) use(key, heldId);
      if (heldId) return heldId.id;
      const keptId = await state.open(longIds).get(key);
      if (keptId) use(key, keptId);
      return keptId?.id;
    },
    flush,
  };
}

/** Deletes ids that were not used for a long time. Ids without a date, or with a date from a wrong clock, are dated now. */
export async function forgetOldIds(state: State, now = Date.now()): Promise<void> {
  if (now < EARLIEST) return;
  let undated: Write[] = [];
  const date = async () => {
    await state.commit(undated);
    undated = [];
  };
  for await (const [key, document] of state.open(longIds).entries()) {
    const { id, usedAt } = document;
    const isDated = usedAt !== null && usedAt >= EARLIEST && usedAt <= now;
    if (!isDated) undated.push(state.open(longIds).put(key, { id, usedAt: now }));
    if (undated.length === BATCH) await date();
    // The expectation fails if the id has been used since it was read.
    if (isDated && usedAt < now - KEPT_MS)
      await state.commit([state.open(longIds).expect(key, document), state.open(longIds).delete(key)]);
  }
  if (undated.length > 0) await date();
}
