import { createChangeLog } from "../src/storage/change-log.js";
import type { Store, Write } from "../src/storage/store.js";

/** In-memory store shared by all processes. It only keeps committed data. */
export class MemoryStore implements Store {
  readonly #collections = new Map<string, Map<string, string>>();
  commits = 0;
  readonly changes = createChangeLog();

  #of(collection: string): Map<string, string> {
    const held = this.#collections.get(collection) ?? new Map<string, string>();
    this.#collections.set(collection, held);
    return held;
  }

  /** Returns the documents of a collection, for checks from outside. */
  read(collection: string): Record<string, unknown>[] {
    return [...this.#of(collection).values()].map((text) => JSON.parse(text) as Record<string, unknown>);
  }

  /** Returns the number of documents by collection. */
  sizes(): Record<string, number> {
    return Object.fromEntries([...this.#collections].map(([name, held]) => [name, held.size]));
  }

  async get(collection: string, id: string): Promise<string | undefined> {
    return this.#of(collection).get(id);
  }

  async *pages(collection: string, start = "") {
    yield [...this.#of(collection)]
      .filter(([id]) => id.startsWith(start))
      .sort(([a], [b]) => (a < b ? -1 : 1));
  }

  async collections(): Promise<string[]> {
    return [...this.#collections.keys()];
  }

  async commit(writes: readonly Write[]): Promise<boolean> {
    this.commits += 1;
    const holds = writes.every(
      (write) => write.op !== "expect" || this.#of(write.collection).get(write.id) === write.text,
    );
    if (!holds) return false;
    for (const write of writes) {
      const held = this.#of(write.collection);
      if (write.op !== "expect") this.changes.note(write.collection, write.id);
      if (write.op === "delete") held.delete(write.id);
      else if (write.op === "put" || (write.op === "add" && !held.has(write.id)))
        held.set(write.id, write.text);
    }
    return true;
  }

  async close(): Promise<void> {}
}
