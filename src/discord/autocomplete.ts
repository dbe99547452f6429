import type { NamedEntry } from "../directory/collections.js";
import { type Directory, entryLabel, type Kind, type Match } from "../directory/directory.js";
import { packId, readId } from "../text/ids.js";
import { clean } from "../text/plain.js";
import { LIMITS } from "./limits.js";
import type { Links } from "./links.js";
import type { Renderer } from "./message.js";

/** A choice that completion offers. */
export interface OfferedChoice {
  readonly name: string;
  readonly value: string;
}

const SIGNS: Readonly<Record<Kind, (entry: NamedEntry) => string>> = {
  validator: ({ active }) => (active === null ? "⚪" : active ? "🟢" : "🔴"),
  proposal: ({ active }) => (active ? "🗳️" : "▫️"),
  party: () => "👤",
  token: () => "🪙",
  voter: () => "🗳️",
};

/** Whose things are offered: how their ids are written, and the network's name if that is to be said. */
interface Offering {
  readonly links: Links;
  readonly renderer: Pick<Renderer, "title">;
}

function toChoice({ kind, entry }: Match, { links, renderer }: Offering): OfferedChoice {
  const kindSign = SIGNS[kind](entry);
  // The part that distinguishes namesakes comes last, followed by the network's name.
  const room = LIMITS.choiceText - kindSign.length - 1 - renderer.title("").length;
  const label = clean(entryLabel(entry, room)).replace(/\s+/g, " ");
  return { name: renderer.title(`${kindSign} ${label}`), value: links.choiceValue(entry.id) };
}

/**
 * The best matches for what has been typed, from memory alone: no keystroke causes a request. Where there is
 * none, one choice says so and holds what was typed, if that fits whole: a part of an id would be no id.
 */
export function toChoices(
  directory: Directory,
  kinds: readonly Kind[],
  typed: string,
  offering: Offering,
): OfferedChoice[] {
  const text = readId(typed);
  const matches = directory.search(kinds, text, LIMITS.choices);
  if (matches.length > 0) return matches.map((match) => toChoice(match, offering));
  const reading = kinds.every((kind) => directory.readAt(kind) === undefined);
  const statusWords = reading
    ? "The names are still being read; a whole id works already"
    : "Nothing known by that name; a whole id works too";
  const value = packId(text || "?");
  return value.length <= LIMITS.choiceText ? [{ name: statusWords, value }] : [];
}
