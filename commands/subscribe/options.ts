import type { SlashCommandSubcommandBuilder } from "@discordjs/builders";
import type { FeedDefinition, FeedOption, SubjectChoice } from "../../src/delivery/feed.js";
import { switchesOf } from "./choice.js";

/** The longest text that an id may be pasted in. */
const MAX_PASTE = 600;

function addOption(
  builder: SlashCommandSubcommandBuilder,
  name: string,
  { description, maxLength, choices }: FeedOption,
  isRequired: boolean,
): void {
  builder.addStringOption((option) => {
    option.setName(name).setDescription(description).setRequired(isRequired);
    return choices
      ? option.addChoices(...Object.entries(choices).map(([value, words]) => ({ name: words, value })))
      : option.setMaxLength(maxLength);
  });
}

/** Adds what a new subscription or watch must say; it stands first (Discord: required options do). */
export function addRequired(
  builder: SlashCommandSubcommandBuilder,
  subject: SubjectChoice | undefined,
  options: FeedDefinition["options"],
): SlashCommandSubcommandBuilder {
  const own = subject?.option;
  if (own)
    builder.addStringOption((option) =>
      option
        .setName(own.name)
        .setDescription(own.description)
        .setRequired(true)
        .setMaxLength(MAX_PASTE)
        .setAutocomplete(true),
    );
  for (const [name, option] of Object.entries(options))
    if (option.isRequired) addOption(builder, name, option, true);
  return builder;
}

/** Adds what else these feeds' subscriptions can be set to; what several of them share stands once. */
export function addSettings(
  builder: SlashCommandSubcommandBuilder,
  feeds: readonly FeedDefinition[],
  isNew: boolean,
): SlashCommandSubcommandBuilder {
  const topics = Object.assign({}, ...feeds.map(switchesOf)) as FeedDefinition["topics"];
  for (const [name, { description, byDefault }] of Object.entries(topics))
    builder.addBooleanOption((option) =>
      option.setName(name).setDescription(`${description} (${byDefault ? "on" : "off"})`),
    );
  const offered = isNew ? feeds : feeds.filter(({ isChangedAnew }) => !isChangedAnew);
  const options = Object.assign({}, ...offered.map((feed) => feed.options)) as FeedDefinition["options"];
  for (const [name, option] of Object.entries(options))
    if (!isNew || !option.isRequired) addOption(builder, name, option, false);
  return builder;
}
