import * as z from "zod";
import { collectionNames, definitionOf } from "./catalogue.js";
import { readAll, StateError, type Store, type Write } from "./store.js";

const all = collectionNames.map(definitionOf);
const stays = new Set(all.filter((each) => each.stays).map(({ name }) => name));
const last = new Set(all.filter((each) => each.last).map(({ name }) => name));
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
    if (stays.has(name)) continue;
    const documents = [...(await readAll(store, name))].map(([id, text]) => [id, parsed(text)] as const);
    collections[name] = Object.fromEntries(documents);
  }
  return { crier: 1, collections };
}

/** A document that is no JSON leaves as its text: what reads it will keep it aside. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/**
 * Writes an exported state into a store that is empty, or in place of what it holds.
 * @returns how many documents were written
 * @throws {StateError} where the text is no export, or the store holds something and may not be replaced
 */
export async function importState(store: Store, json: unknown, replace: boolean): Promise<number> {
  const result = exported.safeParse(json);
  if (!result.success)
    throw new StateError("That is no exported state: it wants what `npm run state -- export` wrote");
  const held = (await store.collections()).filter((name) => !stays.has(name));
  if (held.length > 0 && !replace)
    throw new StateError("There is a state already. Give --replace to put the imported one in its place");
  const deletes: Write[] = [];
  for (const collection of held) {
    for (const id of (await readAll(store, collection)).keys())
      deletes.push({ op: "delete", collection, id });
  }
  const puts = Object.entries(result.data.collections).flatMap(([collection, documents]) =>
    Object.entries(documents).map(
      ([id, document]): Write => ({ op: "put", collection, id, text: JSON.stringify(document) }),
    ),
  );
  const isLast = ({ collection }: Write) => last.has(withoutNetwork(collection));
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
