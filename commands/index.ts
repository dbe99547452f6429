import type { FeedDefinition } from "../src/delivery/feed.js";
import type { Command } from "../src/discord/command.js";
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

/** What commands that change something work with. */
export type CommandServices = SubscribeServices;

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
  help,
];
