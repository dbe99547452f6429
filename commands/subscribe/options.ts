import type { SlashCommandSubcommandBuilder } from "@discordjs/builders";
import type { FeedDefinition, FeedOption, SubjectChoice } from "../../src/delivery/feed.js";
import { withId } from "../options.js";
import { switchesOf } from "./choice.js";
import { plainDescription } from "./form.js";

function addOption(
  builder: SlashCommandSubcommandBuilder,
  name: string,
  { description, maxLength, choices }: FeedOption,
  isRequired: boolean,
  isNew = true,
): void {
  builder.addStringOption((option) => {
    // An option that is left out of an edit keeps its value.
    option.setName(name).setDescription(isNew ? description : plainDescription(description));
    option.setRequired(isRequired);
    return choices
      ? option.addChoices(...Object.entries(choices).map(([value, words]) => ({ name: words, value })))
      : option.setMaxLength(maxLength);
  });
}

/**
 * Adds the required options of a new subscription or watch. Call it before `addSettings`: Discord wants required options first.
 */
export function addRequired(
  builder: SlashCommandSubcommandBuilder,
  subject: SubjectChoice | undefined,
  options: FeedDefinition["options"],
): SlashCommandSubcommandBuilder {
  const subjectOption = subject?.option;
  if (subjectOption) withId(builder, subjectOption.name, subjectOption.description, true);
  for (const [name, option] of Object.entries(options))
    if (option.isRequired) addOption(builder, name, option, true);
  return builder;
}

/** Maximum number of feeds' settings in `/subscribe edit`. Discord allows 25 options, and eight are about the subscription itself. */
const MAX_EDITED = 17;

/** Returns the feeds whose settings fit into `/subscribe edit`. Those of others are typed by subscribing again. */
function editable(feeds: readonly FeedDefinition[]): readonly FeedDefinition[] {
  let names: ReadonlySet<string> = new Set();
  return feeds.filter((feed) => {
    const all = new Set([...names, ...Object.keys(switchesOf(feed)), ...Object.keys(feed.options)]);
    if (feed.isTypedAgain || all.size > MAX_EDITED) return false;
    names = all;
    return true;
  });
}

/** Adds the other settings of these feeds. Options that several feeds share are added once. */
export function addSettings(
  builder: SlashCommandSubcommandBuilder,
  feeds: readonly FeedDefinition[],
  isNew: boolean,
): SlashCommandSubcommandBuilder {
  const offered = isNew ? feeds : editable(feeds);
  const topics = Object.assign({}, ...offered.map(switchesOf)) as FeedDefinition["topics"];
  for (const [name, { description, byDefault }] of Object.entries(topics))
    builder.addBooleanOption((option) =>
      option
        .setName(name)
        .setDescription(isNew ? `${description} (default: ${byDefault ? "on" : "off"})` : description),
    );
  const options = Object.assign({}, ...offered.map((feed) => feed.options)) as FeedDefinition["options"];
  for (const [name, option] of Object.entries(options))
    if (!isNew || !option.isRequired) addOption(builder, name, option, false, isNew);
  return builder;
}
