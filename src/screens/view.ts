import type { Charts } from "../charts/charts.js";
import type { Directory } from "../directory/directory.js";
import type { Names } from "../directory/names.js";
import type { Explorer, Reading } from "../explorer/service.js";
import type { Rhythms } from "../ledger/network-rhythm.js";
import type { PriceHistory } from "../ledger/prices.js";
import { type Markdown, md, withoutEscapes } from "../text/markdown.js";
import type { Address, ParametersOf, ScreenAddress, ScreenName } from "./addresses.js";

/** Meaning of a message, shown by its colour. */
export type Tone = "neutral" | "good" | "bad" | "warning";

/** A button that leads to an address. */
export interface Link {
  readonly label: string;
  readonly emoji?: string;
  readonly to: Address;
  /** Identifies a delivered message. The screen ignores it. */
  readonly mark?: string | undefined;
}

/** A choice in a menu that leads to an address. */
export interface Choice extends Link {
  readonly hint?: string | undefined;
  readonly chosen?: boolean;
}

/** A select menu (Discord: 25 choices); each choice leads to an address. */
export interface Menu {
  readonly placeholder: string;
  readonly choices: readonly Choice[];
}

/** A field of an embed. */
export interface Field {
  readonly name: string;
  readonly value: Markdown;
  /** True if the field is placed beside its neighbours, if there is room. */
  readonly inline?: boolean;
}

/** A file that goes with a message. */
export interface Attachment {
  readonly name: string;
  readonly content: Buffer;
  /** Alternative text of a picture. */
  readonly description?: string;
}

/** Maximum wait for a value beside a screen's own data, in ms. A slow endpoint must not use up the time for the others. */
export const SIDE_MS = 2_000;

/** A thing with a page in the web explorer, if its address is set. */
export interface ExplorerPage {
  readonly kind: "update" | "event" | "party" | "validator" | "contract" | "proposal";
  readonly id: string;
}

/** A message as data. src/discord turns it into a message within Discord's limits. */
export interface View {
  /** Missing if the notification says it all. */
  readonly title?: Markdown | undefined;
  /** Neutral by default. */
  readonly tone?: Tone | undefined;
  /**
   * Text above the embed: the news in one line, which a phone's notification shows alone. It is edited together with the embed.
   */
  readonly notification?: Markdown;
  /** Lines of text. The last ones are dropped if there are too many. */
  readonly body?: readonly Markdown[];
  readonly fields?: readonly Field[];
  /** An http(s) address of a picture. */
  readonly thumbnail?: string | null;
  /** A generated picture below the text. */
  readonly picture?: Attachment | undefined;
  readonly files?: readonly Attachment[];
  /** The readings that the view is based on. The age of the oldest is shown. */
  readonly readings?: readonly Reading<unknown>[];
  /** Present for one page of several: its number from 1, and the number of pages. */
  readonly pager?: { readonly page: number; readonly pages: number };
  readonly menus?: readonly Menu[];
  readonly links?: readonly Link[];
  /** True if the explorer does not know the id that a person guessed, so that the id is not stored. */
  readonly isNothing?: boolean;
  /** Id under which the thing is watched, if it is not the address's. `null` if it can't be watched. */
  readonly watchedAs?: string | null;
  /** True if nothing can happen to the thing any more, so that a watch of it would tell nothing. */
  readonly isOver?: boolean;
  /** The web explorer's page of the thing, if it has one. */
  readonly explorerPage?: ExplorerPage | undefined;
  /** Destination of "back" without a previous screen. */
  readonly parent?: ScreenAddress;
}

/** Returns a view's title, or its notification if it has none, as plain text for the name of a thread. */
export const headlineOf = ({ title, notification }: Pick<View, "title" | "notification">): string =>
  withoutEscapes(title ?? notification ?? md``);

/** A command's entry in help. */
export interface CommandHelp {
  readonly group: string;
  /** Its subcommands, or the command itself. Clickable if Discord's id of the command is known. */
  readonly mentions: readonly Markdown[];
  readonly description: string;
  /** True if only people with a permission can use it. */
  readonly isForManagers: boolean;
}

/** Services for screens, the same for everyone. */
export interface ScreenServices {
  readonly directory: Directory;
  readonly names: Names;
  readonly prices: PriceHistory;
  readonly rhythms: Rhythms;
  readonly charts: Charts;
  /** The network's name; empty if the operator has given none. */
  readonly networkName: string;
  /** Returns the "Watch" buttons of a screen. */
  readonly watchLinks: (screen: ScreenName, id: string) => readonly Link[];
  /** Returns the buttons of a screen that subscribe the channel. Only people who manage the server get them. */
  readonly subscribeLinks: (screen: ScreenName, id: string) => readonly Link[];
  /** The names of the watches that people can start with `/watch`. */
  readonly watchNames: readonly string[];
  /** The names of the other networks that the bot serves. */
  readonly others: readonly string[];
}

/** Services for one person's screen. */
export interface ScreenContext extends ScreenServices {
  /** The explorer, on behalf of the person who asked. */
  readonly explorer: Explorer;
  /** The commands that this person can use, group by group. */
  readonly commands: () => readonly CommandHelp[];
}

/** A screen that turned out to be another one, with the reason. */
export interface Detour {
  readonly to: ScreenAddress;
  readonly note?: Markdown | undefined;
}

/** Loads readings and renders them. @throws {ExplorerError} */
export type Screen<Name extends ScreenName> = (
  parameters: ParametersOf<Name>,
  context: ScreenContext,
) => Promise<View | Detour>;
