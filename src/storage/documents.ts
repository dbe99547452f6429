import { hash } from "node:crypto";
import { yieldIfBusy } from "../util/event-loop.js";
import type { CollectionDefinition } from "./collection.js";
import type { Store } from "./store.js";

/** The documents of one collection, parsed by its schema. */
export interface Documents<T> {
  get(id: string): Promise<T | undefined>;
  /**
   * Returns all documents by id. They stay in memory, and are parsed again only if their text has changed. If nothing has
   * changed, and no other process writes, it returns the same map. Use `entries` for a collection that is very large or read
   * only once. Documents that are not `isListed` are left out.
   */
  list(): Promise<ReadonlyMap<string, T>>;
  /**
   * Iterates over the documents without loading all of them into memory. A concurrent write may or may not be included, and a
   * document may come twice (Redis: HSCAN).
   * @param mentioned ids of Discord. Only documents that contain one of them, in their id or their text, are parsed and returned
   */
  entries(mentioned?: readonly string[]): AsyncIterable<readonly [id: string, document: T]>;
  /** Returns the documents whose ids begin with a text, such as a server's. What it reads does not grow with the other documents. */
  startingWith(start: string): Promise<ReadonlyMap<string, T>>;
}

/** Keys keep their order, so equal documents have equal text. */
export const toText = (document: unknown): string => JSON.stringify(document);

/**
 * A parsed document's original text, for expectations: an upgrade or a default would change the text. Copies do not have it. It is a
 * property, because a WeakMap of a hundred thousand documents blocks for a tenth of a second when it grows.
 */
const SOURCE = Symbol("source");

function sourceOf(document: unknown): string | undefined {
  const text: unknown =
    typeof document === "object" && document !== null ? Reflect.get(document, SOURCE) : undefined;
  return typeof text === "string" ? text : undefined;
}

/** Returns the text of a document: the stored one, unless it is a copy. */
export const textOf = (document: unknown): string => sourceOf(document) ?? toText(document);

type DocumentPage = readonly (readonly [id: string, text: string])[];

/** A document, or the problem with its text. */
type Parsed<T> = { readonly document: T } | { readonly problem: string };

/** Parses a document by its schema, after converting one of an earlier version. It remembers its text. */
function parseDocument<T>({ schema, upgrade }: CollectionDefinition<T>, id: string, text: string): Parsed<T> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { problem: "it is not JSON" };
  }
  const fields = typeof json === "object" && json !== null && !Array.isArray(json) ? { ...json } : undefined;
  const result = schema.safeParse(fields && upgrade ? upgrade(id, fields) : json);
  if (!result.success) {
    const [issue] = result.error.issues;
    return { problem: `${issue?.path.join(".") || "it"}: ${issue?.message}` };
  }
  if (typeof result.data === "object" && result.data !== null)
    Reflect.defineProperty(result.data, SOURCE, { value: text, configurable: true });
  // The definition derives T from the schema (defineCollection).
  return { document: result.data as T };
}

const digestOf = (id: string, text: string): string => hash("sha1", `${id}\n${text}`, "base64");

interface DocumentsOptions {
  /** Returns the collection's name in the store. */
  readonly storedName: () => Promise<string>;
  /** Moves an unreadable document away. */
  readonly setAside: (id: string, text: string, problem: string) => Promise<void>;
}

/** Creates the reading of a collection's documents. */
export function createDocuments<T>(
  store: Store,
  definition: CollectionDefinition<T>,
  { storedName, setAside }: DocumentsOptions,
): Documents<T> {
  const parse = (id: string, text: string) => parseDocument(definition, id, text);
  const { isListed } = definition;
  /** Digests of the documents that the last complete read left out. They are not parsed again. */
  let leftOut: ReadonlySet<string> = new Set();
  /** Result of the last `list`. */
  let listedDocuments: ReadonlyMap<string, T> = new Map();
  /** Number of the store's changes that it includes, `undefined` before the first `list`. */
  let listedUpTo: number | undefined;
  const parseChanged = (id: string, text: string): Parsed<T> => {
    const knownDocument = listedDocuments.get(id);
    return knownDocument !== undefined && sourceOf(knownDocument) === text
      ? { document: knownDocument }
      : parse(id, text);
  };
  /** Returns the documents of a page. Unreadable ones are set aside. */
  const readPage = async (
    page: DocumentPage,
    read: (id: string, text: string) => Parsed<T>,
  ): Promise<(readonly [string, T])[]> => {
    const documents: (readonly [string, T])[] = [];
    const unreadable: Promise<void>[] = [];
    for (const [id, text] of page) {
      const parsedDocument = read(id, text);
      if ("document" in parsedDocument) documents.push([id, parsedDocument.document]);
      else unreadable.push(setAside(id, text, parsedDocument.problem));
    }
    await Promise.all(unreadable);
    return documents;
  };
  /** Reads all documents that are listed. */
  const readAll = async (name: string): Promise<ReadonlyMap<string, T>> => {
    const documents = new Map<string, T>();
    const stillLeftOut = new Set<string>();
    const isUnknown = ([id, text]: DocumentPage[number]): boolean => {
      const digest = digestOf(id, text);
      if (leftOut.has(digest)) stillLeftOut.add(digest);
      return !stillLeftOut.has(digest);
    };
    // Read page by page, because a promise for each of thousands of documents would take longer than reading them.
    for await (const page of store.pages(name)) {
      const unknown = leftOut.size > 0 ? page.filter(isUnknown) : page;
      for (const [id, document] of await readPage(unknown, parseChanged))
        if (isListed?.(document) !== false) documents.set(id, document);
        // With a log of changes, everything is hardly ever read again.
        else if (!store.changes) stillLeftOut.add(digestOf(id, textOf(document)));
    }
    leftOut = stillLeftOut;
    return documents;
  };
  /** Reads the changed documents, and returns them with the other ones that are listed. */
  const readChanged = async (name: string, ids: ReadonlySet<string>): Promise<ReadonlyMap<string, T>> => {
    const documents = new Map(listedDocuments);
    let isSorted = true;
    for (const id of ids) {
      await yieldIfBusy();
      const text = await store.get(name, id);
      const [parsed] = text === undefined ? [] : await readPage([[id, text]], parseChanged);
      if (!parsed) documents.delete(id);
      else {
        isSorted &&= documents.has(id);
        documents.set(...parsed);
      }
    }
    // Sort like a complete read, so that lists look the same after a restart.
    return isSorted ? documents : new Map([...documents].sort(([a], [b]) => (a < b ? -1 : 1)));
  };
  return {
    async get(id) {
      const text = await store.get(await storedName(), id);
      if (text === undefined) return undefined;
      await yieldIfBusy();
      const parsedDocument = parseChanged(id, text);
      if ("document" in parsedDocument) return parsedDocument.document;
      await setAside(id, text, parsedDocument.problem);
      return undefined;
    },
    async *entries(mentioned) {
      const isWanted = ([id, text]: DocumentPage[number]) =>
        !mentioned || mentioned.some((each) => id.includes(each) || text.includes(each));
      for await (const page of store.pages(await storedName())) {
        await yieldIfBusy();
        yield* await readPage(page.filter(isWanted), parse);
      }
    },
    async list() {
      const name = await storedName();
      await yieldIfBusy();
      const upTo = store.changes?.now();
      const changedIds = listedUpTo === undefined ? undefined : store.changes?.since(name, listedUpTo);
      if (!changedIds) listedDocuments = await readAll(name);
      else if (changedIds.size > 0) listedDocuments = await readChanged(name, changedIds);
      listedUpTo = upTo;
      // Some documents may be over only now.
      if (isListed && [...listedDocuments.values()].some((each) => !isListed(each)))
        listedDocuments = new Map([...listedDocuments].filter(([, each]) => isListed(each)));
      return listedDocuments;
    },
    async startingWith(start) {
      const documents = new Map<string, T>();
      for await (const page of store.pages(await storedName(), start))
        for (const [id, document] of await readPage(page, parseChanged)) documents.set(id, document);
      return documents;
    },
  };
}
