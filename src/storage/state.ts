/** A document's place: its collection, and its id there. */
export interface Place {
  readonly collection: string;
  readonly id: string;
}

/** One part of a commit; `document` is any JSON. */
export type Write =
  | (Place & { readonly op: "put"; readonly document: unknown })
  /** Only where there is none yet; else it leaves what is there. */
  | (Place & { readonly op: "add"; readonly document: unknown })
  | (Place & { readonly op: "delete" })
  /** Writes nothing: the commit fails unless exactly this document is there, or none where it is undefined. */
  | (Place & { readonly op: "expect"; readonly document: unknown });

/**
 * The durable state: documents in collections. Whatever belongs together is one commit; it is on the disk, or in
 * Redis, when its promise resolves.
 */
export interface State {
  get(collection: string, id: string): Promise<unknown>;
  /** All documents of a collection by id. */
  list(collection: string): Promise<Map<string, unknown>>;
  /** The names of the collections that hold anything. */
  collections(): Promise<string[]>;
  /** Applies all the writes, or none: false where an expectation did not hold. */
  commit(writes: readonly Write[]): Promise<boolean>;
  close(): Promise<void>;
}

/** A document's text: what expectations compare. Keys keep their order, so equal documents have equal text. */
export const toText = (document: unknown): string => JSON.stringify(document);

/** The documents of one kind. */
export interface Collection<T> {
  get(id: string): Promise<T | undefined>;
  list(): Promise<Map<string, T>>;
  put(id: string, document: T): Write;
  add(id: string, document: T): Write;
  expect(id: string, document: T | undefined): Write;
  delete(id: string): Write;
}

/** A collection of the state as documents of one type: what only this bot has written there. */
export function collectionOf<T>(state: State, collection: string): Collection<T> {
  return {
    get: async (id) => (await state.get(collection, id)) as T | undefined,
    list: async () => (await state.list(collection)) as Map<string, T>,
    put: (id, document) => ({ op: "put", collection, id, document }),
    add: (id, document) => ({ op: "add", collection, id, document }),
    expect: (id, document) => ({ op: "expect", collection, id, document }),
    delete: (id) => ({ op: "delete", collection, id }),
  };
}

/** The state cannot be used; the sentence is for the operator. */
export class StateError extends Error {
  override readonly name = "StateError";
}
