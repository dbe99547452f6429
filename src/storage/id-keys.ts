import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Log } from "../log.js";
import { KEY_MARK } from "../text/ids.js";
import type { State } from "./state.js";
import type { Write } from "./store.js";

/** Where ids that do not fit into a button are kept, by a key derived from them. */
export interface IdKeys {
  /** Keeps an id; nothing waits for it. */
  remember(key: string, id: string): void;
  /** The id with that key, if it is known. */
  resolve(key: string): Promise<string | undefined>;
}

/** An id's key: 17 characters that no packed id begins with. */
export function keyOf(id: string): string {
  return KEY_MARK + createHash("sha256").update(id).digest("base64url").slice(0, 16);
}

/** Keys are written together, so many ms after the first. */
const GATHER_MS = 1_000;

/** Ids by key: in memory at once, and in the state a moment later, so that a button works for as long as it is seen. */
export function createIdKeys(state: State, log: Pick<Log, "warn">): IdKeys & { flush(): Promise<void> } {
  const memory = new LRUCache<string, string>({ max: 50_000 });
  let unwritten: Write[] = [];
  let timer: NodeJS.Timeout | undefined;

  const flush = async () => {
    clearTimeout(timer);
    timer = undefined;
    const writes = unwritten;
    unwritten = [];
    if (writes.length === 0) return;
    try {
      await state.commit(writes);
    } catch (error) {
      log.warn(
        { err: error, ids: writes.length },
        "Long ids could not be kept; their buttons work until a restart",
      );
    }
  };

  return {
    remember(key, id) {
      if (memory.has(key)) return;
      memory.set(key, id);
      unwritten.push(state.ids.add(key, id));
      timer ??= setTimeout(flush, GATHER_MS);
    },
    resolve: async (key) => memory.get(key) ?? state.ids.get(key),
    flush,
  };
}
