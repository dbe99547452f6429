import type { FeedModule } from "../src/delivery/module.js";
import type { ButtonHandler } from "../src/discord/buttons.js";
import type { Command } from "../src/discord/command.js";
import type { NetworkChoices } from "../src/networks/choices.js";
import type { Network } from "../src/networks/network.js";
import { contract } from "./contract.js";
import { event } from "./event.js";
import { help } from "./help.js";
import { lookup } from "./lookup.js";
import { network } from "./network.js";
import { type NetworkName, withNetwork } from "./network-option.js";
import { party } from "./party.js";
import { price } from "./price.js";
import { proposals, voteButtons } from "./proposals.js";
import { createSettings } from "./settings.js";
import { createSetup, createSetupButtons } from "./setup/index.js";
import { createSubscribe } from "./subscribe/index.js";
import { createListButtons } from "./subscribe/list.js";
import { createSubscriptionButtons } from "./subscribe/menu.js";
import { token } from "./token.js";
import { transfers } from "./transfers.js";
import { update } from "./update.js";
import { validator } from "./validator.js";
import { createWatchButtons } from "./watch/actions.js";
import { createWatch } from "./watch/index.js";

/** All buttons that do something other than opening a screen. */
export const createButtons = (feeds: readonly FeedModule[]): readonly ButtonHandler<Network>[] => [
  ...feeds.flatMap(({ buttons = [] }) => buttons),
  ...voteButtons,
  ...createSetupButtons(feeds.map(({ definition }) => definition)),
  ...createListButtons(feeds.map(({ definition }) => definition)),
  ...createSubscriptionButtons(feeds.map(({ definition }) => definition)),
  ...createWatchButtons(feeds.map(({ definition }) => definition)),
];

/**
 * Creates all slash commands. Registration, dispatch and help use this list.
 * @param feeds the feeds that channels and people can subscribe to
 * @param networks the networks that the bot serves. If there are several, commands get a network option
 */
export function createCommands(
  feeds: readonly FeedModule[],
  networks: readonly NetworkName[],
  choices: NetworkChoices,
): readonly Command<Network>[] {
  const commands = ofOneNetwork(feeds, choices);
  if (networks.length === 1) return commands;
  return [
    ...commands.map((command) => ({ ...command, definition: withNetwork(command, networks) })),
    createSettings(networks, choices),
  ];
}

const ofOneNetwork = (feeds: readonly FeedModule[], choices: NetworkChoices): readonly Command<Network>[] => [
  price,
  network,
  validator,
  party,
  proposals,
  transfers,
  token,
  contract,
  event,
  update,
  lookup,
  createSetup(feeds.map(({ definition }) => definition)),
  createSubscribe(feeds.map(({ definition }) => definition)),
  createWatch(
    feeds.map(({ definition }) => definition),
    choices,
  ),
  ...feeds.flatMap((feed) => feed.commands ?? []),
  help,
];
