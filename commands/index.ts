import type { Command } from "./command.js";
import { contract } from "./contract.js";
import { event } from "./event.js";
import { help } from "./help.js";
import { lookup } from "./lookup.js";
import { network } from "./network.js";
import { party } from "./party.js";
import { price } from "./price.js";
import { proposals } from "./proposals.js";
import { subscription } from "./subscribe.js";
import { token } from "./token.js";
import { transfers } from "./transfers.js";
import { update } from "./update.js";
import { validator } from "./validator.js";

/** Every slash command. Registration, dispatch and help all read this list. */
export const commands: readonly Command[] = [
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
  subscription,
  help,
];
