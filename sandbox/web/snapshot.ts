import type { Option } from "../discord/driver.js";
import type { Dialog } from "../discord/interactions.js";
import type { Channel, Message } from "../discord/world.js";

/** Data that the page shows to one person for one channel. It is sent completely after each change. */
export interface Snapshot {
  /** The sandbox's time, epoch ms, which may run ahead of the real one. */
  readonly now: number;
  readonly bot: BotState;
  readonly guild: string;
  readonly people: readonly Person[];
  readonly channels: readonly ShownChannel[];
  readonly messages: readonly Message[];
  /** Names of the people who wait for an answer of the bot. */
  readonly thinking: readonly string[];
  readonly commands: readonly ShownCommand[];
  readonly roles: readonly { readonly id: string; readonly name: string }[];
  /** Names by id, for mentions. */
  readonly names: Readonly<Record<string, string>>;
  /** Requests of the bot that Discord would reject, newest first. */
  readonly refusals: readonly ShownRefusal[];
  /** The server's calendar, next deadline first. */
  readonly events: readonly ShownEvent[];
  /** Names of the networks, if there are several. */
  readonly networks: readonly string[];
  /** Ledger of the selected network. */
  readonly ledger: ShownLedger;
}

export type BotState = "starting" | "running" | "stopped";

/** Behaviors of the explorer. */
export const EXPLORER_MOODS = ["well", "slow", "failing", "gone"] as const;
export type ExplorerMood = (typeof EXPLORER_MOODS)[number];

export interface Person {
  readonly id: string;
  readonly name: string;
  /** Role of the person, in one word. */
  readonly role: string;
}

export interface ShownChannel extends Pick<Channel, "id" | "type" | "name" | "parent_id"> {
  readonly messages: number;
  /** True if the bot may write in the channel. */
  readonly mayWrite: boolean;
}

/** A command as it is typed. Each subcommand is separate. */
export interface ShownCommand {
  readonly name: string;
  readonly description: string;
  readonly options: readonly Option[];
}

export interface ShownRefusal {
  readonly request: string;
  readonly status: number;
  /** Invalid fields with the reason. */
  readonly faults: readonly string[];
}

export interface ShownEvent {
  readonly id: string;
  readonly name: string;
  /** Epoch ms. */
  readonly endsAt: number;
}

export interface ShownRequest {
  readonly id: string;
  readonly title: string;
  readonly status: string;
  readonly yes: number;
  readonly no: number;
  readonly voteBefore: number;
}

export interface ShownLedger {
  /** True if validators report automatically. */
  readonly reports: boolean;
  /** True if other events happen automatically. */
  readonly moves: boolean;
  /** True if rounds advance. */
  readonly rounds: boolean;
  readonly price: number;
  /** Display names of the motions that super validators vote on. */
  readonly motions: Readonly<Record<string, string>>;
  readonly requests: readonly ShownRequest[];
  readonly validators: readonly { readonly id: string; readonly name: string; readonly active: boolean }[];
  readonly explorer: ExplorerMood;
  /** Time by which the clock was advanced, in ms. */
  readonly offset: number;
}

/** An action of a person in a channel. */
export type Deed =
  | { readonly do: "say"; readonly text: string }
  | { readonly do: "command"; readonly command: string; readonly given: Given }
  | { readonly do: "complete"; readonly command: string; readonly given: Given; readonly focused: string }
  | { readonly do: "press"; readonly message: string; readonly customId: string }
  | { readonly do: "pick"; readonly message: string; readonly customId: string; readonly value: string }
  | { readonly do: "submit"; readonly message: string; readonly dialog: Dialog; readonly values: string[][] }
  | { readonly do: "dismiss"; readonly message: string };

export type Given = Readonly<Record<string, string | number | boolean>>;

/** Immediate result of an action. Messages come with the next snapshot. */
export interface Outcome {
  readonly error?: string;
  readonly choices?: readonly { readonly name: string; readonly value: string | number }[];
  readonly dialog?: Dialog;
}

/** An action on the world around the bot. */
export type Turn =
  | { readonly do: "open"; readonly title: string; readonly motion: string; readonly hours: number }
  | { readonly do: "vote"; readonly id: string; readonly accept: boolean }
  | { readonly do: "close"; readonly id: string; readonly status: string }
  /** Moves the deadline by a day. */
  | { readonly do: "postpone"; readonly id: string }
  | { readonly do: "rename"; readonly id: string }
  /** Allows or forbids the bot to write in a channel. */
  | { readonly do: "permit"; readonly channel: string; readonly on: boolean }
  | { readonly do: "delete-channel"; readonly channel: string }
  | { readonly do: "moves"; readonly on: boolean }
  | { readonly do: "validator"; readonly id: string; readonly active: boolean }
  | { readonly do: "reports"; readonly on: boolean }
  | { readonly do: "version" }
  | { readonly do: "rounds"; readonly on: boolean }
  | { readonly do: "traffic"; readonly id: string }
  | { readonly do: "price"; readonly percent: number }
  /** Clears the list of rejected requests. */
  | { readonly do: "forget-refusals" }
  /** Deletes an event from the calendar. */
  | { readonly do: "uncalendar"; readonly id: string }
  | { readonly do: "pass"; readonly hours: number }
  | { readonly do: "explorer"; readonly mood: ExplorerMood }
  | { readonly do: "bot"; readonly run: boolean };
