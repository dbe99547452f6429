import * as z from "zod";
import type { CollectionDefinition } from "./collection.js";
import { leases } from "./lease.js";
import { readAll, StateError, type Store, type Write } from "./store.js";

/** Collections that make sense only in their own store. Exports leave them out. */
const localNames = new Set([leases.name]);
/** Returns a collection's name without the prefix of its network. */
const withoutNetwork = (name: string): string => name.replace(/^[^:]*:/, "");
/** Number of documents per commit. */
const CHUNK = 2_000;

const exported = z.object({
  crier: z.literal(1),
  collections: z.record(z.string(), z.record(z.string(), z.unknown())),
});

/** The whole state as one JSON value: documents by collection and id. */
export type ExportedState = z.infer<typeof exported>;

/** Exports all documents of a store. @throws {StateError} */
export async function exportState(store: Store): Promise<ExportedState> {
  const collections: ExportedState["collections"] = {};
  for (const name of (await store.collections()).toSorted()) {
    if (localNames.has(name)) continue;
    const documents = [...(await readAll(store, name))].map(([id, text]) => [id, parseText(text)] as const);
    collections[name] = Object.fromEntries(documents);
  }
  return { crier: 1, collections };
}

/** Exports a document that is not valid JSON as text. After an import, its reader sets it aside. */
function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/**
 * Imports an exported state into an empty store, or replaces the store's documents.
 * @param last the collection that is deleted first and written last. An interrupted import then leaves a state without progress,
 * with which a bot starts silently. With progress but without the rest, a bot would announce every open request again.
 * @returns the number of documents written
 * @throws {StateError} if the JSON is not an exported state, or if the store is not empty and must not be replaced
 */
export async function importState(
  store: Store,
  json: unknown,
  replace: boolean,
  { name: lastName }: Pick<CollectionDefinition, "name">,
): Promise<number> {
  const result = exported.safeParse(json);
  if (!result.success)
    throw new StateError("That is no exported state: it wants what `npm run state -- export` wrote");
  const heldCollections = (await store.collections()).filter((name) => !localNames.has(name));
  if (heldCollections.length > 0 && !replace)
    throw new StateError("There is a state already. Give --replace to put the imported one in its place");
  const deletes: Write[] = [];
  for (const collection of heldCollections) {
    for (const id of (await readAll(store, collection)).keys())
      deletes.push({ op: "delete", collection, id });
  }
  const puts = Object.entries(result.data.collections).flatMap(([collection, documents]) =>
    Object.entries(documents).map(
      ([id, document]): Write => ({ op: "put", collection, id, text: JSON.stringify(document) }),
    ),
  );
  const isLast = ({ collection }: Write) => withoutNetwork(collection) === lastName;
  const writes = [
    ...deletes.filter(isLast),
    ...deletes.filter((each) => !isLast(each)),
    ...puts.filter((each) => !isLast(each)),
    ...puts.filter(isLast),
  ];
  for (let from = 0; from < writes.length; from += CHUNK)
    await store.commit(writes.slice(from, from + CHUNK));
  return puts.length;
}
