import type { FeedDefinition } from "../src/delivery/feed.js";
import type { Actions } from "../src/discord/action.js";
import type { Command } from "../src/discord/command.js";
import { VALIDATOR_FEED } from "../src/feeds/validator/index.js";
import { createResponses } from "../src/feeds/validator/respond.js";
import { contract } from "./contract.js";
import { event } from "./event.js";
import { help } from "./help.js";
import { lookup } from "./lookup.js";
import { network } from "./network.js";
import { party } from "./party.js";
import { price } from "./price.js";
import { proposals } from "./proposals.js";
import type { SubscribeServices } from "./subscribe/handlers.js";
import { createSubscribe } from "./subscribe/index.js";
import { token } from "./token.js";
import { transfers } from "./transfers.js";
import { update } from "./update.js";
import { validator } from "./validator.js";
import { voters } from "./voters.js";
import { createWatchActions } from "./watch/actions.js";
import { createWatch } from "./watch/index.js";

/** What commands that change something work with. */
export type CommandServices = SubscribeServices;

/** What buttons do besides opening screens. */
export const createActions = (services: CommandServices, feeds: readonly FeedDefinition[]): Actions => ({
  ...createResponses({ feed: VALIDATOR_FEED, ...services }),
  ...createWatchActions(services, feeds),
});

/**
 * Every slash command. Registration, dispatch and help all read this list.
 * @param feeds what can be subscribed to
 */
export const createCommands = (feeds: readonly FeedDefinition[]): readonly Command<CommandServices>[] => [
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
  createWatch(feeds),
  voters,
  help,
];
