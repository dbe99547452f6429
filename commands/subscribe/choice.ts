import type { ChatInputCommandInteraction } from "discord.js";
import { defaultsOf, type FeedDefinition } from "../../src/delivery/feed.js";
import type { Subscriptions } from "../../src/delivery/subscriptions.js";
import type { Subscription } from "../../src/storage/catalogue.js";
import { PersonError } from "../../src/util/person-error.js";

/** The option that says which of a channel's subscriptions is meant. */
export const FEED_OPTION = "feed";

/** A subscription that somebody chose, with its feed. */
export interface Chosen {
  readonly subscription: Subscription;
  readonly feed: FeedDefinition;
}

/**
 * The subscription of a channel that a command is about.
 * @throws {PersonError} where there is none, or where there are several and none is named
 */
export async function chosenSubscription(
  interaction: ChatInputCommandInteraction,
  subscriptions: Subscriptions,
  feeds: readonly FeedDefinition[],
  channelId: string,
): Promise<Chosen> {
  const wanted = interaction.options.getString(FEED_OPTION);
  const own = (await subscriptions.all()).flatMap((subscription) => {
    const feed = feeds.find(({ name }) => name === subscription.feed);
    const isOurs = subscription.channelId === channelId && (wanted === null || subscription.feed === wanted);
    return feed && isOurs ? [{ subscription, feed }] : [];
  });
  const [only, ...others] = own;
  if (!only) {
    throw new PersonError(
      `<#${channelId}> is not subscribed. \`/subscribe ${wanted ?? feeds[0]?.name}\` subscribes it.`,
    );
  }
  if (others.length > 0)
    throw new PersonError(`<#${channelId}> has several subscriptions: choose one with \`${FEED_OPTION}\`.`);
  return only;
}

/** What every feed's subscriptions can be set to, and which of them is meant. */
const COMMON = ["channel", FEED_OPTION, "role", "no-role", "publish"];

/** A feed with a single topic has no switch for it. */
export const switchesOf = ({ topics }: FeedDefinition): FeedDefinition["topics"] =>
  Object.keys(topics).length > 1 ? topics : {};

/** The names of the options that a subscription to a feed takes. */
const optionsOf = (feed: FeedDefinition): readonly string[] => [
  ...COMMON,
  ...(feed.threads ? ["thread"] : []),
  ...Object.keys(switchesOf(feed)),
  ...Object.keys(feed.options),
];

/** What was typed for a subscription, on top of what it is already set to. @throws {PersonError} for what cannot be read */
export function chosenSettings(
  { options }: ChatInputCommandInteraction,
  feed: FeedDefinition,
  before: Subscription | undefined,
) {
  const old = before ?? defaultsOf(feed);
  const given = options.data.flatMap((option) => option.options ?? [option]);
  const foreign = given.find(({ name }) => !optionsOf(feed).includes(name));
  if (foreign)
    throw new PersonError(`A subscription to ${feed.name} has no \`${foreign.name}\`. Leave it out.`);
  const flag = (name: string, otherwise: boolean) => options.getBoolean(name) ?? otherwise;
  const topics = Object.keys(feed.topics).map(
    (name) => [name, flag(name, old.topics[name] ?? false)] as const,
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
