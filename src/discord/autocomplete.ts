import type { NamedEntry } from "../directory/collections.js";
import { type Directory, isLoading, type Kind, type Match } from "../directory/directory.js";
import { areTwins, entryLabel, oncePerThing } from "../directory/labels.js";
import type { Names } from "../directory/names.js";
import type { Interval } from "../ledger/network-rhythm.js";
import { STANDING_SIGNS } from "../screens/parts.js";
import { directoryStandings } from "../screens/standings.js";
import { packId, readId } from "../text/ids.js";
import { cut, unbroken } from "../text/plain.js";
import { LIMITS } from "./limits.js";
import type { Links } from "./links.js";
import type { Renderer } from "./message.js";

/** An autocomplete choice. */
export interface OfferedChoice {
  readonly name: string;
  readonly value: string;
}

/** Returns the choices that Discord accepts (Discord: 25 choices; names and values of 1 to 100 characters). It refuses all if one is wrong. */
export const allowedChoices = (choices: readonly OfferedChoice[]): OfferedChoice[] =>
  choices
    .filter(({ name, value }) => name !== "" && value !== "" && value.length <= LIMITS.choiceText)
    .slice(0, LIMITS.choices)
    .map(({ name, value }) => ({ name: cut(name, LIMITS.choiceText), value }));

/** Returns the choices that contain the typed text, each value once (Discord: 25 choices). */
export function matchingChoices(choices: readonly OfferedChoice[], typedText: string): OfferedChoice[] {
  const wanted = typedText.toLowerCase();
  const matches = choices.filter(({ name }) => name.toLowerCase().includes(wanted));
  const isFirst = ({ value }: OfferedChoice, index: number) =>
    matches.findIndex((each) => each.value === value) === index;
  return matches.filter(isFirst).slice(0, LIMITS.choices);
}

const SIGNS: Readonly<Record<Exclude<Kind, "validator">, (entry: NamedEntry) => string>> = {
  proposal: ({ active }) => (active ? "🗳️" : "▫️"),
  party: () => "👤",
  token: () => "🪙",
  voter: () => "🗳️",
  group: () => "👥",
};

/** The parts of a network that its choices are made from. */
export interface Offering {
  readonly directory: Directory;
  readonly names: Pick<Names, "named">;
  readonly links: Links;
  /** Adds the network's name if there are several. */
  readonly renderer: Pick<Renderer, "title">;
  /** Returns how often a validator reports. */
  readonly intervals: (party: string | null) => Pick<Interval, "ms">;
}

/** Returns the sign on a validator's screen. */
function reportSign({ id, seenAt = null }: NamedEntry, { directory, intervals }: Offering): string {
  const { standing } = directoryStandings(directory, intervals)({ validator: id, lastActiveAt: seenAt });
  return STANDING_SIGNS[standing];
}

/** Returns a match's sign and its label, cut to the room that Discord leaves. @param namesakes other matches with the same label */
function labelFor({ kind, entry }: Match, namesakes: readonly Match[], offering: Offering) {
  const sign = kind === "validator" ? reportSign(entry, offering) : SIGNS[kind](entry);
  // Reserve room for the sign and the network's name, so that the label's end, which distinguishes namesakes, is not cut.
  const room = LIMITS.choiceText - sign.length - 1 - offering.renderer.title("").length;
  const hasTwin = namesakes.some((each) => areTwins(each.entry, entry));
  const label = unbroken(entryLabel(entry, room, namesakes.length > 0, hasTwin));
  return { sign, label };
}

/**
 * Returns the best matches for the typed text. It reads only from memory, so that keystrokes cause no requests. Without a match,
 * it returns one choice that says so. That choice's value is the typed text, and it is left out if the text is too long, because
 * a cut id would be invalid.
 */
export function toChoices(kinds: readonly Kind[], typed: string, offering: Offering): OfferedChoice[] {
  const { directory, names } = offering;
  const text = readId(typed);
  // Half of the matches may be the same things as parties.
  const similar = directory.suggest(kinds, text, 2 * LIMITS.choices);
  // Shortened ids and names with their marks are not indexed.
  const foundMatches = similar.length > 0 ? similar : names.named(kinds, text);
  const matches = oncePerThing(foundMatches).slice(0, LIMITS.choices);
  const labelled = matches.map((match) => ({ match, ...labelFor(match, [], offering) }));
  if (matches.length > 0)
    return labelled.map((each) => {
      // Long names may differ only where they are cut.
      const namesakes = labelled.filter((other) => other !== each && other.label === each.label);
      const { sign, label } =
        namesakes.length === 0
          ? each
          : labelFor(
              each.match,
              namesakes.map(({ match }) => match),
              offering,
            );
      return {
        name: offering.renderer.title(`${sign} ${label}`),
        value: offering.links.choiceValue(each.match.entry.id),
      };
    });
  const statusWords = isLoading(directory, kinds)
    ? "Names are still loading. You can paste a full id."
    : "No match. You can also paste a full id.";
  const value = packId(text || "?");
  return value.length <= LIMITS.choiceText ? [{ name: statusWords, value }] : [];
}
