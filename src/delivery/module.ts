import type { REST } from "discord.js";
import type { Charts } from "../charts/charts.js";
import type { PollSettings } from "../config.js";
import type { Directory } from "../directory/directory.js";
import type { Names } from "../directory/names.js";
import type { ButtonHandler } from "../discord/buttons.js";
import type { ActingCommand } from "../discord/command.js";
import type { Links } from "../discord/links.js";
import type { Renderer } from "../discord/message.js";
import type { ExplorerTrouble } from "../explorer/index.js";
import type { ExplorerService } from "../explorer/service.js";
import type { UnforeseenAnswer } from "../ledger/unforeseen.js";
import type { Log } from "../log.js";
import type { CollectionDefinition } from "../storage/collection.js";
import type { Lease, LeasedState } from "../storage/lease.js";
import type { State } from "../storage/state.js";
import type { Write } from "../storage/store.js";
import type { Subscription } from "./collections.js";
import type { Feed, FeedDefinition } from "./feed.js";
import type { Subscriptions } from "./subscriptions.js";

/** Result of a poll: complete, partial, or failed. */
export type PollOutcome = "done" | "partial" | "failed";

/** The bot's own condition on one network, for its operator. */
export interface SelfReport {
  /** Returns the explorer's current problems with their start (steady clock, ms); `undefined` before the first answer. */
  troubles(): ReadonlyMap<ExplorerTrouble, number> | undefined;
  /** Returns the explorer's undocumented answers of the last day. */
  unforeseen(): readonly UnforeseenAnswer[];
  /** Returns why the bot's commands are not registered. `undefined` or missing if they are. */
  commandsProblem?(): string | undefined;
  /** For how long the oldest announcement that could be sent has waited, ms; 0 if none waits. @param but a feed left out */
  waitingMs(but?: string): Promise<number>;
}

/** Everything that a feed is created from. Feeds are recreated for each lease. */
export interface FeedDeps {
  readonly self: SelfReport;
  readonly explorer: ExplorerService;
  readonly state: LeasedState;
  readonly lease: Pick<Lease, "validUntil">;
  readonly subscriptions: Pick<Subscriptions, "activeIn">;
  readonly renderer: Renderer;
  readonly directory: Directory;
  readonly names: Names;
  readonly charts: Charts;
  /** For a feed's own requests to Discord. */
  readonly rest: REST;
  readonly log: Log;
  readonly now: () => number;
}

/** The parts of a network that a feed's buttons and commands work with. */
export interface FeedServices {
  /** Missing if messages show only what the state has. */
  readonly explorer?: ExplorerService;
  readonly state: State;
  readonly subscriptions: Subscriptions;
  readonly renderer: Renderer;
  readonly names: Names;
  readonly directory: Directory;
  readonly links: Links;
  /** For requests that do not answer an interaction. */
  readonly rest: REST;
}

/** One step of a poll: everything in it is committed together. */
export interface Findings {
  /** To be delivered to the subscriptions that want them. */
  readonly events?: readonly unknown[];
  /** Writes of the same commit, in which the feed records what it found. */
  readonly writes?: readonly Write[];
  /** Subjects whose revision went up: their messages are edited. */
  readonly changed?: readonly string[];
  /** Subjects that are over for good: the janitor deletes the documents that belong to them. */
  readonly ended?: readonly string[];
}

/** The subscriptions of a feed, including those of the environment. */
export interface Subscribers {
  /** Returns all subscriptions of the feed, including paused ones. */
  subscriptions(): Promise<readonly Subscription[]>;
  /** True if a message would be sent now: neither the subscription nor its channel is paused. */
  isHeard(subscription: Subscription): Promise<boolean>;
}

/** A poll at work: yields what it finds, and returns its outcome. It goes on once the runner has committed a step. */
export type PollSteps = AsyncGenerator<Findings, PollOutcome, void>;

/** A feed at work: how its events are shown, and how they are found. */
export interface RunningFeed {
  readonly feed: Feed;
  /** Reads once. Writes nothing itself. */
  readonly poll: (subscribers: Subscribers) => PollSteps;
  /** Forgets what it keeps of the state in memory. Called after a commit with an unknown result. */
  readonly reread?: () => void;
  /** Keeps other things at Discord up to date, at the interval of the polls. */
  readonly keep?: (subscribers: Subscribers) => Promise<void>;
}

/** A feed as src/feeds/index.ts lists it. */
export interface FeedModule {
  readonly definition: FeedDefinition;
  /** The collections that only this feed writes. Each says whose end deletes its documents. */
  readonly collections?: readonly CollectionDefinition[];
  /** The buttons under its messages that do something other than opening a screen. */
  readonly buttons?: readonly ButtonHandler<FeedServices>[];
  /** Slash commands, besides the subcommands of /subscribe and /watch. */
  readonly commands?: readonly ActingCommand<FeedServices>[];
  /** True if the heartbeat depends on this feed being polled in time (HEARTBEAT_URL). */
  readonly isVital?: boolean;
  /** Returns the poll interval in ms. */
  pollMs(settings: PollSettings): number;
  create(deps: FeedDeps, pollMs: number): RunningFeed;
}

/** Returns the collections that feeds declare. */
export const collectionsOf = (feeds: readonly FeedModule[]): readonly CollectionDefinition[] =>
  feeds.flatMap(({ collections = [] }) => collections);
