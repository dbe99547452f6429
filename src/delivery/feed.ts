import type { REST } from "discord.js";
import type * as z from "zod";
import type { Charts } from "../charts/charts.js";
import type { PollSettings } from "../config.js";
import type { Directory, Kind } from "../directory/directory.js";
import type { Names } from "../directory/names.js";
import type { MessagePayload, Renderer } from "../discord/message.js";
import type { PermissionName } from "../discord/permissions.js";
import type { ExplorerTrouble } from "../explorer/index.js";
import type { Explorer, ExplorerService } from "../explorer/service.js";
import type { UnforeseenAnswer } from "../ledger/unforeseen.js";
import type { Log } from "../log.js";
import type { View } from "../screens/view.js";
import type { Subscription } from "../storage/catalogue.js";
import type { LeasedState } from "../storage/lease.js";
import type { State } from "../storage/state.js";
import type { Write } from "../storage/store.js";
import type { Markdown } from "../text/markdown.js";

/** What a subscription of a feed switches on and off. The slash option, its default and the words in lists derive from it. */
export interface Topic {
  /** Of the slash option (Discord: 100 characters, with the default behind it). */
  readonly description: string;
  readonly byDefault: boolean;
  /** Whether every subscription has it. */
  readonly isFixed?: boolean;
  /** What the bot must be allowed for it, besides what it needs to announce anything. */
  readonly needs?: readonly PermissionName[];
  /** In a list of what a channel is subscribed to, such as "outages". */
  readonly words: (subscription: Subscription) => string;
}

/** Something else that a subscription of a feed can be set to, typed as text or chosen. */
export interface FeedOption<Value = unknown> {
  readonly description: string;
  /** The longest text that may be typed. */
  readonly maxLength: number;
  /** What is offered, where nothing else may be typed: words by what they stand for. */
  readonly choices?: Readonly<Record<string, string>>;
  /** Whether a new subscription must say it. */
  readonly isRequired?: boolean;
  readonly byDefault: Value;
  readonly schema: z.ZodType<Value>;
  /** What a person typed; undefined where it cannot be read. */
  parse(text: string): Value | undefined;
  /** The sentence that the person gets then. */
  readonly problem: string;
}

/** Where things have their names. */
export interface Named {
  readonly names: Names;
  readonly directory: Directory;
}

/** What each subscription of a feed is about, where that is one of many things. */
export interface SubjectChoice {
  /** The slash option that names it, and what it is completed with; missing where the other options say it. */
  readonly option?: { readonly name: string; readonly description: string; readonly kinds: readonly Kind[] };
  /** What the other options say, and what they are where it is given. */
  of?(settings: Readonly<Record<string, unknown>>): string;
  settings?(subject: string): Readonly<Record<string, unknown>> | undefined;
  /** The subject as it is kept: a thing may have several ids. @throws {PersonError} where there is no such thing */
  check?(subject: string, deps: AnswerDeps): Promise<string>;
  /** What it is called, as text that may be a stranger's. */
  nameOf(subject: string, named: Named): string;
}

/** How a person may watch something of a feed for themselves, in private. */
export interface WatchChoice {
  /** Of the subcommand of /watch. */
  readonly name: string;
  readonly description: string;
  readonly subject: SubjectChoice;
  /** Whether a subscription's subject is of this kind; missing where the feed has no other watch. */
  owns?(subject: string): boolean;
  /** What a button that leads to it offers besides: another subject, or the feed's first option as it would be typed. */
  offered?(
    subject: string,
  ): readonly { readonly label: string; readonly id: string; readonly set?: string }[];
  /** What such a watch is set to, where the person chooses nothing of it. */
  readonly settings?: Readonly<Record<string, unknown>> & {
    readonly topics: Readonly<Record<string, boolean>>;
  };
}

/** What a feed answers a person with who subscribes. */
export interface AnswerDeps {
  /** The explorer, for that person. */
  readonly explorer: Explorer;
  readonly state: State;
  readonly names: Names;
  readonly renderer: Renderer;
  readonly now: number;
}

/** What a feed is to those who subscribe: known without a connection to anything. */
export interface FeedDefinition {
  /** Also the name of its subcommand of /subscribe, and of its part of the state: it is for ever. */
  readonly name: string;
  /** Of the subcommand. */
  readonly description: string;
  /** What begins a message, such as "outage". */
  readonly thing: string;
  readonly topics: Readonly<Record<string, Topic>>;
  readonly options: Readonly<Record<string, FeedOption>>;
  /** Whether its options are changed by subscribing again alone, and not by /subscribe edit (Discord: 25 options). */
  readonly isChangedAnew?: boolean;
  /** Whether its messages never ping: then no role can be chosen for them. */
  readonly isQuiet?: boolean;
  /** Whether a message may have a thread: not where it is about several things, and nothing follows. */
  readonly threads: boolean;
  /** Names of forum tags that suit it, where a forum demands one. */
  readonly tagName: RegExp;
  /** A message as it would be announced now, for a drill. */
  sample(deps: AnswerDeps, subscription: Subscription, mark: string): Promise<View>;
  /** Where each subscription is about one thing. */
  readonly subject?: SubjectChoice;
  /** What people may watch of it. */
  readonly watches?: readonly WatchChoice[];
  /** What a new subscriber should know of what began before, and is not announced. */
  standing(deps: AnswerDeps, subscription: Subscription): Promise<readonly Markdown[]>;
  /** When what it tells of was last read, for the list of subscriptions; missing where each says for itself. */
  lastRead?(state: State): Promise<Markdown>;
  /** How what a subscription is about stands, and what was last told of it; undefined where it is about no one thing. */
  nowOf?(state: State, subscription: Subscription): Promise<Markdown | undefined>;
}

/** Whom a message notifies by name. */
export interface Mentions {
  readonly userIds: readonly string[];
  readonly roleIds: readonly string[];
}

/** An event's message, and what it shows of its subject. */
export interface Rendered {
  readonly payload: MessagePayload;
  /** Whom it notifies besides its subscriptions' own roles. */
  readonly mentions?: Mentions;
  /** Of the thread or the forum's post that it begins. */
  readonly title: string;
  readonly revision: number;
}

/** A subject as it is now: whether a message about it is up to date, and whether it is over. */
export interface SubjectState {
  /** Goes up with whatever its message shows. */
  readonly revision: number;
  /** When it ended, epoch ms; null where it has not. */
  readonly endedAt: number | null;
}

/**
 * One kind of thing that can be announced. Its events are its own; the outbox keeps them as JSON, and gives each back as
 * `readEvent` reads it.
 */
export interface Feed<Event = unknown> {
  readonly definition: FeedDefinition;
  /** An event from JSON; undefined where it is none. */
  readEvent(json: unknown): Event | undefined;
  /** The same event always has the same id. */
  idOf(event: Event): string;
  /** One of the definition's topics. */
  topicOf(event: Event): string;
  /**
   * What it is about, as far as anything follows that is about the same; an event about several begins one message for all of
   * them, which is never edited.
   */
  subjectsOf(event: Event): readonly string[];
  /** Whether it begins a message that later news of its subjects refers to. */
  begins(event: Event): boolean;
  /** Names the event's own message, where that is kept up to date though it begins nothing (see LastingMessages). */
  lastsAs?(event: Event): string | undefined;
  /** Whether a subscription to its topic wants it. */
  wants(subscription: Subscription, event: Event): boolean;
  /** The one channel that it is for; missing where it is for every subscription that wants it. */
  channelOf?(event: Event): string;
  /** How loud it is; missing where what begins a message pings, and later news does not. */
  loudnessOf?(event: Event): Loudness;
  /**
   * @param mark stands in one of the message's links, so that the message is recognized
   * @param recipients the subscriptions that it is for
   * @returns undefined where nothing is left to be told
   */
  render(event: Event, mark: string, recipients: readonly Subscription[]): Promise<Rendered | undefined>;
  /** How the messages about its subjects are kept up to date; missing where each stands as it was sent. */
  readonly lasting?: LastingMessages;
}

/** How loud a message is: with the subscription's role, as any message, or without a sound (Discord: SUPPRESS_NOTIFICATIONS). */
export type Loudness = "ping" | "normal" | "silent";

/** Messages about subjects that change. A subject may be another thing in another channel. */
export interface LastingMessages {
  /** Undefined where nothing is known of it any more. */
  stateOf(subject: string, channelId: string): Promise<SubjectState | undefined>;
  /** The message that began a subject as it should stand now, for the subscriptions of its channel. */
  current(
    subject: string,
    mark: string,
    channelId: string,
    recipients: readonly Subscription[],
  ): Promise<MessagePayload>;
  /** What a thread about it is called. */
  titleOf(subject: string, channelId: string): Promise<string>;
  /** The id of the event that begins a subject's message. */
  beginningOf(subject: string): string;
}

/** How a read went: as far as it can bring news, in part, or not at all. */
export type PollOutcome = "done" | "partial" | "failed";

/** How the bot itself is doing on one network: what its operator should know. */
export interface SelfReport {
  /** What ails the explorer, with since when, by the steady clock, ms; undefined before anything is heard of it. */
  troubles(): ReadonlyMap<ExplorerTrouble, number> | undefined;
  /** What the explorer answered otherwise than documented in the last day. */
  unforeseen(): readonly UnforeseenAnswer[];
  /** For how long the oldest announcement that could be sent has waited, ms; 0 where none waits. @param but a feed left out */
  waitingMs(but?: string): Promise<number>;
}

/** What a feed is built from, anew with each lease. */
export interface FeedDeps {
  readonly self: SelfReport;
  readonly explorer: ExplorerService;
  readonly state: LeasedState;
  readonly renderer: Renderer;
  readonly directory: Directory;
  readonly names: Names;
  readonly charts: Charts;
  /** For a feed's own requests to Discord. */
  readonly rest: REST;
  readonly log: Log;
  readonly now: () => number;
}

/** Where a feed publishes its events, and finds out who is subscribed. */
export interface Publisher {
  /** All of them, also those that nothing is sent to for now. */
  subscriptions(): Promise<readonly Subscription[]>;
  /** Whether something would be sent now: not while it is paused, or its channel is. */
  isHeard(subscription: Subscription): Promise<boolean>;
  /**
   * The writes that make events' deliveries due, for the subscriptions that want them.
   * @returns also what makes them be sent, to be called once the writes are committed
   */
  prepare(events: readonly unknown[]): Promise<{
    readonly writes: readonly Write[];
    readonly release: () => void;
  }>;
  /** The revisions of these subjects went up; without any, nobody says of which. */
  touch(subjects?: readonly string[]): void;
}

/** A feed at work: how its events are shown, and how they are found. */
export interface RunningFeed {
  readonly feed: Feed;
  /** Reads once, and publishes what is new. */
  poll(publisher: Publisher): Promise<PollOutcome>;
  /** What else it keeps in order at Discord: at the pace of its polls, beside them. */
  keep?(publisher: Publisher): Promise<void>;
}

/** A feed as src/feeds/index.ts lists it. */
export interface FeedModule {
  readonly definition: FeedDefinition;
  /** Whether a monitor is told that all is well only while it is read in time (HEARTBEAT_URL). */
  readonly isVital?: boolean;
  /** How often it reads, in ms. */
  pollMs(settings: PollSettings): number;
  create(deps: FeedDeps, pollMs: number): RunningFeed;
}

/** A subscription's value of an option; its default where it has none that can be read. */
export function optionOf<Value>(subscription: Subscription, name: string, option: FeedOption<Value>): Value {
  const result = option.schema.safeParse(subscription[name]);
  return result.success ? result.data : option.byDefault;
}

/** Whether a subscription has a topic on: one that is newer than the subscription stands at its default. */
export const hasTopic = (
  { topics }: Pick<Subscription, "topics">,
  definition: FeedDefinition,
  name: string,
): boolean => topics[name] ?? definition.topics[name]?.byDefault ?? false;

/** What the bot must be allowed for what a subscription has on. */
export const needsOf = (
  subscription: Pick<Subscription, "topics">,
  definition: FeedDefinition,
): readonly PermissionName[] =>
  Object.entries(definition.topics).flatMap(([name, { needs = [] }]) =>
    hasTopic(subscription, definition, name) ? needs : [],
  );

/** What a subscription tells of, topic by topic, in words. */
export const toldBy = (subscription: Subscription, definition: FeedDefinition): string[] =>
  Object.entries(definition.topics)
    .filter(([name]) => hasTopic(subscription, definition, name))
    .map(([, { words }]) => words(subscription));

type DefaultSettings = Pick<Subscription, "topics" | "roleId" | "thread" | "publish">;

/** What a subscription is set to where nobody says otherwise. */
export const defaultsOf = ({ topics, options }: FeedDefinition): DefaultSettings => ({
  topics: Object.fromEntries(Object.entries(topics).map(([name, { byDefault }]) => [name, byDefault])),
  ...Object.fromEntries(Object.entries(options).map(([name, { byDefault }]) => [name, byDefault])),
  roleId: null,
  thread: false,
  publish: false,
});
