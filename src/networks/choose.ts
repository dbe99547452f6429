import type { Interaction, REST } from "discord.js";
import { LRUCache } from "lru-cache";
import { codeOf } from "../config-shapes.js";
import { type Click, readClick } from "../discord/clicks.js";
import { NETWORK_OPTION, NO_NETWORK } from "../discord/command.js";
import { withParent } from "../discord/places.js";
import { PersonError } from "../util/person-error.js";
import type { ChoicePlace, NetworkChoices } from "./choices.js";
import type { Network, Networks } from "./network.js";

/** Returns the network that a command names. */
export function namedNetwork(interaction: Interaction): string | undefined {
  if (!interaction.isChatInputCommand() && !interaction.isAutocomplete()) return undefined;
  const value = interaction.options.get(NETWORK_OPTION)?.value;
  return typeof value === "string" && value !== NO_NETWORK ? value : undefined;
}

const isClick = (interaction: Interaction): interaction is Click =>
  interaction.isButton() || interaction.isStringSelectMenu() || interaction.isModalSubmit();

const NOT_SERVED = "This is of a network that I do not serve any more.";

/** Finds the network that each interaction is about. */
export function createNetworkOf({ served, known }: Networks, choices: NetworkChoices, rest: REST) {
  const [usual] = served;
  const byId = new Map(served.map((network) => [network.id, network]));
  const byCode = new Map(
    served.flatMap((network) => (network.id === undefined ? [] : [[codeOf(network.id), network]])),
  );
  /** Parent channels of threads. */
  const parents = new LRUCache<string, readonly string[]>({ max: 10_000 });

  /** The network of a link: what names none is the oldest one's. */
  const ofLink = async (code: string | undefined): Promise<Network> => {
    if (code === undefined && usual.id !== undefined) await known.load();
    const foundNetwork =
      code !== undefined ? byCode.get(code) : usual.id === undefined ? usual : byId.get(known.oldest());
    if (!foundNetwork) throw new PersonError(NOT_SERVED);
    return foundNetwork;
  };

  const placesOf = async (channelId: string): Promise<readonly string[]> => {
    const parentChain = parents.get(channelId) ?? (await withParent(rest, channelId));
    parents.set(channelId, parentChain);
    return parentChain;
  };

  /** The one that was chosen for if the interaction comes from: for its channel, its server, or the person in private. */
  const chosenFor = async ({ channelId, guildId, user }: Interaction, isSure: boolean) => {
    const askingPlace: ChoicePlace = guildId ? { guild: guildId } : { person: user.id };
    const { network, channels } = await choices.of(askingPlace, isSure);
    // Only if a channel has its own, it matters if a thread is.
    if (!channelId || Object.keys(channels).length === 0) return network;
    const places = channels[channelId] === undefined ? await placesOf(channelId) : [channelId];
    const ownPlace = places.find((id) => channels[id] !== undefined);
    return ownPlace === undefined ? network : channels[ownPlace];
  };

  /**
   * Returns the network of an interaction.
   * @param isSure false if the default network is acceptable when the choice cannot be read in time
   * @throws {PersonError} if it is not served
   * @throws {StateError} if it must be known and cannot be read
   */
  return async (interaction: Interaction, isSure = false): Promise<Network> => {
    if (isClick(interaction)) return ofLink(readClick(interaction).parts.network);
    if (served.length === 1) return usual;
    const namedId = namedNetwork(interaction);
    if (namedId === undefined) {
      const chosenId = await chosenFor(interaction, isSure);
      return (chosenId === undefined ? undefined : byId.get(chosenId)) ?? usual;
    }
    const foundNetwork = byId.get(namedId);
    // A person's direct messages remember it.
    if (foundNetwork && !interaction.guildId && interaction.isChatInputCommand())
      void choices.set({ person: interaction.user.id }, namedId).catch(() => {});
    // One that is not served any more can still be named to end what is kept of it.
    return foundNetwork ?? usual;
  };
}
