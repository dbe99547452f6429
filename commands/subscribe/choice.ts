import type { ChatInputCommandInteraction } from "discord.js";
import type { Subscription } from "../../src/delivery/collections.js";
import { defaultsOf, type FeedDefinition, hasTopic, type SubjectChoice } from "../../src/delivery/feed.js";
import { type NameServices, readThing } from "../../src/discord/named-things.js";
import { PersonError } from "../../src/util/person-error.js";
import { present } from "../../src/util/present.js";

/** Options that select one of a channel's subscriptions. */
export const FEED_OPTION = "feed";
export const SUBJECT_OPTION = "subject";

/** Returns the subject that a command names, or null if it names none. @throws {PersonError} */
export async function namedSubject(
  { options }: ChatInputCommandInteraction,
  choice: SubjectChoice | undefined,
  services: NameServices,
): Promise<string | null> {
  if (!choice?.option) return null;
  const typedSubject = options.getString(choice.option.name);
  return typedSubject === null ? null : readThing(typedSubject, choice.option.kinds, services);
}

/** Returns the topics that each subscription can switch on and off. */
export const switchesOf = ({ topics }: FeedDefinition): FeedDefinition["topics"] =>
  Object.fromEntries(Object.entries(topics).filter(([, { isFixed }]) => !isFixed));

/** Returns a feed's options that not every feed has. */
const ownOptionsOf = (feed: FeedDefinition): readonly string[] =>
  present([
    !feed.isQuiet && "role",
    feed.threads && "thread",
    ...Object.keys(switchesOf(feed)),
    ...Object.keys(feed.options),
  ]);

/** Returns the name of a given option that only other feeds have. `undefined` if there is none. */
export function foreignOption(
  { options }: ChatInputCommandInteraction,
  feed: FeedDefinition,
  feeds: readonly FeedDefinition[],
): string | undefined {
  const ownOptions = ownOptionsOf(feed);
  const foreignOptions = feeds.flatMap(ownOptionsOf).filter((name) => !ownOptions.includes(name));
  const givenOptions = options.data.flatMap((option) => option.options ?? [option]);
  return givenOptions.find(({ name }) => foreignOptions.includes(name))?.name;
}

/** Settings that a person gave: in a command's options, or in a dialog. Those that are not given stay as they are. */
export interface GivenSettings {
  /** Text of one of the feed's options. `null` if it is not given. */
  text(name: string): string | null;
  /** Switches a topic, `thread` or `publish`. `null` if it is not given. */
  flag(name: string): boolean | null;
  /** True for a dialog, which shows all options, also those that have no effect. */
  readonly isForm?: boolean;
  /** `null` for no role, `undefined` if it is not given. */
  readonly roleId: string | null | undefined;
}

/** Returns the settings in a command's options. @throws {PersonError} for a role together with `no-role` */
export function settingsIn({ options }: ChatInputCommandInteraction): GivenSettings {
  const roleId = options.getRole("role")?.id;
  const isWithout = options.getBoolean("no-role") === true;
  if (isWithout && roleId !== undefined)
    throw new PersonError("`role` and `no-role` contradict each other. Leave one of them out.");
  return {
    text: (name) => options.getString(name),
    flag: (name) => options.getBoolean(name),
    roleId: isWithout ? null : roleId,
  };
}

/** Returns a subscription's settings, updated with the given ones. @throws {PersonError} if a text cannot be parsed */
export function chosenSettings(
  given: GivenSettings,
  feed: FeedDefinition,
  before: Partial<Subscription> | undefined,
) {
  const oldSettings = { ...defaultsOf(feed), ...before };
  const flag = (name: string, otherwise: boolean) => given.flag(name) ?? otherwise;
  const topics = Object.keys(feed.topics).map(
    (name) => [name, flag(name, hasTopic(oldSettings, feed, name))] as const,
  );
  const texts = Object.entries(feed.options).flatMap(([name, option]) => {
    const typedValue = given.text(name);
    if (typedValue === null) return [];
    const value = option.parse(typedValue);
    if (value === undefined) throw new PersonError(option.limit?.(typedValue) ?? option.problem);
    return [[name, value] as const];
  });
  const newSettings = { ...oldSettings, ...Object.fromEntries(texts) };
  const contradiction = feed.contradiction?.(
    newSettings,
    texts.map(([name]) => name),
  );
  if (contradiction !== undefined && given.isForm !== true) throw new PersonError(contradiction);
  return {
    ...newSettings,
    chosen: [...new Set([...(before?.chosen ?? []), ...texts.map(([name]) => name)])],
    topics: Object.fromEntries(topics),
    roleId: given.roleId === undefined ? oldSettings.roleId : given.roleId,
    thread: flag("thread", oldSettings.thread),
    publish: flag("publish", oldSettings.publish),
  };
}
