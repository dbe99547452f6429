import { codeOf } from "../config-shapes.js";
import { lazy } from "../util/single-flight.js";
import { isShared } from "./catalogue.js";
import type { State } from "./state.js";
import { StateError, type Store } from "./store.js";

/** The networks that a state has been used for, as NETWORKS names them. */
export interface KnownNetworks {
  /**
   * The one that came first when NETWORKS was first set: what has no network's name belongs to it. Undefined where the bot has
   * one network without a name, and until the state has been read.
   */
  oldest(): string | undefined;
  /** All of them, those too that are no longer among the settings; read once. @throws {StateError} */
  load(): Promise<readonly string[]>;
}

const DOCUMENT = "known";

/**
 * Remembers the networks of these settings beside those of earlier ones.
 * @param ids none where there is one network without a name
 * @param keeps whether the state is told of new ones: not by who only looks
 */
export function createKnownNetworks(
  state: Pick<State, "networks" | "commit">,
  store: Pick<Store, "collections">,
  ids: readonly string[],
  keeps = true,
): KnownNetworks {
  let oldest: string | undefined;
  const load = lazy(async () => {
    for (;;) {
      const held = (await state.networks.get(DOCUMENT)) ?? (await infer(store, ids));
      const all = [...new Set([...(held?.all ?? []), ...ids])];
      const first = held?.oldest ?? ids[0];
      if (first === undefined) return all;
      checkCodes(all, ids);
      const known = await state.networks.get(DOCUMENT);
      const next = { oldest: first, all };
      const isNew = keeps && (known === undefined || all.length > known.all.length);
      const writes = [state.networks.expect(DOCUMENT, known), state.networks.put(DOCUMENT, next)];
      if (!isNew || (await state.commit(writes))) {
        oldest = first;
        return all;
      }
    }
  });
  return { oldest: () => oldest, load };
}

/**
 * What the collections tell of networks where the document is missing that says it: those with a name before theirs are not the
 * oldest one's. Undefined where there are none.
 */
async function infer(store: Pick<Store, "collections">, ids: readonly string[]) {
  // One network without a name has what has no name.
  if (ids.length === 0) return undefined;
  const named = new Set(
    (await store.collections()).flatMap((name) => (name.includes(":") ? [name.replace(/:.*/s, "")] : [])),
  );
  if (named.size === 0) return undefined;
  const oldest = ids.find((id) => !named.has(id));
  if (oldest === undefined)
    throw new StateError(
      `The state does not say which network came first, and it is none of those in NETWORKS: name it there as well (${[...named].join(", ")} came later)`,
    );
  return { oldest, all: [oldest, ...named] };
}

/** @throws {StateError} where a network of the settings could not be told in a button from one that they named before */
function checkCodes(all: readonly string[], ids: readonly string[]): void {
  for (const id of ids) {
    const other = all.find((each) => each !== id && codeOf(each) === codeOf(id));
    if (other !== undefined)
      throw new StateError(
        `NETWORKS: ${id} begins with the same two characters as ${other}, which it named before and whose buttons are still there: give it another name`,
      );
  }
}

/**
 * One network's part of a store: its collections have its name before theirs, and the oldest one's have none. What belongs to
 * the bot as a whole is the same in all of them.
 */
export function storeOf(store: Store, id: string | undefined, known: KnownNetworks): Store {
  const nameOf = async (collection: string): Promise<string> => {
    if (id === undefined || isShared(collection)) return collection;
    await known.load();
    return known.oldest() === id ? collection : `${id}:${collection}`;
  };
  return {
    get: async (collection, key) => store.get(await nameOf(collection), key),
    async *pages(collection) {
      yield* store.pages(await nameOf(collection));
    },
    collections: () => store.collections(),
    commit: async (writes) =>
      store.commit(
        await Promise.all(
          writes.map(async (write) => ({ ...write, collection: await nameOf(write.collection) })),
        ),
      ),
    close: () => store.close(),
  };
}
