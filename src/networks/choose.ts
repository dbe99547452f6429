import type { Interaction, REST } from "discord.js";
import { LRUCache } from "lru-cache";
import { codeOf } from "../config-shapes.js";
import { type Click, readClick } from "../discord/clicks.js";
import { NETWORK_OPTION, NO_NETWORK } from "../discord/command.js";
import { placesOf } from "../discord/places.js";
import { problemOf } from "../discord/problems.js";
import { PersonError } from "../util/person-error.js";
import type { ChoicePlace, NetworkChoices } from "./choices.js";
import type { Network, Networks } from "./network.js";

/** Returns the network in a command's option. `undefined` if there is none. */
function namedNetwork(interaction: Interaction): string | undefined {
  if (!interaction.isChatInputCommand() && !interaction.isAutocomplete()) return undefined;
  const value = interaction.options.get(NETWORK_OPTION)?.value;
  return typeof value === "string" && value !== NO_NETWORK ? value : undefined;
}

/** Returns the texts in a command's options. */
function typedTexts(interaction: Interaction): readonly string[] {
  if (!interaction.isChatInputCommand()) return [];
  const options = interaction.options.data.flatMap((option) => option.options ?? [option]);
  return options.flatMap(({ value }) => (typeof value === "string" ? [value] : []));
}

const isClick = (interaction: Interaction): interaction is Click =>
  interaction.isButton() || interaction.isStringSelectMenu() || interaction.isModalSubmit();

const NOT_SERVED = "This is about a network that I no longer cover.";
const UNKNOWN_PARENT =
  "Discord didn't tell me which channel this thread is in, so I don't know its network. Choose one with `network:`, or try again.";
const UNSEEN_CHANNEL =
  "I can't see this channel, so I don't know its network. Choose one with `network:`, or grant me View Channel here.";

/** Creates the function that returns the network of an interaction. */
export function createNetworkOf({ served, known }: Networks, choices: NetworkChoices, rest: REST) {
  const [usual] = served;
  const byId = new Map(served.map((network) => [network.id, network]));
  const byCode = new Map(
    served.flatMap((network) => (network.id === undefined ? [] : [[codeOf(network.id), network]])),
  );
  /** The ids of each channel and of its parent, if there is one, by channel id. */
  const parents = new LRUCache<string, readonly string[]>({ max: 10_000 });

  /** Returns the network of a link. A link without a network belongs to the oldest one. */
  const ofLink = async (code: string | undefined): Promise<Network> => {
    if (code === undefined && usual.id === undefined) return usual;
    if (code === undefined) await known.load();
    const foundNetwork = code === undefined ? byId.get(known.oldest()) : byCode.get(code);
    if (!foundNetwork) throw new PersonError(NOT_SERVED);
    return foundNetwork;
  };

  /** Returns the network whose pages in the web explorer are linked best in some texts. `undefined` if none is, or several are. */
  const linkedNetwork = (texts: readonly string[]): Network | undefined => {
    const matches = served.map((network) => ({
      network,
      length: Math.max(0, ...texts.map(network.linkMatch)),
    }));
    const longest = Math.max(...matches.map(({ length }) => length));
    const best = matches.filter(({ length }) => longest > 0 && length === longest);
    return best.length === 1 ? best[0]?.network : undefined;
  };

  const knownPlacesOf = async (channelId: string, isSure: boolean): Promise<readonly string[]> => {
    const knownPlaces = parents.get(channelId);
    if (knownPlaces) return knownPlaces;
    try {
      const places = await placesOf(rest, channelId);
      parents.set(channelId, places);
      return places;
    } catch (error) {
      if (isSure) throw new PersonError(problemOf(error) === "no-access" ? UNSEEN_CHANNEL : UNKNOWN_PARENT);
      return [channelId];
    }
  };

  /** Returns the default network for the interaction's channel or server, or for the person in direct messages. */
  const chosenFor = async ({ channelId, guildId, user }: Interaction, isSure: boolean) => {
    const askingPlace: ChoicePlace = guildId ? { guild: guildId } : { person: user.id };
    const { network, channels } = await choices.of(askingPlace, isSure);
    // A network that is no longer served leaves the choice to the server.
    const servedIn = (id: string) => (byId.has(channels[id]) ? channels[id] : undefined);
    // The parent channel of a thread matters only if some channel has its own default.
    if (!channelId || !Object.keys(channels).some(servedIn)) return network;
    const places = servedIn(channelId) === undefined ? await knownPlacesOf(channelId, isSure) : [channelId];
    return places.map(servedIn).find((id) => id !== undefined) ?? network;
  };

  /**
   * Returns the network of an interaction.
   * @param isSure false if the default network is acceptable when the choice cannot be read in time
   * @throws {PersonError} if the network is no longer served, or must be known and cannot be read
   * @throws {StateError} if the choice must be known and cannot be read
   */
  return async (interaction: Interaction, isSure = false): Promise<Network> => {
    if (isClick(interaction)) return ofLink(readClick(interaction).parts.network);
    if (served.length === 1) return usual;
    const namedId = namedNetwork(interaction);
    if (namedId === undefined) {
      const chosenId = await chosenFor(interaction, isSure);
      const chosen = (chosenId === undefined ? undefined : byId.get(chosenId)) ?? usual;
      return linkedNetwork(typedTexts(interaction)) ?? chosen;
    }
    const foundNetwork = byId.get(namedId);
    // In direct messages, the network becomes the person's default.
    if (foundNetwork && !interaction.guildId && interaction.isChatInputCommand()) {
      const isKnown = (await chosenFor(interaction, false)) === namedId;
      if (!isKnown) void choices.set({ person: interaction.user.id }, namedId).catch(() => {});
    }
    // A network that is no longer served can still be named, to remove its subscriptions.
    return foundNetwork ?? usual;
  };
}
