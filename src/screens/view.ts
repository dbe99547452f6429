import type { Charts } from "../charts/charts.js";
import type { Directory } from "../directory/directory.js";
import type { Names } from "../directory/names.js";
import type { Explorer, Reading } from "../explorer/service.js";
import type { PriceHistory } from "../ledger/prices.js";
import type { Markdown } from "../text/markdown.js";
import type { Address, ParametersOf, ScreenAddress, ScreenName } from "./addresses.js";

/** One colour for one meaning. */
export type Tone = "neutral" | "good" | "bad" | "warning";

/** A button that leads to an address. */
export interface Link {
  readonly label: string;
  readonly emoji?: string;
  readonly to: Address;
  /** Travels with the address and means nothing to the screen: how a delivered message is recognized. */
  readonly mark?: string;
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
  /** Beside its neighbours, where there is room. */
  readonly inline?: boolean;
}

/** A file that goes with a message. */
export interface Attachment {
  readonly name: string;
  readonly content: Buffer;
  /** What a picture shows, for those who do not see it. */
  readonly description?: string;
}

/** A thing that has a page of its own in the web explorer, as far as its address is set. */
export interface ExplorerPage {
  readonly kind: "update" | "event" | "party" | "validator" | "contract" | "proposal";
  readonly id: string;
}

/** What a person sees: data, which src/discord turns into a message within Discord's limits. */
export interface View {
  readonly title: Markdown;
  readonly tone: Tone;
  /** Stands outside the embed, for a phone's notification, which shows nothing of one. It is never edited. */
  readonly notification?: Markdown;
  /** Lines, of which the last are dropped where there are too many. */
  readonly body?: readonly Markdown[];
  readonly fields?: readonly Field[];
  /** An http(s) address of a picture. */
  readonly thumbnail?: string | null;
  /** A picture of ours below the text. */
  readonly picture?: Attachment | undefined;
  readonly files?: readonly Attachment[];
  /** The readings it was made of: the oldest gives the age shown. */
  readonly readings: readonly Reading<unknown>[];
  /** Where it is one of several: its number from 1, and how many there are. */
  readonly pager?: { readonly page: number; readonly pages: number };
  readonly menus?: readonly Menu[];
  readonly links?: readonly Link[];
  /** Its id was somebody's guess, and the explorer knows nothing by it: nothing of it is kept. */
  readonly isNothing?: boolean;
  /** What it shows, where the web explorer may have a page of it. */
  readonly explorerPage?: ExplorerPage;
  /** Where "back" leads for somebody who came from nowhere. */
  readonly parent?: ScreenAddress;
}

/** A command as people see it. */
export interface CommandHelp {
  readonly group: string;
  /** Each of its subcommands, or itself: clickable, where Discord's id of the command is known. */
  readonly mentions: readonly Markdown[];
  readonly description: string;
}

/** What screens may use, the same for everybody. */
export interface ScreenServices {
  readonly directory: Directory;
  readonly names: Names;
  readonly prices: PriceHistory;
  readonly charts: Charts;
  /** Where the data comes from, for help. */
  readonly source: string;
  /** The names of the other networks that the bot serves. */
  readonly others: readonly string[];
}

/** What a screen may use. */
export interface ScreenContext extends ScreenServices {
  /** The explorer, for the person whose screen it is. */
  readonly explorer: Explorer;
  /** The commands that this person can use, group by group. */
  readonly commands: () => readonly CommandHelp[];
}

/** A screen that turned out to be another one, with a word on why. */
export interface Detour {
  readonly to: ScreenAddress;
  readonly note?: Markdown | undefined;
}

/** A function of its parameters: it loads readings and renders them. Throws ExplorerError. */
export type Screen<Name extends ScreenName> = (
  parameters: ParametersOf<Name>,
  context: ScreenContext,
) => Promise<View | Detour>;
