import type { Command } from "./command.js";
import { party } from "./party.js";
import { price } from "./price.js";
import { proposals } from "./proposals.js";
import { subscription } from "./subscribe.js";
import { validator } from "./validator.js";

/** Every slash command. Registration and dispatch both read this list. */
export const commands: readonly Command[] = [price, validator, party, proposals, subscription];
