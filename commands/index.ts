import type { FeedDefinition } from "../src/delivery/feed.js";
import type { Actions } from "../src/discord/action.js";
import type { Command } from "../src/discord/command.js";
import { VALIDATOR_FEED } from "../src/feeds/validator/index.js";
import { createResponses } from "../src/feeds/validator/respond.js";
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
import { proposals } from "./proposals.js";
import { createSettings } from "./settings.js";
import { createSubscribe } from "./subscribe/index.js";
import { token } from "./token.js";
import { transfers } from "./transfers.js";
import { update } from "./update.js";
import { validator } from "./validator.js";
import { voters } from "./voters.js";
import { createWatchActions } from "./watch/actions.js";
import { createWatch } from "./watch/index.js";

/** What buttons do besides opening screens. */
export const createActions = (network: Network, feeds: readonly FeedDefinition[]): Actions => ({
  ...createResponses({ feed: VALIDATOR_FEED, ...network }),
  ...createWatchActions(network, feeds),
});

/**
 * Every slash command. Registration, dispatch and help all read this list.
 * @param feeds what can be subscribed to
 * @param networks those that the bot serves; where there are several, each command can name one
 */
export function createCommands(
  feeds: readonly FeedDefinition[],
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

const ofOneNetwork = (
  feeds: readonly FeedDefinition[],
  choices: NetworkChoices,
): readonly Command<Network>[] => [
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
  createSubscribe(feeds),
  createWatch(feeds, choices),
  voters,
  help,
];
