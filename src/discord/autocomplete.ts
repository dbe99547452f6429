import { type Directory, type Entry, entryLabel, type Kind, type Match } from "../explorer/directory.js";
import { clean, cut } from "../explorer/values.js";
import { packId, readId } from "../screens/ids.js";
import { LIMITS } from "./limits.js";
import { type IdKeys, keyOf } from "./links.js";

/** What is offered while somebody types. */
export interface OfferedChoice {
  readonly name: string;
  readonly value: string;
}

/** An id as a choice's value: packed as in an address, or its key where it does not fit. */
function choiceValue(id: string, keys: IdKeys): string {
  const packed = packId(id);
  if (packed.length <= LIMITS.choiceText) return packed;
  const key = keyOf(id);
  keys.remember(key, id);
  return key;
}

const SIGNS: Readonly<Record<Kind, (entry: Entry) => string>> = {
  validator: ({ active }) => (active === null ? "⚪" : active ? "🟢" : "🔴"),
  proposal: ({ active }) => (active ? "🗳️" : "▫️"),
  party: () => "👤",
  token: () => "🪙",
};

function toChoice({ kind, entry }: Match, keys: IdKeys): OfferedChoice {
  const sign = SIGNS[kind](entry);
  const label = clean(entryLabel(entry, LIMITS.choiceText - sign.length - 1)).replace(/\s+/g, " ");
  return { name: `${sign} ${label}`, value: choiceValue(entry.id, keys) };
}

/**
 * The best matches for what has been typed, from memory alone: nobody is asked anything for a keystroke. Where a list
 * has not been read yet, one choice says so and holds what was typed.
 */
export function toChoices(
  directory: Directory,
  kinds: readonly Kind[],
  typed: string,
  keys: IdKeys,
): OfferedChoice[] {
  const text = readId(typed);
  const matches = directory.search(kinds, text, LIMITS.choices);
  if (matches.length > 0) return matches.map((match) => toChoice(match, keys));
  const reading = kinds.every((kind) => directory.readAt(kind) === undefined);
  const words = reading
    ? "The names are still being read; a whole id works already"
    : "Nothing known by that name; a whole id works too";
  return [{ name: words, value: cut(text, LIMITS.choiceText - 1) || "?" }];
}

/** The id of the one thing that goes by this name; what was given where there is none, or several. */
export function unlessNamed(directory: Directory, kinds: readonly Kind[], given: string): string {
  const [match, ...others] = directory.named(kinds, readId(given));
  return match && others.length === 0 ? `!${match.entry.id}` : given;
}
