import { LRUCache } from "lru-cache";
import type { DocumentOf } from "../storage/catalogue.js";
import type { State } from "../storage/state.js";
import { ageOf } from "../util/clock.js";
import { withTimeout } from "../util/timeouts.js";
import { DAY, MINUTE } from "../util/units.js";

/** Who may have chosen networks: a server, with its channels, or a person for their direct messages. */
export type Place = { readonly guild: string } | { readonly person: string };

/** What was chosen for a place. */
export type Chosen = Pick<DocumentOf<"networkChoices">, "network" | "channels">;

/** Which networks were chosen where nobody names one. */
export interface NetworkChoices {
  /**
   * @param isSure whether nothing else will do than what is written
   * @throws {StateError} where it must be known, and cannot be read
   */
  of(place: Place, isSure: boolean): Promise<Chosen>;
  /** @param network undefined takes the choice back */
  set(
    place: Place | { readonly guild: string; readonly channel: string },
    network: string | undefined,
  ): Promise<void>;
}

/** Nobody waits longer than this for what may as well be taken for unknown, in ms. */
const PATIENCE_MS = 300;
/** What another process may have changed is looked at again after so many ms. */
const FRESH_MS = MINUTE;
/** How often the state is told that a choice is in use, and when one that is not is forgotten, in ms. */
const RENEW_MS = 30 * DAY;
const KEPT_MS = 365 * DAY;

const NONE: Chosen = { channels: {} };

const keyOf = (place: Place): string =>
  "guild" in place ? `guild:${place.guild}` : `person:${place.person}`;

/** The choices that the state holds. */
export function createNetworkChoices(state: State, now = Date.now): NetworkChoices {
  const { networkChoices } = state;
  /** By the steady clock. */
  const held = new LRUCache<string, { readonly chosen: Chosen; readonly readAt: number }>({ max: 10_000 });
  const hold = (key: string, chosen: Chosen): Chosen => {
    held.set(key, { chosen, readAt: performance.now() });
    return chosen;
  };

  const read = async (key: string): Promise<Chosen> => {
    const kept = await networkChoices.get(key);
    if (kept && ageOf(kept.usedAt, now()) > RENEW_MS)
      await state.commit([
        networkChoices.expect(key, kept),
        networkChoices.put(key, { ...kept, usedAt: now() }),
      ]);
    return hold(key, kept ?? NONE);
  };

  return {
    async of(place, isSure) {
      const key = keyOf(place);
      const known = held.get(key);
      if (known && performance.now() - known.readAt < FRESH_MS) return known.chosen;
      if (isSure) return read(key);
      const reading = read(key).catch(() => known?.chosen ?? NONE);
      // What was known a while ago will do meanwhile.
      return known ? known.chosen : withTimeout(reading, PATIENCE_MS, () => NONE);
    },
    async set(place, network) {
      const key = keyOf(place);
      for (;;) {
        const kept = await networkChoices.get(key);
        const { [("channel" in place && place.channel) || ""]: _, ...others } = kept?.channels ?? {};
        const chosen: Chosen =
          "channel" in place
            ? {
                ...(kept?.network === undefined ? {} : { network: kept.network }),
                channels: network === undefined ? others : { ...others, [place.channel]: network },
              }
            : { ...(network === undefined ? {} : { network }), channels: kept?.channels ?? {} };
        const isNothing = chosen.network === undefined && Object.keys(chosen.channels).length === 0;
        const write = isNothing
          ? networkChoices.delete(key)
          : networkChoices.put(key, { ...chosen, usedAt: now() });
        if (await state.commit([networkChoices.expect(key, kept), write])) {
          hold(key, chosen);
          return;
        }
      }
    },
  };
}

/** Forgets what was chosen where nobody has used it for a year. */
export async function forgetOldChoices(state: State, now = Date.now()): Promise<void> {
  for await (const [key, document] of state.networkChoices.entries())
    if (document.usedAt < now - KEPT_MS)
      await state.commit([state.networkChoices.expect(key, document), state.networkChoices.delete(key)]);
}
