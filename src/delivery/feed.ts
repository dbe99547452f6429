import { isDeepStrictEqual } from "node:util";
import type * as z from "zod";
import type { Directory, Kind } from "../directory/directory.js";
import type { Names } from "../directory/names.js";
import type { MessagePayload, Renderer } from "../discord/message.js";
import type { PermissionName } from "../discord/permissions.js";
import type { Explorer } from "../explorer/service.js";
import type { ScreenName } from "../screens/addresses.js";
import type { View } from "../screens/view.js";
import type { State } from "../storage/state.js";
import type { Markdown } from "../text/markdown.js";
import type { Subscription } from "./collections.js";

/** A topic of a feed. The slash option, its default and the words in lists derive from it. */
export interface Topic {
  /** Of the slash option (Discord: 100 characters, with the default behind it). */
  readonly description: string;
  readonly byDefault: boolean;
  /** True if every subscription has it. */
  readonly isFixed?: boolean;
  /** Permissions that the bot needs for it, besides those for any announcement. */
  readonly needs?: readonly PermissionName[];
  /** In a list of what a channel is subscribed to, such as "outages". */
  readonly words: (subscription: Subscription) => string;
}

/** Something else that a subscription of a feed can be set to, typed as text or chosen. */
export interface FeedOption<Value = unknown> {
  readonly description: string;
  /** The longest text that may be typed. */
  readonly maxLength: number;
  /** The only allowed values, with their labels. */
  readonly choices?: Readonly<Record<string, string>>;
  /** True if a new subscription must set it. */
  readonly isRequired?: boolean;
  readonly byDefault: Value;
  /** A default that earlier versions stored without anybody choosing it. It counts as not chosen. */
  readonly formerDefault?: Value;
  readonly schema: z.ZodType<Value>;
  /** Parses what a person typed. Returns `undefined` if it cannot be read. */
  parse(text: string): Value | undefined;
  /** The sentence that the person gets then. */
  readonly problem: string;
  /** A better sentence for a text that can be read and is out of range. */
  limit?(text: string): string | undefined;
}

/** Sources of names. */
export interface NameSources {
  readonly names: Names;
  readonly directory: Directory;
  readonly state: State;
}

/** The subjects that subscriptions of a feed can have. */
export interface SubjectChoice {
  /** The slash option that names it, and what it is completed with; missing if the other options say it. */
  readonly option?: { readonly name: string; readonly description: string; readonly kinds: readonly Kind[] };
  /** Converts between a subject and the options that imply it. */
  of?(settings: Readonly<Record<string, unknown>>): string;
  settings?(subject: string): Readonly<Record<string, unknown>> | undefined;
  /** The subject as it is kept: a thing may have several ids. @throws {PersonError} if there is no such thing */
  check?(subject: string, deps: AnswerDeps): Promise<string>;
  /** Returns the subject's name. It may be untrusted text. */
  nameOf(subject: string, named: NameSources): string | Promise<string>;
}

/** A private watch that a feed offers. */
export interface WatchChoice {
  /** Of the subcommand of /watch. */
  readonly name: string;
  readonly description: string;
  readonly subject: SubjectChoice;
  /** True if a subscription's subject belongs to this watch. Missing if the feed has only one watch. */
  owns?(subject: string): boolean;
  /** The screen with a "Watch" button for it, and the subject that the screen's id leads to. */
  readonly screen?: { readonly name: ScreenName; subjectOf(id: string): string };
  /** Returns the choices of the menu under the offer: other subjects, or values of the feed's first option. */
  offered?(
    subject: string,
  ): readonly { readonly label: string; readonly id: string; readonly set?: string }[];
  /** Settings of a watch for which the person chose nothing. */
  readonly settings?: Readonly<Record<string, unknown>> & {
    readonly topics: Readonly<Record<string, boolean>>;
  };
}

/** What a feed needs to answer a person who subscribes. */
export interface AnswerDeps {
  /** The explorer, for that person. */
  readonly explorer: Explorer;
  readonly state: State;
  readonly names: Names;
  readonly renderer: Renderer;
  readonly now: number;
}

/** The static part of a feed, which needs no connection. */
export interface FeedDefinition {
  /** The name of the feed, of its subcommand of /subscribe and of its part of the state. It can never change. */
  readonly name: string;
  /** Of the subcommand. */
  readonly description: string;
  /** Name of a message that begins a subject, such as "outage". */
  readonly thing: string;
  readonly topics: Readonly<Record<string, Topic>>;
  readonly options: Readonly<Record<string, FeedOption>>;
  /** Returns why the options that a person typed contradict the settings. `undefined` if they do not. */
  contradiction?(settings: Readonly<Record<string, unknown>>, typed: readonly string[]): string | undefined;
  /** True if options change only by subscribing again, not by /subscribe edit (Discord: 25 options). */
  readonly isChangedAnew?: boolean;
  /** True if its messages never ping, so that no role can be chosen. */
  readonly isQuiet?: boolean;
  /** True if a message may open a thread. False for messages about several subjects. */
  readonly threads: boolean;
  /** Names of forum tags that suit it, if a forum demands one. */
  readonly tagName: RegExp;
  /** A message as it would be announced now, for a drill. */
  sample(deps: AnswerDeps, subscription: Subscription, mark: string): Promise<View>;
  /** Present if each subscription has a subject. */
  readonly subject?: SubjectChoice;
  /** The private watches that it offers. */
  readonly watches?: readonly WatchChoice[];
  /** Tells a new subscriber about open subjects, which are not announced. */
  standing(deps: AnswerDeps, subscription: Subscription): Promise<readonly Markdown[]>;
  /** When what it tells of was last read, for the list of subscriptions; missing if each says for itself. */
  lastRead?(state: State): Promise<Markdown>;
  /** Returns the current state of a subscription's subject and the last news. `undefined` without a subject. */
  nowOf?(state: State, subscription: Subscription): Promise<Markdown | undefined>;
}

/** People and roles that a message notifies. */
export interface Mentions {
  readonly userIds: readonly string[];
  readonly roleIds: readonly string[];
}

/** An event's message, and what it shows of its subject. */
export interface Rendered {
  readonly payload: MessagePayload;
  /** People and roles to notify besides the subscriptions' own roles. */
  readonly mentions?: Mentions;
  /** Of the thread or the forum's post that it begins. */
  readonly title: string;
  readonly revision: number;
}

/** A subject as it is now: whether a message about it is up to date, and whether it is over. */
export interface SubjectState {
  /** Goes up with whatever its message shows. */
  readonly revision: number;
  /** When it ended, epoch ms; null if it has not. */
  readonly endedAt: number | null;
}

/**
 * One kind of thing that can be announced. Its events are its own; the outbox keeps them as JSON, and gives each back as
 * `readEvent` reads it.
 */
export interface Feed<Event = unknown> {
  readonly definition: FeedDefinition;
  /** An event from JSON; undefined if it is none. */
  readEvent(json: unknown): Event | undefined;
  /** The same event always has the same id. */
  idOf(event: Event): string;
  /** One of the definition's topics. */
  topicOf(event: Event): string;
  /**
   * Returns the subjects that later events may follow up on. An event with several subjects begins one message for all of them,
   * which is never edited.
   */
  subjectsOf(event: Event): readonly string[];
  /** True if it begins a message that later news of its subjects refers to. */
  begins(event: Event): boolean;
  /** Names the event's own message if that is kept up to date although it begins no subject (LastingMessages). */
  lastsAs?(event: Event): string | undefined;
  /** True if a subscription to its topic wants it. */
  wants(subscription: Subscription, event: Event): boolean;
  /** The one channel that it is for; missing if it is for every subscription that wants it. */
  channelOf?(event: Event): string;
  /** Returns its loudness. By default, a message that begins a subject pings and later news does not. */
  loudnessOf?(event: Event): Loudness;
  /**
   * Renders the event's message.
   * @param mark goes into one of the message's links, so that the message can be recognized
   * @param recipients the subscriptions that it is for
   * @returns `undefined` if there is nothing left to tell
   */
  render(event: Event, mark: string, recipients: readonly Subscription[]): Promise<Rendered | undefined>;
  /** Keeps messages up to date. Missing if messages are never edited. */
  readonly lasting?: LastingMessages;
}

/**
 * Loudness of a message: with the subscription's role, like any message, or without a sound (Discord: SUPPRESS_NOTIFICATIONS).
 */
export type Loudness = "ping" | "normal" | "silent";

/** Messages about subjects that change. A subject may be another thing in another channel. */
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
  /** The id of the event that begins a subject's message. */
  beginningOf(subject: string): string;
}

/** Returns the value of a subscription's option, or the default if the option was not chosen or cannot be read. */
export function optionOf<Value>(subscription: Subscription, name: string, option: FeedOption<Value>): Value {
  const result = option.schema.safeParse(subscription[name]);
  if (!result.success) return option.byDefault;
  const isFormer = isDeepStrictEqual(result.data, option.formerDefault);
  return isFormer && !subscription.chosen?.includes(name) ? option.byDefault : result.data;
}

/** True if a subscription has a topic on. A topic that is newer than the subscription has its default. */
export const hasTopic = (
  { topics }: Pick<Subscription, "topics">,
  definition: FeedDefinition,
  name: string,
): boolean => topics[name] ?? definition.topics[name]?.byDefault ?? false;

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

/** Returns the settings of a subscription for which nothing was chosen. */
export const defaultsOf = ({ topics, options }: FeedDefinition): DefaultSettings => ({
  topics: Object.fromEntries(Object.entries(topics).map(([name, { byDefault }]) => [name, byDefault])),
  ...Object.fromEntries(Object.entries(options).map(([name, { byDefault }]) => [name, byDefault])),
  roleId: null,
  thread: false,
  publish: false,
});
