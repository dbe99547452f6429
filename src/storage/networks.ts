import * as z from "zod";
import { codeOf } from "../config-shapes.js";
import { lazy } from "../util/single-flight.js";
import { defineCollection } from "./collection.js";
import type { State } from "./state.js";
import { ConflictError, type Store } from "./store.js";

/** Document with the networks that the state has been used for. */
export const networkNames = defineCollection({
  name: "networks",
  schema: z.object({ oldest: z.string(), all: z.array(z.string()) }),
  lifetime: "forever: the networks that NETWORKS has named",
  isShared: true,
});

/** The networks that a state has been used for, by their names in NETWORKS. */
export interface KnownNetworks {
  /**
   * Returns the network that came first when NETWORKS was first set. Collections without a network prefix belong to it.
   * `undefined` if the bot has one network without a name, or the state has not been read yet.
   */
  oldest(): string | undefined;
  /** Returns all networks, including those that are no longer in the settings. They are read once. @throws {StateError} */
  load(): Promise<readonly string[]>;
}

/**
 * Returns the known networks that the settings don't name. Their subscriptions are on hold. Empty if there is one network without a
 * name.
 * @param ids the networks in the settings
 */
export const unservedNetworks = (known: readonly string[], ids: readonly string[]): readonly string[] =>
  ids.length === 0 ? [] : known.filter((id) => !ids.includes(id));

const DOCUMENT = "known";

/**
 * Adds the networks of these settings to the known ones.
 * @param ids empty if there is one network without a name
 * @param keeps true if new networks are stored in the state, false for read-only use
 */
export function createKnownNetworks(
  state: Pick<State, "open" | "commit">,
  store: Pick<Store, "collections">,
  ids: readonly string[],
  keeps = true,
): KnownNetworks {
  const collection = state.open(networkNames);
  let oldestId: string | undefined;
  const loadNetworks = lazy(async () => {
    for (;;) {
      const knownDocument = await collection.get(DOCUMENT);
      const heldNetworks = knownDocument ?? (await infer(store, ids));
      const allIds = [...new Set([...(heldNetworks?.all ?? []), ...ids])];
      const firstId = heldNetworks?.oldest ?? ids[0];
      if (firstId === undefined) return allIds;
      checkNamed(allIds, ids);
      checkCodes(allIds, ids);
      const nextDocument = { oldest: firstId, all: allIds };
      const isNew = keeps && (knownDocument === undefined || allIds.length > knownDocument.all.length);
      const writes = [collection.expect(DOCUMENT, knownDocument), collection.put(DOCUMENT, nextDocument)];
      if (!isNew || (await state.commit(writes))) {
        oldestId = firstId;
        return allIds;
      }
    }
  });
  return { oldest: () => oldestId, load: loadNetworks };
}

/**
 * Derives the known networks from the names of the collections if the document is missing. Networks with prefixed collections are
 * not the oldest. Returns `undefined` if no collection has a prefix.
 */
async function infer(store: Pick<Store, "collections">, ids: readonly string[]) {
  // A single network without a name uses the collections without a prefix.
  if (ids.length === 0) return undefined;
  const namedNetworks = new Set(
    (await store.collections()).flatMap((name) => (name.includes(":") ? [name.replace(/:.*/s, "")] : [])),
  );
  if (namedNetworks.size === 0) return undefined;
  const oldestNetwork = ids.find((id) => !namedNetworks.has(id));
  if (oldestNetwork === undefined)
    throw new ConflictError(
      `The state does not say which network came first, and it is none of those in NETWORKS. Add it to NETWORKS (${[...namedNetworks].join(", ")} came later)`,
    );
  return { oldest: oldestNetwork, all: [oldestNetwork, ...namedNetworks] };
}

/**
 * Checks that a state of several networks is used with names. Without them, the explorer in the settings would fill the oldest network,
 * even if it is that of another one.
 * @throws {ConflictError} if the settings name no network, and the state has several
 */
function checkNamed(all: readonly string[], ids: readonly string[]): void {
  if (ids.length === 0 && all.length > 1)
    throw new ConflictError(
      `NETWORKS is missing. The state has the data of several networks (${all.join(", ")}). Set it to those that the bot serves, even if it is only one`,
    );
}

/**
 * Checks that buttons can distinguish the networks.
 * @throws {ConflictError} if a network in the settings has the same code as one from earlier settings
 */
function checkCodes(all: readonly string[], ids: readonly string[]): void {
  for (const id of ids) {
    const otherId = all.find((each) => each !== id && codeOf(each) === codeOf(id));
    if (otherId !== undefined)
      throw new ConflictError(
        `NETWORKS: ${id} and ${otherId} begin with the same two characters, and old buttons still use ${otherId}. Give ${id} another name`,
      );
  }
}

/**
 * Returns a function that returns the prefix of a network's own collections: its name, or an empty string for the oldest network.
 * The answer is read once.
 * @param id the network's name in NETWORKS, or `undefined` if the bot has one network without a name
 */
export const prefixOf = (id: string | undefined, known: KnownNetworks): (() => Promise<string>) =>
  id === undefined
    ? async () => ""
    : lazy(async () => {
        await known.load();
        return known.oldest() === id ? "" : `${id}:`;
      });
