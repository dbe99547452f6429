import { type Directory, isLoading, type Kind, type Match } from "../directory/directory.js";
import { entryLabel } from "../directory/labels.js";
import type { Names } from "../directory/names.js";
import { folded } from "../directory/search.js";
import { KIND_WORDS, MIN_SEARCHED, ofDiscord } from "../screens/lookup.js";
import { DISCORD_LINK, isWholeId, typedId } from "../text/ids.js";
import { escapeText } from "../text/markdown.js";
import { PersonError } from "../util/person-error.js";
import type { Links } from "./links.js";

/** Services that resolve names. */
export interface NameServices {
  readonly directory: Directory;
  readonly names: Pick<Names, "named">;
  readonly links: Pick<Links, "readChoice" | "choiceValue">;
}

/** True for the fingerprint of a party without its hint, which is no whole id. An update's id looks the same. */
const isBareFingerprint = (id: string, kinds: readonly Kind[]): boolean =>
  /^1220[0-9a-f]{64}$/.test(id) && kinds.some((kind) => kind === "validator" || kind === "party");

/** Number of matches that are named in an error message, and the maximum length of each name. */
const MAX_NAMED = 5;
const MAX_NAME = 100;
/** Number of matches among which a part of a name is looked for. */
const MAX_MATCHES = 25;

/** Returns the things whose name contains the typed words, or whose id starts with them. */
function partlyNamed(directory: Directory, kinds: readonly Kind[], typed: string): readonly Match[] {
  const words = folded(typed).trim();
  if ([...words].length < MIN_SEARCHED) return [];
  return directory
    .search(kinds, typed, MAX_MATCHES)
    .filter(({ entry: { name, id } }) => folded(name ?? "").includes(words) || folded(id).startsWith(words));
}

/**
 * Returns the id for a person's input: an autocomplete choice, an id, a name, or a part of a name that exactly one thing has.
 * @param hasSuggestions false for a dialog, which does not complete what people type
 * @throws {PersonError} if the name matches no thing, or several
 */
export async function readThing(
  typed: string,
  kinds: readonly Kind[],
  { directory, names, links }: NameServices,
  hasSuggestions = true,
): Promise<string> {
  const id = typedId((await links.readChoice(typed)) ?? typed);
  if (isWholeId(id) && !isBareFingerprint(id, kinds)) return id;
  const [kind = "validator"] = kinds;
  const kindName = KIND_WORDS[kind];
  const namedMatches = names.named(kinds, id);
  // The name of a thing that is not listed must not mean another one with a similar id.
  const [only, ...others] = namedMatches.length > 0 ? namedMatches : partlyNamed(directory, kinds, id);
  if (only && others.length === 0) return only.entry.id;
  if (only) {
    // The state of a vote request does not tell it from another one.
    const labels = [only, ...others].map(({ entry: { note, ...entry } }) =>
      entryLabel(entry, MAX_NAME, true),
    );
    const moreCount = labels.length - MAX_NAMED;
    const moreWords = labels.length < MAX_MATCHES ? `and ${moreCount} more` : "and more";
    const moreEntries = moreCount > 0 ? [moreWords] : [];
    const listed = escapeText([...labels.slice(0, MAX_NAMED), ...moreEntries].join("; "));
    const remedy = hasSuggestions ? "Pick one of the suggestions as you type." : "Paste a full id instead.";
    throw new PersonError(`That matches several: ${listed}. ${remedy}`);
  }
  if (DISCORD_LINK.test(typed)) throw ofDiscord();
  const remedy = hasSuggestions ? "Pick one of the suggestions as you type" : "Check the spelling";
  throw new PersonError(
    isLoading(directory, kinds)
      ? `Names are still loading. Try again in a minute, or paste the full id of the ${kindName}.`
      : `Can't find a ${kindName} with that name. ${remedy}, or paste its full id.`,
    "missing",
  );
}
