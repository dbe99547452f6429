import type { ModalSubmitInteraction } from "discord.js";
import { draftOf, type FeedDefinition } from "../../src/delivery/feed.js";
import { answersOf, type Form, type FormField } from "../../src/discord/forms.js";
import { readThing } from "../../src/discord/named-things.js";
import type { Network } from "../../src/networks/network.js";
import { capitalized } from "../../src/text/plain.js";
import { PersonError } from "../../src/util/person-error.js";
import { CHANNELS, settingFields } from "../subscribe/form.js";

const CHANNEL = "channel";
const SUBJECTS = "subjects";
/** Things that one dialog can name. */
const MAX_SUBJECTS = 25;
/** Maximum length of the names in one dialog (Discord: 4,000 characters). It is enough for ids, too. */
const MAX_TEXT = 4_000;

function subjectField(feed: FeedDefinition, value: string): FormField[] {
  const option = feed.subject?.option;
  if (!option) return [];
  const label = `${capitalized(option.name)}s`;
  const isCombined = option.kinds.includes("group");
  const hint = `Names or ids, with commas between them (up to ${MAX_SUBJECTS})${isCombined ? ", or: all super validators" : ""}`;
  return [{ name: SUBJECTS, label, hint, kind: "text", value, maxLength: MAX_TEXT, isRequired: true }];
}

/**
 * Returns the dialog that adds a subscription. What must be answered comes first.
 * @param subjects names or ids that are filled in
 */
export function addForm(feed: FeedDefinition, channelId: string, subjects = ""): Form {
  const settings = settingFields(draftOf(feed), feed);
  const isRequired = ({ name }: FormField) => feed.options[name]?.isRequired === true;
  const fields: FormField[] = [
    { name: CHANNEL, label: "Channel", kind: "channel", chosen: channelId, types: CHANNELS },
    ...subjectField(feed, subjects),
    ...settings.filter(isRequired),
    ...settings.filter((each) => !isRequired(each)),
  ];
  return { title: `Add ${feed.name}`, fields };
}

/** Returns the channel in a submitted dialog. @throws {PersonError} */
export function channelIn(click: ModalSubmitInteraction): string {
  const channelId = answersOf(click).get(CHANNEL)?.[0];
  if (channelId === undefined) throw new PersonError("Pick a channel, and try again.");
  return channelId;
}

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
  const typedNames = (answersOf(click).get(SUBJECTS)?.[0] ?? "")
    .split(/[,;\n]/)
    .map((each) => each.trim())
    .filter(Boolean);
  if (typedNames.length === 0) throw new PersonError("Type at least one name or id, and try again.");
  if (typedNames.length > MAX_SUBJECTS)
    throw new PersonError(`That's ${typedNames.length} names. The maximum is ${MAX_SUBJECTS}.`);
  const ids: string[] = [];
  for (const typedName of typedNames) {
    const id = await readThing(typedName, kinds, services).catch((error: unknown) => {
      if (error instanceof PersonError) throw new PersonError(`“${typedName}”: ${error.message}`);
      throw error;
    });
    if (!ids.includes(id)) ids.push(id);
  }
  const isGroup = ids.length > 1 && ids.some((id) => services.directory.entry("group", id));
  if (isGroup)
    throw new PersonError(
      "A group such as “All super validators” is a subscription of its own. Type it alone.",
    );
  return ids.length > 1 && subject?.combine ? [subject.combine(ids)] : ids;
}
