import {
  type ActingCommand,
  commandForManagers,
  NETWORK_OPTION,
  NO_NETWORK,
} from "../src/discord/command.js";
import { say, serverOf } from "../src/discord/say.js";
import type { NetworkChoices } from "../src/networks/choices.js";
import type { Network } from "../src/networks/network.js";
import { channelMention, join, md } from "../src/text/markdown.js";
import { present } from "../src/util/present.js";
import { choicesOf, type NetworkName } from "./network-option.js";
import { CHANNELS } from "./subscribe/form.js";

const CHANNEL = "channel";
/** Maximum number of channels that are named. */
const MAX_NAMED = 10;

/** Creates /settings, which sets the default network of a server or a channel. */
export function createSettings(
  networks: readonly NetworkName[],
  choices: NetworkChoices,
): ActingCommand<Network> {
  const definition = commandForManagers("settings", "The default network of this server, or of one channel")
    .addStringOption((option) =>
      option
        .setName(NETWORK_OPTION)
        .setDescription("The default network")
        .setRequired(true)
        .addChoices(...choicesOf(networks), { name: "no default", value: NO_NETWORK }),
    )
    .addChannelOption((option) =>
      option
        .setName(CHANNEL)
        .setDescription("Only for this channel and its threads (default: the whole server)")
        .addChannelTypes(...CHANNELS),
    );
  return {
    definition: definition.toJSON(),
    group: "This bot",
    async run(interaction, { networks: { served } }) {
      const { options } = interaction;
      const guild = serverOf(interaction);
      const channel = options.getChannel(CHANNEL)?.id;
      const wantedNetwork = options.getString(NETWORK_OPTION, true);
      const chosenNetwork = served.find(({ id }) => id === wantedNetwork);
      await choices.set(channel === undefined ? { guild } : { guild, channel }, chosenNetwork?.id);
      const { channels } = channel === undefined ? await choices.of({ guild }, true) : { channels: {} };
      const usualNetwork = chosenNetwork ?? (channel === undefined ? served[0] : undefined);
      const exceptions = Object.entries(channels).flatMap(([id, own]) =>
        own !== usualNetwork?.id && served.some((each) => each.id === own) ? [channelMention(id)] : [],
      );
      return say(
        served[0],
        md`Default network changed`,
        present([
          usualNetwork
            ? md`In ${channel === undefined ? "this server" : channelMention(channel)}, commands without \`network:\` now use **${usualNetwork.name}**.`
            : md`In ${channelMention(channel ?? "")}, commands without \`network:\` now use the server's default network.`,
          exceptions.length > 0 &&
            md`These channels have their own default: ${join(exceptions.slice(0, MAX_NAMED), ", ")}${exceptions.length > MAX_NAMED ? md` and others` : md``}.`,
          md`-# Add \`${NETWORK_OPTION}:\` to a command to ask about another network. Existing subscriptions don't change.`,
        ]),
      );
    },
  };
}
