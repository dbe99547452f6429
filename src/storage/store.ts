/** A document's place: its collection, and its id there. */
interface Place {
  readonly collection: string;
  readonly id: string;
}

/** One part of a commit; a document is text. */
export type Write =
  | (Place & { readonly op: "put"; readonly text: string })
  /** Only where there is none yet; else it leaves what is there. */
  | (Place & { readonly op: "add"; readonly text: string })
  | (Place & { readonly op: "delete" })
  /** Writes nothing: the commit fails unless exactly this text is there, or none where it is undefined. */
  | (Place & { readonly op: "expect"; readonly text: string | undefined });

/**
 * Where the state is kept: documents as text, in collections. Whatever belongs together is one commit; it is on the disk, or
 * in Redis, when its promise resolves.
 */
export interface Store {
  get(collection: string, id: string): Promise<string | undefined>;
  /**
   * All documents of a collection, so many at a time, by id: nobody waits while there are many. What is written meanwhile may
   * or may not be among them, and one may come twice.
   */
  pages(collection: string): AsyncIterable<readonly (readonly [id: string, text: string])[]>;
  /** The names of the collections that hold anything. */
  collections(): Promise<string[]>;
  /** Applies all the writes, or none: false where an expectation did not hold. */
  commit(writes: readonly Write[]): Promise<boolean>;
  close(): Promise<void>;
}

/** The state cannot be used; the sentence is for the operator. */
export class StateError extends Error {
  override readonly name = "StateError";
}

/** All documents of a collection by id. @throws {StateError} */
export async function readAll(store: Pick<Store, "pages">, collection: string): Promise<Map<string, string>> {
  const all = new Map<string, string>();
  for await (const page of store.pages(collection)) for (const [id, text] of page) all.set(id, text);
  return all;
}
