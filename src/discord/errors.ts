import { DiscordAPIError } from "discord.js";
import { ExplorerError, type ExplorerProblem } from "../explorer/errors.js";
import type { ScreenName } from "../screens/addresses.js";
import { StateError } from "../storage/state.js";

/** Something a person did that cannot be answered: the message is the sentence they get. */
export class PersonError extends Error {
  override readonly name = "PersonError";
}

/** What is said where the explorer knows no such thing, by the screen that was asked for. */
const MISSING: Partial<Record<ScreenName, string>> = {
  validator:
    "No validator has that id. A validator's id is its party id, like `name::1220…`; `/validator list` shows them.",
  party: "No party has that id. A party's id looks like `name::1220…`; `/party list` shows some.",
  rewards:
    "The explorer knows no rewards for that id. A party's id looks like `name::1220…`; `/party list` shows some.",
  vr: "No vote request has that id. `/proposals list` shows them.",
  vv: "No vote request has that id. `/proposals list` shows them.",
  t: "No token has that contract id. It is the id of the contract that describes the token.",
  c: "No contract has that id. A contract's id has 138 characters; `/contract list` shows some.",
  event:
    "No event has that id. An event's id is its update's with `:` and a number; `/event list` shows some.",
  update: "No update has that id. An update's id has 68 characters; `/update list` shows some.",
  lookup:
    "Nothing is known by that. Paste a whole id (of a party, contract, update, event or vote request), a link, or a name.",
};

const EXPLORER_SAYS: Readonly<Record<ExplorerProblem, string>> = {
  missing: "The explorer knows nothing with that id. Check that it was copied whole.",
  refused:
    "The explorer does not accept this bot's key at the moment. Its operator has been told; please try again later.",
  rejected: "The explorer does not accept that request. Check what you typed.",
  limited: "The explorer asks for fewer requests at the moment. Please try again in a minute.",
  failing: "The explorer is not answering at the moment. Please try again in a minute.",
  slow: "The explorer is too slow to answer at the moment. Please try again in a minute.",
  unreadable: "The explorer sent something this bot cannot read. Please try again in a minute.",
  busy: "That was a lot of requests in a short time. Please try again in a minute.",
};

interface Log {
  error(details: object, message: string): void;
}

/**
 * One helpful sentence for the person. What was not expected is logged whole, with the interaction's id, which the
 * person gets.
 * @param screen what was asked for, where that is known
 */
export function explain(error: unknown, log: Log, interaction: string, screen?: ScreenName): string {
  if (error instanceof PersonError) return error.message;
  if (error instanceof ExplorerError) {
    return (error.problem === "missing" && screen && MISSING[screen]) || EXPLORER_SAYS[error.problem];
  }
  if (error instanceof StateError)
    return "I cannot reach my own storage at the moment. Please try again in a minute.";
  log.error({ err: error, interaction }, "Unexpected error");
  return `Something went wrong here, and it has been logged. If it happens again, tell the bot's operator this id: \`${interaction}\``;
}

/** What went wrong, in a word for the metrics. */
export function kindOf(error: unknown): string {
  if (error instanceof PersonError) return "told";
  if (error instanceof ExplorerError) return error.problem;
  return error instanceof StateError ? "storage" : "error";
}

/** Discord's error codes that this bot knows what to do about. */
export const DISCORD = {
  unknownInteraction: 10_062,
  alreadyAcknowledged: 40_060,
  invalidForm: 50_035,
} as const;

export const hasCode = (error: unknown, code: number): boolean =>
  error instanceof DiscordAPIError && error.code === code;
