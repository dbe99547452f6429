import type { ChatInputCommandInteraction } from "discord.js";
import { defaultsOf, type FeedDefinition, hasTopic, type SubjectChoice } from "../../src/delivery/feed.js";
import type { Directory, Kind } from "../../src/directory/directory.js";
import type { Links } from "../../src/discord/links.js";
import type { Network, NetworkState } from "../../src/networks/network.js";
import { KIND_WORDS } from "../../src/screens/lookup.js";
import type { Subscription } from "../../src/storage/catalogue.js";
import { isWholeId, readId } from "../../src/text/ids.js";
import { PersonError } from "../../src/util/person-error.js";

/** The options that say which of a channel's subscriptions is meant. */
export const FEED_OPTION = "feed";
export const SUBJECT_OPTION = "subject";

/** A subscription that somebody chose, with its feed. */
export interface Chosen {
  readonly subscription: Subscription;
  readonly feed: FeedDefinition;
  /** What is kept of the network that it is to. */
  readonly of: NetworkState;
  /** That network, where it is served. */
  readonly network: Network | undefined;
}

/** What names are read with. */
export interface NameServices {
  readonly directory: Directory;
  readonly links: Pick<Links, "readChoice" | "choiceValue">;
}

/**
 * The id of what a person named: as it was completed, as an id, or by a name that fits one thing alone.
 * @throws {PersonError} where it fits none, or several
 */
export async function readThing(
  typed: string,
  kinds: readonly Kind[],
  { directory, links }: NameServices,
): Promise<string> {
  const id = readId((await links.readChoice(typed)) ?? typed);
  if (isWholeId(id)) return id;
  const [kind = "validator"] = kinds;
  const what = KIND_WORDS[kind];
  const named = directory.named(kinds, id);
  const [only, ...others] = named.length > 0 ? named : directory.search(kinds, id, 2);
  if (only && others.length === 0) return only.entry.id;
  if (only)
    throw new PersonError(
      `Several things go by that name. Choose one of those that are offered as you type.`,
    );
  throw new PersonError(
    directory.readAt(kind) === undefined
      ? `The names are still being read. Try again in a minute, or paste the whole id of the ${what}.`
      : `No ${what} is known by that name. Choose one of those that are offered as you type, or paste its whole id.`,
    "missing",
  );
}

/** What a new subscription is to be about; null where its feed is about one thing alone. @throws {PersonError} */
export async function chosenSubject(
  { options }: ChatInputCommandInteraction,
  choice: SubjectChoice | undefined,
  settings: Readonly<Record<string, unknown>>,
  services: NameServices,
): Promise<string | null> {
  if (!choice) return null;
  if (!choice.option) return choice.of?.(settings) ?? null;
  const typed = options.getString(choice.option.name);
  return typed === null ? null : readThing(typed, choice.option.kinds, services);
}

/** What each subscription may switch on and off. */
export const switchesOf = ({ topics }: FeedDefinition): FeedDefinition["topics"] =>
  Object.fromEntries(Object.entries(topics).filter(([, { isFixed }]) => !isFixed));

/** The options that not every feed's subscriptions have. */
const ownOptionsOf = (feed: FeedDefinition): readonly string[] => [
  ...(feed.isQuiet ? [] : ["role"]),
  ...(feed.threads ? ["thread"] : []),
  ...Object.keys(switchesOf(feed)),
  ...Object.keys(feed.options),
];

/** @throws {PersonError} for an option that belongs to other feeds alone */
export function checkOptions(
  { options }: ChatInputCommandInteraction,
  feed: FeedDefinition,
  feeds: readonly FeedDefinition[],
): void {
  const own = ownOptionsOf(feed);
  const others = feeds.flatMap(ownOptionsOf).filter((name) => !own.includes(name));
  const given = options.data.flatMap((option) => option.options ?? [option]);
  const foreign = given.find(({ name }) => others.includes(name));
  if (foreign)
    throw new PersonError(`A subscription to ${feed.name} has no \`${foreign.name}\`. Leave it out.`);
}

/** What was typed for a subscription, on top of what it is already set to. @throws {PersonError} for what cannot be read */
export function chosenSettings(
  { options }: ChatInputCommandInteraction,
  feed: FeedDefinition,
  before: Partial<Subscription> | undefined,
) {
  const old = { ...defaultsOf(feed), ...before };
  const flag = (name: string, otherwise: boolean) => options.getBoolean(name) ?? otherwise;
  const topics = Object.keys(feed.topics).map(
    (name) => [name, flag(name, hasTopic(old, feed, name))] as const,
  );
  const texts = Object.entries(feed.options).flatMap(([name, option]) => {
    const typed = options.getString(name);
    if (typed === null) return [];
    const value = option.parse(typed);
    if (value === undefined) throw new PersonError(option.problem);
    return [[name, value] as const];
  });
  return {
    ...old,
    ...Object.fromEntries(texts),
    topics: Object.fromEntries(topics),
    roleId: options.getBoolean("no-role") ? null : (options.getRole("role")?.id ?? old.roleId),
    thread: flag("thread", old.thread),
    publish: flag("publish", old.publish),
  };
}
