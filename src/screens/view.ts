import type { Markdown } from "../discord/text.js";
import type { Explorer, Reading } from "../explorer/service.js";
import type { Address, ParametersOf, ScreenName } from "./addresses.js";

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

export interface Menu {
  readonly placeholder: string;
  readonly choices: readonly Choice[];
}

export interface Field {
  readonly name: string;
  readonly value: Markdown;
  /** Beside its neighbours, where there is room. */
  readonly inline?: boolean;
}

/** What a person sees: data, which src/discord turns into a message within Discord's limits. */
export interface View {
  readonly title: Markdown;
  readonly tone: Tone;
  /** Lines, of which the last are dropped where there are too many. */
  readonly body?: readonly Markdown[];
  readonly fields?: readonly Field[];
  /** An http(s) address of a picture. */
  readonly thumbnail?: string | null;
  /** The readings it was made of: the oldest gives the age shown. */
  readonly readings: readonly Reading<unknown>[];
  /** Where it is one of several: its number from 1, and how many there are. */
  readonly pager?: { readonly page: number; readonly pages: number };
  readonly menus?: readonly Menu[];
  readonly links?: readonly Link[];
  /** Where "back" leads for somebody who came from nowhere. */
  readonly parent?: Address;
}

/** What a screen may use. */
export interface ScreenContext {
  /** The explorer, for the person who asked. */
  readonly explorer: Explorer;
}

/** A function of its parameters: it loads readings and renders them. Throws ExplorerError. */
export type Screen<Name extends ScreenName> = (
  parameters: ParametersOf<Name>,
  context: ScreenContext,
) => Promise<View>;
