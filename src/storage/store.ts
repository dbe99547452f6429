import type { ChangeLog } from "./change-log.js";

/** Location of a document: its collection, and its id in the collection. */
interface DocumentPlace {
  readonly collection: string;
  readonly id: string;
}

/** A write of a commit. Documents are text. */
export type Write =
  | (DocumentPlace & { readonly op: "put"; readonly text: string })
  /** Writes the document only if it does not exist yet. */
  | (DocumentPlace & { readonly op: "add"; readonly text: string })
  | (DocumentPlace & { readonly op: "delete" })
  /** Writes no document. The commit fails unless the document has exactly this text, or is missing if it is undefined. */
  | (DocumentPlace & { readonly op: "expect"; readonly text: string | undefined });

/** A store of documents as text in collections. A commit is atomic, and durable once its promise resolves. */
export interface Store {
  get(collection: string, id: string): Promise<string | undefined>;
  /**
   * Returns a collection's documents page by page without blocking. A concurrent write may or may not be included, and a document
   * may come twice.
   * @param start first characters of the ids. By default, all documents are returned
   */
  pages(collection: string, start?: string): AsyncIterable<readonly (readonly [id: string, text: string])[]>;
  /** Returns the names of all collections that are not empty. */
  collections(): Promise<string[]>;
  /** Applies all writes or none. Returns false if an expectation did not hold. */
  commit(writes: readonly Write[]): Promise<boolean>;
  /** The latest changes. Missing if other processes may change documents, too. */
  readonly changes?: Pick<ChangeLog, "now" | "since">;
  close(): Promise<void>;
}

/** A document with its place. */
export interface StoredDocument extends DocumentPlace {
  readonly text: string;
}

/** A store whose documents can be replaced as a whole. */
export interface ReplaceableStore extends Store {
  /**
   * Replaces the documents of all collections except for the kept ones. If it fails or is interrupted, the old documents stay.
   * @throws {StateError}
   */
  replaceAll(documents: readonly StoredDocument[], kept: ReadonlySet<string>): Promise<void>;
}

/** Thrown if the state cannot be used. Its message is for the operator. */
export class StateError extends Error {
  override readonly name = "StateError";
}

/** Thrown if the settings do not fit the state. It does not go away by itself. */
export class ConflictError extends StateError {}

/** Returns all documents of a collection by id. @throws {StateError} */
export async function readAll(store: Pick<Store, "pages">, collection: string): Promise<Map<string, string>> {
  const allDocuments = new Map<string, string>();
  for await (const page of store.pages(collection)) for (const [id, text] of page) allDocuments.set(id, text);
  return allDocuments;
}
