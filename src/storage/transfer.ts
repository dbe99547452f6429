import * as z from "zod";
import { leases } from "./lease.js";
import { checkExportedVersion } from "./state.js";
import { type ReplaceableStore, readAll, StateError, type Store } from "./store.js";

/** Collections that make sense only in their own store. Exports leave them out. */
const localNames: ReadonlySet<string> = new Set([leases.name]);

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

/** Returns a value as an exported state. @throws {StateError} if it is none, or if a newer bot has written it */
export function readExported(json: unknown): ExportedState {
  const result = exported.safeParse(json);
  if (!result.success)
    throw new StateError("That isn't an exported state. Use a file written by `npm run state -- export`");
  checkExportedVersion(result.data.collections);
  return result.data;
}

/**
 * Imports an exported state into an empty store, or replaces the store's documents. It is all or nothing.
 * @returns the number of documents written
 * @throws {StateError} if the JSON is not an exported state, if a newer bot has written it, if the store is not empty and must not
 * be replaced, or if the store fails
 */
export async function importState(store: ReplaceableStore, json: unknown, replace: boolean): Promise<number> {
  const { collections } = readExported(json);
  const heldCollections = (await store.collections()).filter((name) => !localNames.has(name));
  if (heldCollections.length > 0 && !replace)
    throw new StateError("There's already a state. Add --replace to overwrite it with the imported one");
  const imported = Object.entries(collections).filter(([name]) => !localNames.has(name));
  const documents = imported.flatMap(([collection, byId]) =>
    Object.entries(byId).map(([id, document]) => ({ collection, id, text: JSON.stringify(document) })),
  );
  if (documents.length === 0)
    throw new StateError("That state is empty. Importing it would only delete documents");
  await store.replaceAll(documents, localNames);
  return documents.length;
}
