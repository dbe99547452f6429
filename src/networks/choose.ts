import type { Interaction, REST } from "discord.js";
import { LRUCache } from "lru-cache";
import { codeOf } from "../config-shapes.js";
import { type Click, networkOf as networkIn } from "../discord/clicks.js";
import { NETWORK_OPTION, NO_NETWORK } from "../discord/command.js";
import { withParent } from "../discord/places.js";
import { PersonError } from "../util/person-error.js";
import type { NetworkChoices, Place } from "./choices.js";
import type { Network, Networks } from "./network.js";

/** The network that somebody named in a command. */
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
  /** Where a thread is, by its id. */
  const parents = new LRUCache<string, readonly string[]>({ max: 10_000 });

  /** The network of a link: what names none is the oldest one's. */
  const ofLink = async (code: string | undefined): Promise<Network> => {
    if (code === undefined && usual.id !== undefined) await known.load();
    const found =
      code !== undefined ? byCode.get(code) : usual.id === undefined ? usual : byId.get(known.oldest());
    if (!found) throw new PersonError(NOT_SERVED);
    return found;
  };

  const placesOf = async (channelId: string): Promise<readonly string[]> => {
    const held = parents.get(channelId) ?? (await withParent(rest, channelId));
    parents.set(channelId, held);
    return held;
  };

  /** The one that was chosen for where the interaction comes from: for its channel, its server, or the person in private. */
  const chosenFor = async ({ channelId, guildId, user }: Interaction, isSure: boolean) => {
    const place: Place = guildId ? { guild: guildId } : { person: user.id };
    const { network, channels } = await choices.of(place, isSure);
    // Only where a channel has its own, it matters where a thread is.
    if (!channelId || Object.keys(channels).length === 0) return network;
    const places = channels[channelId] === undefined ? await placesOf(channelId) : [channelId];
    const own = places.find((id) => channels[id] !== undefined);
    return own === undefined ? network : channels[own];
  };

  /**
   * @param isSure whether nothing else will do: by default, the usual one stands for what cannot be read in time
   * @throws {PersonError} where it is not served
   * @throws {StateError} where it must be known, and cannot be read
   */
  return async (interaction: Interaction, isSure = false): Promise<Network> => {
    if (isClick(interaction)) return ofLink(networkIn(interaction));
    if (served.length === 1) return usual;
    const named = namedNetwork(interaction);
    if (named === undefined) {
      const chosen = await chosenFor(interaction, isSure);
      return (chosen === undefined ? undefined : byId.get(chosen)) ?? usual;
    }
    const found = byId.get(named);
    // A person's direct messages remember it.
    if (found && !interaction.guildId && interaction.isChatInputCommand())
      void choices.set({ person: interaction.user.id }, named).catch(() => {});
    // One that is not served any more can still be named to end what is kept of it.
    return found ?? usual;
  };
}
