import { ChannelType, type ModalSubmitInteraction } from "discord.js";
import type { Subscription } from "../../src/delivery/collections.js";
import { type FeedDefinition, type FeedOption, hasTopic, optionOf } from "../../src/delivery/feed.js";
import { answersOf, type FormField, shownBits } from "../../src/discord/forms.js";
import { LIMITS } from "../../src/discord/limits.js";
import { capitalized } from "../../src/text/plain.js";
import { present } from "../../src/util/present.js";
import { type GivenSettings, switchesOf } from "./choice.js";

/** Types of channels that can be subscribed. */
export const CHANNELS = [
  ChannelType.GuildText,
  ChannelType.GuildAnnouncement,
  ChannelType.AnnouncementThread,
  ChannelType.PublicThread,
  ChannelType.PrivateThread,
  ChannelType.GuildForum,
] as const;

/** On/off settings of a subscription besides a feed's topics. */
export const DELIVERY_FLAGS = {
  thread: "Open a thread under each announcement",
  publish: "Publish in announcement channels",
} as const;

const ROLE = "role";
const TOPICS = "topics";

/** Returns a description without its default, which does not apply to an edit. */
export const plainDescription = (description: string): string => description.replace(/ \(default: .*\)$/, "");

/** Returns a value of an option as a person would type it. */
const typedValue = <Value>(option: FeedOption<Value>, value: Value): string =>
  option.format?.(value) ?? String(value ?? "");

const typedText = <Value>(subscription: Subscription, name: string, option: FeedOption<Value>): string =>
  typedValue(option, optionOf(subscription, name, option));

function optionField(subscription: Subscription, name: string, option: FeedOption): FormField {
  const description = plainDescription(option.description);
  const isShort = description.length <= LIMITS.inputLabel;
  const words = isShort ? { label: description } : { label: capitalized(name), hint: option.description };
  const value = typedText(subscription, name, option);
  if (!option.choices) {
    const isRequired = option.isRequired === true;
    return { ...words, name, kind: "text", value, maxLength: option.maxLength, isRequired };
  }
  const options = Object.entries(option.choices).map(([each, label]) => ({
    value: each,
    label,
    isChosen: each === value,
  }));
  return { ...words, name, kind: "radio", options };
}

/** Returns the topics and flags that can be switched, with their words. */
const switchWords = (feed: FeedDefinition): readonly (readonly [name: string, words: string])[] => [
  ...Object.entries(switchesOf(feed)).map(([name, { description }]) => [name, description] as const),
  ...Object.entries(DELIVERY_FLAGS).filter(([name]) => name !== "thread" || feed.threads),
];

function switchField(subscription: Subscription, feed: FeedDefinition): FormField {
  const isOn = (name: string) => {
    if (name in feed.topics) return hasTopic(subscription, feed, name);
    return name === "thread" ? subscription.thread : subscription.publish;
  };
  const options = switchWords(feed).map(([value, label]) => ({ value, label, isChosen: isOn(value) }));
  return { name: TOPICS, label: "What to post", kind: "checks", options };
}

/** Returns the fields for a subscription's settings. The feed's options come before switches that are no topics of it. */
export function settingFields(subscription: Subscription, feed: FeedDefinition): FormField[] {
  const role: FormField = {
    name: ROLE,
    label: "Role to ping",
    kind: "role",
    chosen: subscription.roleId ?? undefined,
  };
  const switches = switchField(subscription, feed);
  const options = Object.entries(feed.options).map(([name, option]) =>
    optionField(subscription, name, option),
  );
  const hasTopics = Object.keys(switchesOf(feed)).length > 0;
  return present([hasTopics && switches, !feed.isQuiet && role, ...options, !hasTopics && switches]);
}

/**
 * Returns the settings in a submitted dialog. A text that the person left as it was is not given, and one that was deleted is the
 * option's default.
 * @param before the subscription whose settings the dialog showed; the defaults if it is missing
 */
export function settingsInForm(
  click: ModalSubmitInteraction,
  feed: FeedDefinition,
  before: Subscription | undefined,
): GivenSettings {
  const answers = answersOf(click);
  const topics = answers.get(TOPICS);
  return {
    isForm: true,
    text(name) {
      const option = feed.options[name];
      const typedAnswer = answers.get(name)?.[0];
      if (!option || typedAnswer === undefined) return null;
      const isDeleted = typedAnswer.trim() === "" && !option.isRequired;
      const typed = isDeleted ? typedValue(option, option.byDefault) : typedAnswer;
      return before && typed.trim() === typedText(before, name, option) ? null : typed;
    },
    flag(name) {
      const index = switchWords(feed).findIndex(([each]) => each === name);
      if (!topics || index < 0) return null;
      // A switch that the person left as it was may have been changed by another person meanwhile.
      const wasOn = answers.get(shownBits(TOPICS))?.[0]?.[index];
      const isOn = topics.includes(name);
      return wasOn === String(Number(isOn)) ? null : isOn;
    },
    roleId: answers.has(ROLE) ? (answers.get(ROLE)?.[0] ?? null) : undefined,
  };
}
