import { lazy } from "../util/single-flight.js";
import { isShared } from "./catalogue.js";
import type { State } from "./state.js";
import type { Store } from "./store.js";

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
  ids: readonly string[],
  keeps = true,
): KnownNetworks {
  let oldest: string | undefined;
  const load = lazy(async () => {
    for (;;) {
      const held = await state.networks.get(DOCUMENT);
      const all = [...new Set([...(held?.all ?? []), ...ids])];
      const first = held?.oldest ?? ids[0];
      if (first === undefined) return all;
      const isNew = keeps && all.length > (held?.all.length ?? 0);
      const next = { oldest: first, all };
      if (
        !isNew ||
        (await state.commit([state.networks.expect(DOCUMENT, held), state.networks.put(DOCUMENT, next)]))
      ) {
        oldest = first;
        return all;
      }
    }
  });
  return { oldest: () => oldest, load };
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
