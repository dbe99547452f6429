import type { ModalSubmitInteraction } from "discord.js";
import type { FeedDefinition } from "../../src/delivery/feed.js";
import { answersOf, type FormField } from "../../src/discord/forms.js";
import { readThing } from "../../src/discord/named-things.js";
import type { Network } from "../../src/networks/network.js";
import { typedId } from "../../src/text/ids.js";
import { escapeText } from "../../src/text/markdown.js";
import { capitalized, cut } from "../../src/text/plain.js";
import { yieldIfBusy } from "../../src/util/event-loop.js";
import { PersonError } from "../../src/util/person-error.js";

const SUBJECTS = "subjects";
/** Between names. */
const SEPARATOR = /[,;\n]/;
/** Things that one dialog can name. */
const MAX_SUBJECTS = 25;
/** Maximum length of a name in an error message, in characters. */
const MAX_QUOTED = 100;
/** Maximum length of the names in one dialog (Discord: 4,000 characters). It is enough for ids, too. */
const MAX_TEXT = 4_000;

/** Returns the field for the names of subjects. Empty if people do not name the feed's subjects, or the names are too long. */
export function subjectField(feed: FeedDefinition, value: string): FormField[] {
  const option = feed.subject?.option;
  if (!option || value.length > MAX_TEXT) return [];
  const label = `${capitalized(option.name)}s`;
  const groupHint = feed.subject?.group?.hint;
  const hint = `Names or ids, with commas between them (up to ${MAX_SUBJECTS})${groupHint ? `, ${groupHint}` : ""}`;
  return [{ name: SUBJECTS, label, hint, kind: "text", value, maxLength: MAX_TEXT, isRequired: true }];
}

/**
 * Returns a subject as a person would type it: the names of its members. A member whose name is not unique, or cannot be typed, has
 * its id instead.
 */
export async function typedNames(
  { subject }: FeedDefinition,
  id: string,
  services: Network,
): Promise<string> {
  if (!subject?.option) return "";
  const { option } = subject;
  const names = (subject.group?.members(id) ?? [id]).map(async (each) => {
    const name = await subject.nameOf(each, services);
    const [only, ...others] = services.directory.named(option.kinds, name);
    // A name may be the id of something else.
    const isUnique = others.length === 0 && only?.entry.id === each;
    const isPlain = typedId(name) === name && !SEPARATOR.test(name);
    return isUnique && isPlain ? name : each;
  });
  return (await Promise.all(names)).join(", ");
}

/** True if a submitted dialog names subjects. An edit that leaves them as they were does not. */
export const namesSubjects = (click: ModalSubmitInteraction): boolean => answersOf(click).has(SUBJECTS);

/**
 * Returns the subjects that a dialog names: one, if the feed combines them.
 * @throws {PersonError} if a name is not known
 */
export async function subjectsIn(
  click: ModalSubmitInteraction,
  { subject }: FeedDefinition,
  services: Network,
): Promise<readonly string[]> {
  const kinds = subject?.option?.kinds ?? [];
  const names = (answersOf(click).get(SUBJECTS)?.[0] ?? "")
    .split(SEPARATOR)
    .map((each) => each.trim())
    .filter(Boolean);
  if (names.length === 0) throw new PersonError("Type at least one name or id, and try again.");
  if (names.length > MAX_SUBJECTS)
    throw new PersonError(`That's ${names.length} names. The maximum is ${MAX_SUBJECTS}.`);
  const ids: string[] = [];
  for (const typedName of names) {
    // Looking for a part of a name takes long, and a dialog has up to 25.
    await yieldIfBusy();
    const id = await readThing(typedName, kinds, services, false).catch((error: unknown) => {
      if (error instanceof PersonError)
        throw new PersonError(`“${escapeText(cut(typedName, MAX_QUOTED))}”: ${error.message}`);
      throw error;
    });
    if (!ids.includes(id)) ids.push(id);
  }
  if (ids.length === 1 || !subject?.group) return ids;
  subject.group.check?.(ids);
  return [subject.group.of(ids)];
}
