import type { Log } from "../log.js";
import {
  type CollectionName,
  collectionNames,
  type DocumentOf,
  definitionOf,
  STATE_VERSION,
} from "./catalogue.js";
import { StateError, type Store, type Write } from "./store.js";

/** The documents of one collection, parsed by its schema. */
export interface Collection<T> {
  get(id: string): Promise<T | undefined>;
  /**
   * All of them by id. They stay in memory, and are parsed again only where their text has changed: for a collection that may hold
   * very many, or is read once, `entries`.
   */
  list(): Promise<Map<string, T>>;
  /**
   * One after another, without ever holding all. What is written meanwhile may or may not be among them, and one may come
   * twice (Redis: HSCAN).
   */
  entries(): AsyncIterable<readonly [id: string, document: T]>;
  put(id: string, document: T): Write;
  add(id: string, document: T): Write;
  /** Holds where the document is exactly as it was read or written, or where there is none for undefined. */
  expect(id: string, document: T | undefined): Write;
  delete(id: string): Write;
  /** Moves a document that its schema lets pass, and nobody can use, to "unreadable". */
  setAside(id: string, document: T, problem: string): Promise<void>;
}

type Collections = { readonly [Name in CollectionName]: Collection<DocumentOf<Name>> };

/** The durable state, collection by collection. Whatever belongs together is one commit. */
export interface State extends Collections {
  /** Applies all the writes, or none: false where an expectation did not hold. @throws {StateError} */
  commit(writes: readonly Write[]): Promise<boolean>;
  close(): Promise<void>;
}

/** Keys keep their order, so equal documents have equal text. */
const toText = (document: unknown): string => JSON.stringify(document);

interface StateOptions {
  readonly log: Pick<Log, "error">;
  /** Whether a document that cannot be read is moved out of the way (true): not by who only looks. */
  readonly keepAside?: boolean;
}

/** A document, or what is wrong with its text. */
type Parsed<T> = { readonly document: T } | { readonly problem: string };

/**
 * The state over a store. A document that is no JSON, or does not fit its schema, affects nothing else: it is logged once,
 * moved to the collection "unreadable" with its text, and counts as missing.
 */
export function createState(store: Store, { log, keepAside = true }: StateOptions): State {
  const reported = new Set<string>();
  /** The text that a document was read from: what was upgraded or had defaults filled in is expected as it stands. */
  const textOf = new WeakMap<object, string>();
  const heldText = (document: unknown): string =>
    (typeof document === "object" && document !== null ? textOf.get(document) : undefined) ??
    toText(document);

  const setAside = async (collection: string, id: string, text: string, problem: string) => {
    const name = `${collection}/${id}`;
    if (reported.has(name)) return;
    reported.add(name);
    log.error({ collection, id, problem }, "A document of the state cannot be read; it is kept aside");
    if (!keepAside) return;
    try {
      // What a newer bot has written is not this one's to move.
      if ((await versionOf(collections)) > STATE_VERSION) return;
      const document = { collection, id, text, problem, at: Date.now() };
      await store.commit([
        { op: "expect", collection, id, text },
        collections.unreadable.put(name, document),
        { op: "delete", collection, id },
      ]);
    } catch (err) {
      log.error({ err, collection, id }, "It could not be kept aside; it stays where it is");
    }
  };

  const makeCollection = <Name extends CollectionName>(key: Name): Collection<DocumentOf<Name>> => {
    const { name: collection, schema, upgrade } = definitionOf(key);
    const parse = (id: string, text: string): Parsed<DocumentOf<Name>> => {
      let json: unknown;
      try {
        json = JSON.parse(text);
      } catch {
        return { problem: "it is no JSON" };
      }
      const fields =
        typeof json === "object" && json !== null && !Array.isArray(json) ? { ...json } : undefined;
      const result = schema.safeParse(upgrade && fields ? upgrade(id, fields) : json);
      if (!result.success) {
        const [issue] = result.error.issues;
        return { problem: `${issue?.path.join(".") || "it"}: ${issue?.message}` };
      }
      if (typeof result.data === "object" && result.data !== null) textOf.set(result.data, text);
      return { document: result.data as DocumentOf<Name> };
    };
    /** What was listed last. */
    let listed: ReadonlyMap<string, DocumentOf<Name>> = new Map();
    const parseChanged = (id: string, text: string): Parsed<DocumentOf<Name>> => {
      const known = listed.get(id);
      return typeof known === "object" && known !== null && textOf.get(known) === text
        ? { document: known }
        : parse(id, text);
    };
    /** The documents of a page; what cannot be read is set aside. */
    const readPage = async (
      page: readonly (readonly [id: string, text: string])[],
      read: (id: string, text: string) => Parsed<DocumentOf<Name>>,
    ): Promise<(readonly [string, DocumentOf<Name>])[]> => {
      const documents: (readonly [string, DocumentOf<Name>])[] = [];
      for (const [id, text] of page) {
        const parsed = read(id, text);
        if ("document" in parsed) documents.push([id, parsed.document]);
        else await setAside(collection, id, text, parsed.problem);
      }
      return documents;
    };
    return {
      async get(id) {
        const text = await store.get(collection, id);
        if (text === undefined) return undefined;
        const parsed = parse(id, text);
        if ("document" in parsed) return parsed.document;
        await setAside(collection, id, text, parsed.problem);
        return undefined;
      },
      async *entries() {
        for await (const page of store.pages(collection)) yield* await readPage(page, parse);
      },
      async list() {
        const documents = new Map<string, DocumentOf<Name>>();
        // A page at a time: a promise for each of thousands of documents takes longer than the documents.
        for await (const page of store.pages(collection))
          for (const [id, document] of await readPage(page, parseChanged)) documents.set(id, document);
        listed = new Map(documents);
        return documents;
      },
      put: (id, document) => ({ op: "put", collection, id, text: toText(document) }),
      add: (id, document) => ({ op: "add", collection, id, text: toText(document) }),
      expect: (id, document) => ({
        op: "expect",
        collection,
        id,
        text: document === undefined ? undefined : heldText(document),
      }),
      delete: (id) => ({ op: "delete", collection, id }),
      setAside: (id, document, problem) => setAside(collection, id, heldText(document), problem),
    };
  };

  // TypeScript does not see that each name has a collection of its own documents.
  const collections = Object.fromEntries(
    collectionNames.map((name) => [name, makeCollection(name)]),
  ) as unknown as Collections;
  return { ...collections, commit: store.commit, close: store.close };
}

const VERSION_ID = "state";

/** The version that the state was written with: that of before there were any is the first. */
const versionOf = async ({ version }: Pick<State, "version">): Promise<number> =>
  (await version.get(VERSION_ID))?.version ?? 1;

/**
 * Checks that this bot can read the state, and marks it with the version that this one writes.
 * @throws {StateError} where a newer bot has written it
 */
export async function claimVersion(state: State): Promise<void> {
  const version = await versionOf(state);
  if (version > STATE_VERSION) {
    throw new StateError(
      `The state was written by a newer version of the bot (its format is ${version}, this one reads up to ${STATE_VERSION}): start that version again, or import an export of your own from before the upgrade`,
    );
  }
  if (version < STATE_VERSION)
    await state.commit([state.version.put(VERSION_ID, { version: STATE_VERSION })]);
}
