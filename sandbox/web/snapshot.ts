import type { Option } from "../discord/driver.js";
import type { Dialog } from "../discord/interactions.js";
import type { Channel, Message } from "../discord/world.js";

/** What the page shows of one channel to one person, sent whole whenever anything changes. */
export interface Snapshot {
  /** The sandbox's time, epoch ms, which may run ahead of the real one. */
  readonly now: number;
  readonly bot: BotState;
  readonly guild: string;
  readonly people: readonly Person[];
  readonly channels: readonly ShownChannel[];
  readonly messages: readonly Message[];
  /** Names of those for whom the bot is thinking. */
  readonly thinking: readonly string[];
  readonly commands: readonly ShownCommand[];
  readonly roles: readonly { readonly id: string; readonly name: string }[];
  /** Names by id, for mentions. */
  readonly names: Readonly<Record<string, string>>;
  /** What the bot sent that Discord would refuse, the newest first. */
  readonly refusals: readonly ShownRefusal[];
  /** The server's calendar, the next deadline first. */
  readonly events: readonly ShownEvent[];
  /** The names of the networks, if there are several. */
  readonly networks: readonly string[];
  /** That of one network. */
  readonly ledger: ShownLedger;
}

export type BotState = "starting" | "running" | "stopped";

/** How the explorer behaves. */
export const EXPLORER_MOODS = ["well", "slow", "failing", "gone"] as const;
export type ExplorerMood = (typeof EXPLORER_MOODS)[number];

export interface Person {
  readonly id: string;
  readonly name: string;
  /** What they may do, in a word. */
  readonly role: string;
}

export interface ShownChannel extends Pick<Channel, "id" | "type" | "name" | "parent_id"> {
  readonly messages: number;
  /** Whether the bot may write there. */
  readonly mayWrite: boolean;
}

/** A command as it is typed: subcommands apart. */
export interface ShownCommand {
  readonly name: string;
  readonly description: string;
  readonly options: readonly Option[];
}

export interface ShownRefusal {
  readonly request: string;
  readonly status: number;
  /** Each wrong field with what is wrong about it. */
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
  /** Whether validators report by themselves. */
  readonly reports: boolean;
  /** Whether anything else happens by itself. */
  readonly moves: boolean;
  readonly price: number;
  /** Actions that super validators vote on: what each is called, by its name here. */
  readonly motions: Readonly<Record<string, string>>;
  readonly requests: readonly ShownRequest[];
  readonly validators: readonly { readonly id: string; readonly name: string; readonly active: boolean }[];
  readonly explorer: ExplorerMood;
  /** How far the clock has been moved on, in ms. */
  readonly offset: number;
}

/** What somebody does in a channel. */
export type Deed =
  | { readonly do: "say"; readonly text: string }
  | { readonly do: "command"; readonly command: string; readonly given: Given }
  | { readonly do: "complete"; readonly command: string; readonly given: Given; readonly focused: string }
  | { readonly do: "press"; readonly message: string; readonly customId: string }
  | { readonly do: "pick"; readonly message: string; readonly customId: string; readonly value: string }
  | { readonly do: "submit"; readonly message: string; readonly dialog: Dialog; readonly values: string[] }
  | { readonly do: "dismiss"; readonly message: string };

export type Given = Readonly<Record<string, string | number | boolean>>;

/** What comes back at once; messages come with the next snapshot. */
export interface Outcome {
  readonly error?: string;
  readonly choices?: readonly { readonly name: string; readonly value: string | number }[];
  readonly dialog?: Dialog;
}

/** What somebody does to the world around the bot. */
export type Turn =
  | { readonly do: "open"; readonly title: string; readonly motion: string; readonly hours: number }
  | { readonly do: "vote"; readonly id: string; readonly accept: boolean }
  | { readonly do: "close"; readonly id: string; readonly status: string }
  /** The deadline moves by a day. */
  | { readonly do: "postpone"; readonly id: string }
  | { readonly do: "rename"; readonly id: string }
  /** Whether the bot may write in a channel. */
  | { readonly do: "permit"; readonly channel: string; readonly on: boolean }
  | { readonly do: "delete-channel"; readonly channel: string }
  | { readonly do: "moves"; readonly on: boolean }
  | { readonly do: "validator"; readonly id: string; readonly active: boolean }
  | { readonly do: "reports"; readonly on: boolean }
  | { readonly do: "version" }
  | { readonly do: "traffic"; readonly id: string }
  | { readonly do: "price"; readonly percent: number }
  /** What Discord would refuse is read, and goes. */
  | { readonly do: "forget-refusals" }
  /** Somebody deletes an event from the calendar. */
  | { readonly do: "uncalendar"; readonly id: string }
  | { readonly do: "pass"; readonly hours: number }
  | { readonly do: "explorer"; readonly mood: ExplorerMood }
  | { readonly do: "bot"; readonly run: boolean };
