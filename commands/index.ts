import type { FeedModule } from "../src/delivery/module.js";
import type { ButtonHandler } from "../src/discord/buttons.js";
import type { Command } from "../src/discord/command.js";
import type { NetworkChoices } from "../src/networks/choices.js";
import type { Network } from "../src/networks/network.js";
import { help } from "./help.js";
import { contract, event, update } from "./ledger.js";
import { lookup } from "./lookup.js";
import { network } from "./network.js";
import { type NetworkName, withNetwork } from "./network-option.js";
import { party } from "./party.js";
import { price } from "./price.js";
import { proposals, voteButtons } from "./proposals.js";
import { createSettings } from "./settings.js";
import { setup, setupButtons } from "./setup/index.js";
import { createSubscribe } from "./subscribe/index.js";
import { listButtons } from "./subscribe/list.js";
import { subscriptionButtons } from "./subscribe/menu.js";
import { token } from "./token.js";
import { transfers } from "./transfers.js";
import { validator } from "./validator.js";
import { watchButtons } from "./watch/actions.js";
import { createWatch } from "./watch/index.js";

/** All buttons that do something other than opening a screen. */
export function createButtons(feeds: readonly FeedModule[]): readonly ButtonHandler<Network>[] {
  return [
    ...feeds.flatMap(({ buttons = [] }) => buttons),
    ...voteButtons,
    ...setupButtons,
    ...listButtons,
    ...subscriptionButtons,
    ...watchButtons,
  ];
}

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
  const definitions = feeds.map(({ definition }) => definition);
  const commands: readonly Command<Network>[] = [
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
    setup,
    createSubscribe(definitions),
    createWatch(definitions, choices),
    ...feeds.flatMap((feed) => feed.commands ?? []),
    help,
  ];
  if (networks.length === 1) return commands;
  return [
    ...commands.map((command) => ({ ...command, definition: withNetwork(command, networks) })),
    createSettings(networks, choices),
  ];
}
