import type { ModalSubmitInteraction } from "discord.js";
import { draftOf, type FeedDefinition } from "../../src/delivery/feed.js";
import { answersOf, type Form, type FormField } from "../../src/discord/forms.js";
import { PersonError } from "../../src/util/person-error.js";
import { CHANNELS, settingFields } from "../subscribe/form.js";
import { subjectField } from "../subscribe/subjects.js";

const CHANNEL = "channel";

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
