import { LRUCache } from "lru-cache";
import type { IdKeys } from "../discord/links.js";
import type { State, Write } from "./state.js";

const COLLECTION = "ids";
/** Keys are written together, so many ms after the first. */
const GATHER_MS = 1_000;

interface Log {
  warn(details: object, message: string): void;
}

/** Ids by key: in memory at once, and in the state a moment later, so that a button works for as long as it is seen. */
export function createIdKeys(state: State, log: Log): IdKeys & { flush(): Promise<void> } {
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
      unwritten.push({ op: "add", collection: COLLECTION, id: key, document: id });
      timer ??= setTimeout(flush, GATHER_MS);
    },
    async resolve(key) {
      const held = memory.get(key);
      if (held !== undefined) return held;
      const id = await state.get(COLLECTION, key);
      return typeof id === "string" ? id : undefined;
    },
    flush,
  };
}
