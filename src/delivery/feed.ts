import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import type { Directory, Kind } from "../directory/directory.js";
import type { Names } from "../directory/names.js";
import type { MessagePayload, Renderer } from "../discord/message.js";
import type { PermissionName } from "../discord/permissions.js";
import type { Explorer } from "../explorer/service.js";
import type { Rhythms } from "../ledger/network-rhythm.js";
import type { ScreenName } from "../screens/addresses.js";
import type { View } from "../screens/view.js";
import type { State } from "../storage/state.js";
import type { Write } from "../storage/store.js";
import type { Markdown } from "../text/markdown.js";
import type { Subscription } from "./collections.js";

/** A topic of a feed. Its slash option, its default and its text in lists derive from it. */
export interface Topic {
  /** Description of the slash option, before the default (Discord: 100 characters in total). */
  readonly description: string;
  readonly byDefault: boolean;
  /** True if every subscription includes it. */
  readonly isFixed?: boolean;
  /** Permissions that the bot needs for the topic, in addition to those for any announcement. */
  readonly needs?: readonly PermissionName[];
  /** Returns the text for a list of a channel's topics, such as "outages". */
  readonly words: (subscription: Subscription) => string;
}

/** An option of a feed's subscriptions, typed as text or chosen. */
export interface FeedOption<Value = unknown> {
  readonly description: string;
  /** Maximum length of the typed text. */
  readonly maxLength: number;
  /** The only allowed values, with their labels. */
  readonly choices?: Readonly<Record<string, string>>;
  /** True if a new subscription must set it. */
  readonly isRequired?: boolean;
  readonly byDefault: Value;
  /** A default of earlier versions, which they stored without being asked. It counts as not chosen. */
  readonly formerDefault?: Value;
  readonly schema: z.ZodType<Value>;
  /** Parses the typed text. `undefined` if it is invalid. */
  parse(text: string): Value | undefined;
  /** Returns a value as a person would type it. Missing if the value is text. */
  format?(value: Value): string;
  /** Error message for an invalid text. */
  readonly problem: string;
  /** Returns a more specific error message for a valid value that is out of range. */
  limit?(text: string): string | undefined;
}

/** Creates an option whose values are the keys of these labels. */
export function oneOf<Values extends Readonly<Record<string, string>>>(
  description: string,
  values: Values,
  byDefault: keyof Values & string,
  isRequired = false,
): FeedOption<keyof Values & string> {
  const keys = Object.keys(values) as (keyof Values & string)[];
  return {
    description,
    maxLength: 10,
    choices: values,
    isRequired,
    byDefault,
    schema: z.literal(keys),
    parse: (text) => keys.find((key) => key === text),
    problem: `Choose one of: ${keys.join(", ")}.`,
  };
}

/** Sources of names. */
export interface NameSources {
  readonly names: Names;
  readonly directory: Directory;
  readonly state: State;
}

/** The subjects that subscriptions of a feed can have. */
export interface SubjectChoice {
  /** The slash option for the subject, and the kinds that it completes. Missing if other options determine the subject. */
  readonly option?: { readonly name: string; readonly description: string; readonly kinds: readonly Kind[] };
  /**
   * Converts between a subject and the options that imply it.
   * @param before the options before an edit
   * @throws {PersonError} if the options do not fit together
   */
  of?(settings: Readonly<Record<string, unknown>>, before?: Readonly<Record<string, unknown>>): string;
  settings?(subject: string): Readonly<Record<string, unknown>> | undefined;
  /**
   * Returns the subject as it is stored, because a thing may have several ids.
   * @throws {PersonError} if it does not exist
   */
  check?(subject: string, deps: AnswerDeps): Promise<string>;
  /** Combines several subjects into one, for one subscription to all of them. Missing if each needs its own subscription. */
  readonly group?: {
    of(subjects: readonly string[]): string;
    /** Splits a combined subject. Returns a single one as its only member. */
    members(subject: string): readonly string[];
    /** Hint for a dialog's field, after "names or ids". */
    readonly hint?: string;
    /** @throws {PersonError} if these subjects cannot be combined */
    check?(subjects: readonly string[]): void;
  };
  /** Returns the subject's name. It may be untrusted text. */
  nameOf(subject: string, named: NameSources): string | Promise<string>;
}

/** A private watch that a feed offers. */
export interface WatchChoice {
  /** Name of the subcommand of /watch. */
  readonly name: string;
  readonly description: string;
  readonly subject: SubjectChoice;
  /** True if a subscription's subject belongs to this watch. Missing if the feed has only one watch. */
  owns?(subject: string): boolean;
  /** The screen with a "Watch" button, and the conversion from the screen's id to a subject. */
  readonly screen?: {
    readonly name: ScreenName;
    subjectOf(id: string): string;
    /** True if the screen also offers the feed to channels. */
    readonly isForChannels?: boolean;
  };
  /** Returns the choices of the menu under the offer: other subjects, or values of the feed's first option. */
  offered?(
    subject: string,
  ): readonly { readonly label: string; readonly id: string; readonly set?: string }[];
  /** Default settings of a watch. */
  readonly settings?: Readonly<Record<string, unknown>> & {
    readonly topics: Readonly<Record<string, boolean>>;
  };
}

/** Dependencies for answering a person who subscribes. */
export interface AnswerDeps extends NameSources {
  /** Explorer client with the person's rate limit. */
  readonly explorer: Explorer;
  /** The subscriptions of servers, by server and feed. */
  readonly subscriptions: { activeIn(guildId: string, feed: string): Promise<readonly Subscription[]> };
  readonly renderer: Renderer;
  readonly rhythms: Rhythms;
  readonly now: number;
}

/** The static part of a feed, which needs no connection. */
export interface FeedDefinition {
  /** Name of the feed, of its subcommand of /subscribe and of its part of the state. It can never change. */
  readonly name: string;
  /** Description of the subcommand. */
  readonly description: string;
  /** Noun for a message that begins a subject, such as "outage". */
  readonly thing: string;
  readonly topics: Readonly<Record<string, Topic>>;
  readonly options: Readonly<Record<string, FeedOption>>;
  /** Returns why the options that a person typed contradict the settings. `undefined` if they do not. */
  contradiction?(settings: Readonly<Record<string, unknown>>, typed: readonly string[]): string | undefined;
  /**
   * True if options and topics can only be typed by subscribing again, because /subscribe edit has no room for them
   * (Discord: 25 options).
   */
  readonly isTypedAgain?: boolean;
  /** Topics and options whose change resets the feed's state of a subscription. By default, all of them. */
  readonly restartedBy?: readonly string[];
  /** True if its messages never ping, so that no role can be chosen. */
  readonly isQuiet?: boolean;
  /** Words that say which messages ping the role, for the end of a sentence. Without it, all of them do. */
  readonly pings?: string;
  /** True if a message may open a thread. False for messages about several subjects. */
  readonly threads: boolean;
  /** Matches suitable forum tags, if a forum requires one. */
  readonly tagName: RegExp;
  /** Returns a message as it would be announced now, for a drill. */
  sample(deps: AnswerDeps, subscription: Subscription, mark: string): Promise<View>;
  /** Missing if subscriptions have no subject. */
  readonly subject?: SubjectChoice;
  /** Private watches that the feed offers. */
  readonly watches?: readonly WatchChoice[];
  /**
   * Returns lines about what a server has set up besides the rows of its subscriptions, for /setup.
   * @param own the server's subscriptions to the feed
   * @param option words for the option that a command needs for this network (`Renderer.networkOption`)
   */
  serverLines?(
    state: State,
    guildId: string,
    own: readonly Subscription[],
    option: Markdown,
  ): Promise<readonly Markdown[]>;
  /**
   * Returns lines about the subjects as they are now, for a new subscriber and after a pause. What is open already is not announced,
   * unless a line says so.
   */
  standing(deps: AnswerDeps, subscription: Subscription): Promise<readonly Markdown[]>;
  /** Returns the time of the last read, for the list of subscriptions. Missing if each subscription has its own. */
  lastRead?(state: State): Promise<Markdown | undefined>;
  /** Returns the current state of a subscription's subject, and its last event. `undefined` without a subject. */
  nowOf?(sources: NameSources, subscription: Subscription): Promise<Markdown | undefined>;
  /** True if a subscription gets no more messages, such as one to a single alert. Without it, no subscription is done. */
  isDone?(state: State, subscription: Subscription): Promise<boolean>;
}

/** People and roles that a message notifies. */
export interface Mentions {
  readonly userIds: readonly string[];
  readonly roleIds: readonly string[];
}

/** A rendered event. */
export interface Rendered {
  readonly payload: MessagePayload;
  /** People and roles to notify in addition to the subscriptions' own roles. */
  readonly mentions?: Mentions;
  /** Title of the thread or the forum's post. */
  readonly title: string;
  readonly revision: number;
  /**
   * True if the message begins a subject and says that it has already ended. It then pings no one, and news that was queued
   * before it is dropped.
   */
  readonly isOver?: boolean;
}

/** Current state of a subject. */
export interface SubjectState {
  /** Increases with every change that the subject's message shows. */
  readonly revision: number;
  /** Time when it ended, epoch ms. null if it is open. */
  readonly endedAt: number | null;
  /** Time when a person last answered for it, epoch ms. Others must see that soon. */
  readonly answeredAt?: number;
}

/** A kind of announcement. The outbox stores its events as JSON and parses them with `readEvent`. */
export interface Feed<Event = unknown> {
  readonly definition: FeedDefinition;
  /** Parses an event from JSON. `undefined` if it is invalid. */
  readEvent(json: unknown): Event | undefined;
  /** Returns an event's id. The same event always has the same id. */
  idOf(event: Event): string;
  /** Returns those of a channel's subscriptions whose settings apply to an event that they all want. By default, all do. */
  nearest?(wanting: readonly Subscription[], event: Event): readonly Subscription[];
  /** True if events that wait for the same channel say everything that this one says to these subscriptions. By default, none does. */
  isCovered?(event: Event, waiting: readonly Event[], recipients: readonly Subscription[]): boolean;
  /** Returns the event's topic, one of the definition's. A subscription gets an event with several topics for any of them. */
  topicOf(event: Event): string | readonly string[];
  /**
   * Returns the subjects that later events may follow up on. An event with several subjects has one message
   * for all of them, which is never edited.
   */
  subjectsOf(event: Event): readonly string[];
  /** Returns those that the message to a subscription names. Without this function, all of them. */
  namedIn?(event: Event, subscription: Subscription): readonly string[];
  /** True if later messages about the event's subjects refer to this one. */
  begins(event: Event): boolean;
  /**
   * Returns the subject under which the event's message is edited, for an event that does not begin a subject (LastingMessages).
   */
  lastsAs?(event: Event): string | undefined;
  /** True if a subscription to the event's topic receives it. */
  wants(subscription: Subscription, event: Event): boolean;
  /** Returns the channel of an event for one channel only. Missing if all matching subscriptions receive events. */
  channelOf?(event: Event): string;
  /**
   * Returns the loudness of an event for these subscriptions. By default, a message that begins a subject pings and later messages
   * do not.
   */
  loudnessOf?(event: Event, recipients: readonly Subscription[]): Loudness;
  /**
   * Renders the event's message.
   * @param mark included in a link of the message, so that the message can be recognized
   * @param recipients the subscriptions that receive it
   * @returns `undefined` if there is nothing to announce any more
   */
  render(event: Event, mark: string, recipients: readonly Subscription[]): Promise<Rendered | undefined>;
  /** Returns what to write if an event's message is given up, because its channel refused it for a day. */
  givenUp?(event: Event): Promise<readonly Write[]>;
  /** Functions for editing messages. Missing if messages are never edited. */
  readonly lasting?: LastingMessages;
}

/**
 * Loudness of a message: "ping" mentions the subscription's role, "silent" sends no notification (Discord:
 * SUPPRESS_NOTIFICATIONS).
 */
export type Loudness = "ping" | "normal" | "silent";

/**
 * Functions for messages that are edited when their subject changes. The same subject can have a different state in each channel.
 */
export interface LastingMessages {
  /** Returns `undefined` if the feed no longer knows the subject. */
  stateOf(subject: string, channelId: string): Promise<SubjectState | undefined>;
  /** Returns the current content of the message that began a subject. */
  current(
    subject: string,
    mark: string,
    channelId: string,
    recipients: readonly Subscription[],
  ): Promise<MessagePayload>;
  /** Returns the title of a thread about the subject. */
  titleOf(subject: string, channelId: string): Promise<string>;
  /** Returns the id of the event that begins a subject. */
  beginningOf(subject: string): string;
}

/** Returns the value of a subscription's option, or the default if the option was not chosen or cannot be read. */
export function optionOf<Value>(subscription: Subscription, name: string, option: FeedOption<Value>): Value {
  const result = option.schema.safeParse(subscription[name]);
  if (!result.success) return option.byDefault;
  const isFormer = isDeepStrictEqual(result.data, option.formerDefault);
  return isFormer && !subscription.chosen?.includes(name) ? option.byDefault : result.data;
}

/** Returns the watch that a subject belongs to. */
export const watchOf = (
  { watches = [] }: Pick<FeedDefinition, "watches">,
  subject: string | null,
): WatchChoice | undefined => watches.find(({ owns }) => owns?.(subject ?? "") ?? true);

/** True if a subscription includes a topic. A topic that is newer than the subscription has the default of its watch or feed. */
export function hasTopic(
  { topics, userId = null, subject = null }: Pick<Subscription, "topics"> & Partial<Subscription>,
  definition: Pick<FeedDefinition, "topics" | "watches">,
  name: string,
): boolean {
  const watch = userId === null ? undefined : watchOf(definition, subject);
  return topics[name] ?? watch?.settings?.topics[name] ?? definition.topics[name]?.byDefault ?? false;
}

/** True if a subscription receives an event, as it is set now: it includes one of the event's topics, and wants it. */
export const receives = (
  subscription: Subscription,
  { definition, topicOf, wants }: Pick<Feed, "definition" | "topicOf" | "wants">,
  event: unknown,
): boolean =>
  [topicOf(event)].flat().some((topic) => hasTopic(subscription, definition, topic)) &&
  wants(subscription, event);

/** Returns the permissions that a subscription's topics need. */
export const needsOf = (
  subscription: Pick<Subscription, "topics">,
  definition: FeedDefinition,
): readonly PermissionName[] =>
  Object.entries(definition.topics).flatMap(([name, { needs = [] }]) =>
    hasTopic(subscription, definition, name) ? needs : [],
  );

/** Returns the topics of a subscription in words. */
export const toldBy = (subscription: Subscription, definition: FeedDefinition): string[] =>
  Object.entries(definition.topics)
    .filter(([name]) => hasTopic(subscription, definition, name))
    .map(([, { words }]) => words(subscription));

type DefaultSettings = Pick<Subscription, "topics" | "roleId" | "thread" | "publish">;

/** Returns the default settings of a feed. */
export const defaultsOf = ({ topics, options }: FeedDefinition): DefaultSettings => ({
  topics: Object.fromEntries(Object.entries(topics).map(([name, { byDefault }]) => [name, byDefault])),
  ...Object.fromEntries(Object.entries(options).map(([name, { byDefault }]) => [name, byDefault])),
  roleId: null,
  thread: false,
  publish: false,
});

/** Returns a subscription to a feed with the default settings, as a person has not changed it yet. */
export const draftOf = (feed: FeedDefinition, channelId = ""): Subscription => ({
  ...defaultsOf(feed),
  channelId,
  feed: feed.name,
  subject: null,
  guildId: null,
  userId: null,
  forum: false,
  tagId: null,
  since: 0,
});
