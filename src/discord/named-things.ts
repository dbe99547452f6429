import { type Directory, folded, type Kind, type Match } from "../directory/directory.js";
import { KIND_WORDS, MIN_SEARCHED } from "../screens/lookup.js";
import { isWholeId, typedId } from "../text/ids.js";
import { PersonError } from "../util/person-error.js";
import type { Links } from "./links.js";

/** Services that resolve names. */
export interface NameServices {
  readonly directory: Directory;
  readonly links: Pick<Links, "readChoice" | "choiceValue">;
}

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
 * Returns the id for a person's input: an autocomplete choice, an id, a name, or a part of a name that exactly one thing
 * has.
 * @param hasSuggestions false for a dialog, which does not complete what people type
 * @throws {PersonError} if the name matches no thing, or several
 */
export async function readThing(
  typed: string,
  kinds: readonly Kind[],
  { directory, links }: NameServices,
  hasSuggestions = true,
): Promise<string> {
  const id = typedId((await links.readChoice(typed)) ?? typed);
  if (isWholeId(id)) return id;
  const [kind = "validator"] = kinds;
  const kindName = KIND_WORDS[kind];
  const namedMatches = directory.named(kinds, id);
  // The name of a thing that is not listed must not stand for another one with a similar id.
  const [only, ...others] = namedMatches.length > 0 ? namedMatches : partlyNamed(directory, kinds, id);
  if (only && others.length === 0) return only.entry.id;
  if (only)
    throw new PersonError(
      hasSuggestions
        ? "Several things have that name. Pick one of the suggestions as you type."
        : "Several things have that name. Paste a full id instead.",
    );
  const remedy = hasSuggestions ? "Pick one of the suggestions as you type" : "Check the spelling";
  throw new PersonError(
    directory.readAt(kind) === undefined
      ? `Names are still loading. Try again in a minute, or paste the full id of the ${kindName}.`
      : `Can't find a ${kindName} with that name. ${remedy}, or paste its full id.`,
    "missing",
  );
}
