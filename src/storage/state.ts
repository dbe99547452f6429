import * as z from "zod";
import type { Log } from "../log.js";
import { defined } from "../util/present.js";
import { type CollectionDefinition, defineCollection } from "./collection.js";
import { createDocuments, type Documents, textOf, toText } from "./documents.js";
import { StateError, type Store, type Write } from "./store.js";
import { timestampSchema } from "./timestamp.js";

/** One collection: its documents, and the writes that change them. */
export interface Collection<T> extends Documents<T> {
  put(id: string, document: T): Write;
  add(id: string, document: T): Write;
  /** Expects that the document is exactly as it was read or written, or that it is missing if `undefined` is given. */
  expect(id: string, document: T | undefined): Write;
  delete(id: string): Write;
  /** Returns the number of this process's commits with a write to the collection, so that a copy can be used while it is current. */
  commits(): number;
  /** True if a document could not be read and is in "unreadable". It is missing, but what it was about is not new. */
  wasSetAside(id: string): Promise<boolean>;
  /** Moves a document that matches its schema but cannot be used to "unreadable". */
  setAside(id: string, document: T, problem: string): Promise<void>;
}

/** The durable state. Writes that belong together are one commit. */
export interface State {
  /** Returns a collection. The same definition always returns the same object, whose `list` caches parsed documents. */
  open<T>(definition: CollectionDefinition<T>): Collection<T>;
  /** Applies all writes or none; returns false if an expectation did not hold. @throws {StateError} */
  commit(writes: readonly Write[]): Promise<boolean>;
  close(): Promise<void>;
}

/** Version of the stored documents. Increase it if a document changes in a way that an older bot would misread. */
export const STATE_VERSION = 2;

const versionSchema = z.object({ version: z.number() });

/** Version of the format that the state was written in. */
export const stateVersion = defineCollection({
  name: "version",
  schema: versionSchema,
  lifetime: "forever",
  isShared: true,
});

/** Documents that could not be used, with their text. */
export const unreadableDocuments = defineCollection({
  name: "unreadable",
  schema: z.object({
    collection: z.string(),
    id: z.string(),
    text: z.string(),
    problem: z.string(),
    at: timestampSchema,
  }),
  owners: [
    { kind: "person", mentions: (userId, id, { text }) => id.includes(userId) || text.includes(userId) },
  ],
  lifetime: "until an operator deletes it, or a person in it is forgotten",
});

interface StateOptions {
  readonly log: Pick<Log, "error">;
  /** False for a reader that must not change the state. Unreadable documents are then left in place. */
  readonly keepAside?: boolean;
  /** Returns the prefix of a network's own collections (networks.ts). By default there is none. */
  readonly prefix?: () => Promise<string>;
}

/** Matches ids of documents about a person. */
const PERSON_ID = /^(?:person:)?\d+$/;

/**
 * Creates the state over a store. A document that is not JSON or does not match its schema affects no other document. It is
 * logged once, moved to "unreadable" with its text, and treated as missing. Every commit depends on the state's version, because a
 * newer bot may begin to use the state in Redis at any time.
 */
export function createState(
  store: Store,
  { log, keepAside = true, prefix = async () => "" }: StateOptions,
): State {
  /** Names of unreadable documents that stay where they are. */
  const staying = new Set<string>();
  /** Names with the messages that were logged about them. */
  const reported = new Set<string>();
  /** Number of commits with a write, by collection. */
  const commitCounts = new Map<string, number>();

  /** Text of the state's version when it was last read. */
  let versionText: { readonly text: string | undefined } | undefined;
  const readVersionText = async () => ({ text: await store.get(stateVersion.name, VERSION_ID) });

  const setAside = async <T>(
    { name: collection, owners = [] }: CollectionDefinition<T>,
    id: string,
    text: string,
    problem: string,
  ) => {
    const name = `${collection}/${id}`;
    // Logs contain no user ids.
    const isPerson = owners.some(({ kind }) => kind === "person") && PERSON_ID.test(id);
    const shownId = isPerson ? {} : { id };
    const report = (message: string, err?: unknown) => {
      const key = `${name} ${message}`;
      if (!reported.has(key)) log.error({ collection, ...shownId, problem, ...defined({ err }) }, message);
      reported.add(key);
    };
    if (staying.has(name)) return;
    try {
      // Documents of a newer bot are left in place.
      if (!keepAside || versionIn((await readVersionText()).text) > STATE_VERSION) {
        staying.add(name);
        return report("A document of the state cannot be read; it stays where it is");
      }
      const document = { collection, id, text, problem, at: Date.now() };
      const isMoved = await state.commit([
        { op: "expect", collection, id, text },
        state.open(unreadableDocuments).put(name, document),
        { op: "delete", collection, id },
      ]);
      if (isMoved) report("A document of the state cannot be read; it was set aside");
    } catch (err) {
      report("An unreadable document could not be set aside", err);
    }
  };
  /** Commits to a state of a version that this bot can read. @throws {StateError} */
  const commitToVersion = async (writes: readonly Write[]): Promise<boolean> => {
    for (;;) {
      versionText ??= await readVersionText();
      const { text } = versionText;
      checkReadable(versionIn(text));
      const expected = { op: "expect", collection: stateVersion.name, id: VERSION_ID, text } as const;
      if (await store.commit([expected, ...writes])) {
        if (writes.some(({ collection }) => collection === stateVersion.name)) versionText = undefined;
        return true;
      }
      versionText = await readVersionText();
      if (versionText.text === text) return false;
    }
  };

  const makeCollection = <T>(definition: CollectionDefinition<T>): Collection<T> => {
    const { name: collection } = definition;
    const storedName = async () => (definition.isShared ? collection : `${await prefix()}${collection}`);
    const setOneAside = (id: string, text: string, problem: string) =>
      setAside(definition, id, text, problem);
    return {
      ...createDocuments(store, definition, { storedName, setAside: setOneAside }),
      put: (id, document) => ({ op: "put", collection, id, text: toText(document) }),
      add: (id, document) => ({ op: "add", collection, id, text: toText(document) }),
      expect: (id, document) => ({
        op: "expect",
        collection,
        id,
        text: document === undefined ? undefined : textOf(document),
      }),
      delete: (id) => ({ op: "delete", collection, id }),
      commits: () => commitCounts.get(collection) ?? 0,
      wasSetAside: async (id) =>
        (await state.open(unreadableDocuments).get(`${collection}/${id}`)) !== undefined,
      setAside: (id, document, problem) => setOneAside(id, textOf(document), problem),
    };
  };

  const openedCollections = new Map<CollectionDefinition, Collection<unknown>>();
  const sharedNames = new Set<string>();
  const state: State = {
    open<T>(definition: CollectionDefinition<T>) {
      const collection = openedCollections.get(definition) ?? makeCollection(definition);
      openedCollections.set(definition, collection);
      if (definition.isShared) sharedNames.add(definition.name);
      // Each definition has its own collection, so the types match.
      return collection as Collection<T>;
    },
    async commit(writes) {
      const ownPrefix = await prefix();
      const named = (write: Write): Write =>
        sharedNames.has(write.collection) ? write : { ...write, collection: ownPrefix + write.collection };
      try {
        return await commitToVersion(ownPrefix === "" ? writes : writes.map(named));
      } finally {
        // Also after an error, because the writes may have been made in spite of it.
        const changed = new Set(
          writes.flatMap(({ op, collection }) => (op === "expect" ? [] : [collection])),
        );
        for (const each of changed) commitCounts.set(each, (commitCounts.get(each) ?? 0) + 1);
      }
    },
    close: store.close,
  };
  return state;
}

/**
 * Changes a document, again if another commit changes it meanwhile.
 * @param change returns the new document, the same one if it stays, or `undefined` to delete it
 * @returns the document that is stored now
 * @throws {StateError}
 */
export async function changeDocument<T, Next extends T | undefined>(
  state: Pick<State, "open" | "commit">,
  definition: CollectionDefinition<T>,
  id: string,
  change: (document: T | undefined) => Next,
): Promise<Next> {
  const collection = state.open(definition);
  for (;;) {
    const before = await collection.get(id);
    const next = change(before);
    if (next === before) return next;
    const write = next === undefined ? collection.delete(id) : collection.put(id, next);
    if (await state.commit([collection.expect(id, before), write])) return next;
  }
}

/** Deletes the documents that a test selects, unless they have changed since they were read. @throws {StateError} */
export async function deleteWhere<T>(
  state: Pick<State, "open" | "commit">,
  definition: CollectionDefinition<T>,
  isOld: (document: T) => boolean,
): Promise<void> {
  const collection = state.open(definition);
  for await (const [id, document] of collection.entries())
    if (isOld(document)) await state.commit([collection.expect(id, document), collection.delete(id)]);
}

/** Returns the collections of documents that were set aside, one for each document. @param most maximum number of documents */
export async function setAsideCollections(
  state: Pick<State, "open">,
  most = Number.POSITIVE_INFINITY,
): Promise<readonly string[]> {
  const collections: string[] = [];
  for await (const [, { collection }] of state.open(unreadableDocuments).entries()) {
    collections.push(collection);
    if (collections.length === most) break;
  }
  return collections;
}

const VERSION_ID = "state";

/** Returns the version in a document's text. A state without a readable one has the first. */
function versionIn(text: string | undefined): number {
  try {
    return versionSchema.parse(JSON.parse(text ?? "")).version;
  } catch {
    return 1;
  }
}

/** Checks that this bot can read the state. Returns the state's version. @throws {StateError} if a newer bot has written it */
export async function checkVersion(state: Pick<State, "open">): Promise<number> {
  // A state without a version has the first one.
  const { version = 1 } = (await state.open(stateVersion).get(VERSION_ID)) ?? {};
  checkReadable(version);
  return version;
}

/** Checks that this bot can read an exported state. @throws {StateError} if a newer bot has written it */
export function checkExportedVersion(collections: Readonly<Record<string, Record<string, unknown>>>): void {
  const stored = versionSchema.safeParse(collections[stateVersion.name]?.[VERSION_ID]);
  if (stored.success) checkReadable(stored.data.version);
}

function checkReadable(version: number): void {
  if (version > STATE_VERSION) {
    throw new StateError(
      `The state was written by a newer version of the bot (its format is ${version}, this one reads up to ${STATE_VERSION}): start that version again, or import an export of your own from before the upgrade`,
    );
  }
}

/**
 * Checks that this bot can read the state, and updates the state's version to the current one.
 * @throws {StateError} if a newer bot has written it
 */
export async function claimVersion(state: State): Promise<void> {
  if ((await checkVersion(state)) < STATE_VERSION)
    await state.commit([state.open(stateVersion).put(VERSION_ID, { version: STATE_VERSION })]);
}
