import { LRUCache } from "lru-cache";
import * as z from "zod";
import { type DocumentOf, defineCollection } from "../storage/collection.js";
import { changeDocument, deleteWhere, type State } from "../storage/state.js";
import { timestampSchema } from "../storage/timestamp.js";
import { ageOf } from "../util/clock.js";
import { defined } from "../util/present.js";
import { createSequences } from "../util/single-flight.js";
import { withTimeout } from "../util/timeouts.js";
import { DAY, MINUTE } from "../util/units.js";

/** A place with a default network: a server with its channels, or a person's direct messages. */
export type ChoicePlace = { readonly guild: string } | { readonly person: string };

const keyOf = (place: ChoicePlace): string =>
  "guild" in place ? `guild:${place.guild}` : `person:${place.person}`;

/** Default networks of servers, channels and people. */
export const networkChoices = defineCollection({
  name: "network-choices",
  schema: z.object({
    /** The network of the whole server, or of the person's direct messages. */
    network: z.string().exactOptional(),
    /** Networks by channel id. */
    channels: z.record(z.string(), z.string()),
    usedAt: timestampSchema,
  }),
  lifetime: "until it is taken back, the person is forgotten, or it was not used for a year",
  isShared: true,
  owners: [{ kind: "person", mentions: (userId, id) => id === keyOf({ person: userId }) }],
});

/** The default networks of a place. */
export type NetworkChoice = Pick<DocumentOf<typeof networkChoices>, "network" | "channels">;

export interface NetworkChoices {
  /**
   * Returns the default networks of a place.
   * @param isSure false if a cached or empty answer is acceptable
   * @throws {StateError} if it must be known and cannot be read
   */
  of(place: ChoicePlace, isSure: boolean): Promise<NetworkChoice>;
  /**
   * Sets the default network of a place or a channel.
   * @param network `undefined` removes the default
   */
  set(
    place: ChoicePlace | { readonly guild: string; readonly channel: string },
    network: string | undefined,
  ): Promise<void>;
  /** Waits until a choice that a command has just made is stored, so that it can be deleted. */
  settled(place: ChoicePlace): Promise<void>;
  /** Drops the cached choice of a place whose document was deleted. */
  release(place: ChoicePlace): void;
}

/** Maximum wait for an optional answer, in ms. */
const PATIENCE_MS = 300;
/** Time for which a cached choice is used, in ms. It is short because another process may change the choice. */
const FRESH_MS = MINUTE;
/** Interval at which the use of a choice is recorded, and time after which an unused one is deleted, in ms. */
const RENEW_MS = 30 * DAY;
const KEPT_MS = 365 * DAY;

const NONE: NetworkChoice = { channels: {} };

/** Returns the stored default networks of a server. @throws {StateError} */
export const readServerChoice = async (state: State, guild: string): Promise<NetworkChoice> =>
  (await state.open(networkChoices).get(keyOf({ guild }))) ?? NONE;

/** Creates the default networks, which are stored in the state. */
export function createNetworkChoices(state: State): NetworkChoices {
  const choices = state.open(networkChoices);
  /** Cached choices. `readAt` is in ms of the monotonic clock. */
  const heldChoices = new LRUCache<string, { readonly chosen: NetworkChoice; readonly readAt: number }>({
    max: 10_000,
  });
  const hold = (key: string, chosen: NetworkChoice): NetworkChoice => {
    heldChoices.set(key, { chosen, readAt: performance.now() });
    return chosen;
  };

  const readChoice = async (key: string): Promise<NetworkChoice> => {
    const keptChoice = await choices.get(key);
    if (keptChoice && ageOf(keptChoice.usedAt, Date.now()) > RENEW_MS)
      await state.commit([
        choices.expect(key, keptChoice),
        choices.put(key, { ...keptChoice, usedAt: Date.now() }),
      ]);
    return hold(key, keptChoice ?? NONE);
  };

  const inSequence = createSequences();
  const store = async (place: Parameters<NetworkChoices["set"]>[0], network: string | undefined) => {
    const key = keyOf(place);
    const changing = changeDocument(state, networkChoices, key, (keptChoice) => {
      const { [("channel" in place && place.channel) || ""]: _, ...others } = keptChoice?.channels ?? {};
      const nextChoice: NetworkChoice =
        "channel" in place
          ? {
              ...defined({ network: keptChoice?.network }),
              channels: network === undefined ? others : { ...others, [place.channel]: network },
            }
          : { ...defined({ network }), channels: keptChoice?.channels ?? {} };
      const isNothing = nextChoice.network === undefined && Object.keys(nextChoice.channels).length === 0;
      // The next command may come before the choice is stored.
      hold(key, nextChoice);
      return isNothing ? undefined : { ...nextChoice, usedAt: Date.now() };
    });
    await changing.catch((error: unknown) => {
      heldChoices.delete(key);
      throw error;
    });
  };

  return {
    settled: (place) => inSequence(keyOf(place), async () => {}),
    release: (place) => void heldChoices.delete(keyOf(place)),
    async of(place, isSure) {
      const key = keyOf(place);
      const knownChoice = heldChoices.get(key);
      if (knownChoice && performance.now() - knownChoice.readAt < FRESH_MS) return knownChoice.chosen;
      if (isSure) return readChoice(key);
      const reading = readChoice(key).catch(() => knownChoice?.chosen ?? NONE);
      // Use the previous choice until the new one has been read.
      return knownChoice ? knownChoice.chosen : withTimeout(reading, PATIENCE_MS, () => NONE);
    },
    set: (place, network) => inSequence(keyOf(place), () => store(place, network)),
  };
}

/** Deletes choices that were not used for a year. */
export const forgetOldChoices = (state: State, now = Date.now()): Promise<void> =>
  deleteWhere(state, networkChoices, ({ usedAt }) => usedAt < now - KEPT_MS);
