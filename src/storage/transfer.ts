import * as z from "zod";
import { type State, StateError, type Write } from "./state.js";

/** The lease belongs to the store it is in; everything else moves. */
const LEFT_BEHIND = new Set(["lease"]);
/** How far the watch has come (src/watch/governance.ts). */
const PROGRESS = "progress";
/** Documents written in one step. */
const CHUNK = 2_000;

const exported = z.object({
  crier: z.literal(1),
  collections: z.record(z.string(), z.record(z.string(), z.unknown())),
});

/** The whole state as one JSON value: documents by collection and id. */
export type ExportedState = z.infer<typeof exported>;

/** Reads everything that a state holds. @throws {StateError} */
export async function exportState(state: State): Promise<ExportedState> {
  const collections: ExportedState["collections"] = {};
  for (const name of (await state.collections()).toSorted()) {
    if (!LEFT_BEHIND.has(name)) collections[name] = Object.fromEntries(await state.list(name));
  }
  return { crier: 1, collections };
}

/**
 * Writes an exported state into one that is empty, or in place of what it holds.
 * @returns how many documents were written
 * @throws {StateError} where the text is no export, or the state holds something and may not be replaced
 */
export async function importState(state: State, json: unknown, replace: boolean): Promise<number> {
  const result = exported.safeParse(json);
  if (!result.success)
    throw new StateError("That is no exported state: it wants what `npm run state -- export` wrote");
  const held = (await state.collections()).filter((name) => !LEFT_BEHIND.has(name));
  if (held.length > 0 && !replace)
    throw new StateError("There is a state already. Give --replace to put the imported one in its place");
  const deletes: Write[] = [];
  for (const collection of held) {
    for (const id of (await state.list(collection)).keys()) deletes.push({ op: "delete", collection, id });
  }
  const puts = Object.entries(result.data.collections).flatMap(([collection, documents]) =>
    Object.entries(documents).map(([id, document]): Write => ({ op: "put", collection, id, document })),
  );
  // Cut off between two steps, it leaves a state that tells of no progress: a bot on it begins anew, silently, where
  // progress without the requests would have it announce all that is open again.
  const isProgress = ({ collection }: Write) => collection === PROGRESS;
  const writes = [
    ...deletes.filter(isProgress),
    ...deletes.filter((each) => !isProgress(each)),
    ...puts.filter((each) => !isProgress(each)),
    ...puts.filter(isProgress),
  ];
  for (let at = 0; at < writes.length; at += CHUNK) await state.commit(writes.slice(at, at + CHUNK));
  return puts.length;
}
