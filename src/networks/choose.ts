import type { Interaction } from "discord.js";
import { LRUCache } from "lru-cache";
import { codeOf } from "../config-shapes.js";
import { type Click, networkOf as networkIn } from "../discord/clicks.js";
import { NETWORK_OPTION, NO_NETWORK } from "../discord/command.js";
import type { State } from "../storage/state.js";
import { PersonError } from "../util/person-error.js";
import { withTimeout } from "../util/timeouts.js";
import { MINUTE } from "../util/units.js";
import type { Network, Networks } from "./network.js";

/** Where a network can be chosen for: a server, a channel, or a person's direct messages. */
type Place = { readonly guild: string } | { readonly channel: string } | { readonly person: string };

/** Which networks were chosen where nobody names one. */
export interface NetworkChoices {
  /** The id of the network that was chosen for a place. */
  of(place: Place): Promise<string | undefined>;
  /** @param network undefined takes the choice back */
  set(place: Place, network: string | undefined): Promise<void>;
}

/** Nobody waits longer than this to learn what was chosen, in ms. */
const PATIENCE_MS = 300;
/** What another process may have changed is looked at again after so many ms. */
const FRESH_MS = MINUTE;

const keyOf = (place: Place): string => Object.entries(place).flat().join(":");

/** The choices that the state holds. A state that cannot be read costs nobody an answer: what was last known stands. */
export function createNetworkChoices(state: State): NetworkChoices {
  const held = new LRUCache<string, { readonly network: string | undefined; readonly readAt: number }>({
    max: 10_000,
  });
  const read = async (key: string) => {
    const network = (await state.networkChoices.get(key))?.network;
    held.set(key, { network, readAt: performance.now() });
    return network;
  };
  return {
    async of(place) {
      const key = keyOf(place);
      const known = held.get(key);
      if (known && performance.now() - known.readAt < FRESH_MS) return known.network;
      const reading = read(key).catch(() => known?.network);
      return known ? known.network : withTimeout(reading, PATIENCE_MS, () => undefined);
    },
    async set(place, network) {
      const key = keyOf(place);
      const write =
        network === undefined ? state.networkChoices.delete(key) : state.networkChoices.put(key, { network });
      await state.commit([write]);
      held.set(key, { network, readAt: performance.now() });
    },
  };
}

/** The network that somebody named in a command. */
export function namedNetwork(interaction: Interaction): string | undefined {
  if (!interaction.isChatInputCommand() && !interaction.isAutocomplete()) return undefined;
  const value = interaction.options.get(NETWORK_OPTION)?.value;
  return typeof value === "string" ? value : undefined;
}

const isClick = (interaction: Interaction): interaction is Click =>
  interaction.isButton() || interaction.isStringSelectMenu() || interaction.isModalSubmit();

const NOT_SERVED = "This is of a network that I do not serve any more.";

/** Finds the network that each interaction is about. */
export function createNetworkOf({ served, known }: Networks, choices: NetworkChoices) {
  const [usual] = served;
  const byId = new Map(served.map((network) => [network.id, network]));
  const byCode = new Map(
    served.flatMap((network) => (network.id === undefined ? [] : [[codeOf(network.id), network]])),
  );

  /** The network of a link: what names none is the oldest one's. */
  const ofLink = async (code: string | undefined): Promise<Network> => {
    if (code === undefined && usual.id !== undefined) await known.load();
    const found =
      code !== undefined ? byCode.get(code) : usual.id === undefined ? usual : byId.get(known.oldest());
    if (!found) throw new PersonError(NOT_SERVED);
    return found;
  };

  /** The one that was chosen for where the interaction comes from: for its channel, its server, or the person in private. */
  const chosen = async (interaction: Interaction): Promise<Network | undefined> => {
    const { channelId, guildId, channel, user } = interaction;
    const parent = channel?.isThread() ? channel.parentId : null;
    const places: Place[] = guildId
      ? [...[channelId, parent].flatMap((id) => (id ? [{ channel: id }] : [])), { guild: guildId }]
      : [{ person: user.id }];
    for (const each of await Promise.all(places.map((place) => choices.of(place)))) {
      const found = each === undefined ? undefined : byId.get(each);
      if (found) return found;
    }
    return undefined;
  };

  return async (interaction: Interaction): Promise<Network> => {
    if (isClick(interaction)) return ofLink(networkIn(interaction));
    if (served.length === 1) return usual;
    const named = namedNetwork(interaction);
    if (named === undefined || named === NO_NETWORK) return (await chosen(interaction)) ?? usual;
    const found = byId.get(named);
    if (!found) throw new PersonError(NOT_SERVED);
    // A person's direct messages remember it.
    if (!interaction.guildId && interaction.isChatInputCommand())
      void choices.set({ person: interaction.user.id }, named).catch(() => {});
    return found;
  };
}
