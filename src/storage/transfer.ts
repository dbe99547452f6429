import * as z from "zod";
import type { CollectionDefinition } from "./collection.js";
import { leases } from "./lease.js";
import { readAll, StateError, type Store, type Write } from "./store.js";

/** Collections that belong to the store that they are in. Exports leave them out. */
const localNames = new Set([leases.name]);
/** A collection's name without that of the network it is of. */
const withoutNetwork = (name: string): string => name.replace(/^[^:]*:/, "");
/** Documents written in one step. */
const CHUNK = 2_000;

const exported = z.object({
  crier: z.literal(1),
  collections: z.record(z.string(), z.record(z.string(), z.unknown())),
});

/** The whole state as one JSON value: documents by collection and id. */
export type ExportedState = z.infer<typeof exported>;

/** Reads everything that a store holds. @throws {StateError} */
export async function exportState(store: Store): Promise<ExportedState> {
  const collections: ExportedState["collections"] = {};
  for (const name of (await store.collections()).toSorted()) {
    if (localNames.has(name)) continue;
    const documents = [...(await readAll(store, name))].map(([id, text]) => [id, parseText(text)] as const);
    collections[name] = Object.fromEntries(documents);
  }
  return { crier: 1, collections };
}

/** A document that is no JSON leaves as its text: what reads it will keep it aside. */
function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/**
 * Writes an exported state into a store that is empty, or in place of what it holds.
 * @param last the collection that is written last. An import that was cut off then leaves a state without progress, on which a
 * bot starts silently. With progress but without the rest, it would announce every open request again.
 * @returns how many documents were written
 * @throws {StateError} if the text is no export, or the store holds something and may not be replaced
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
