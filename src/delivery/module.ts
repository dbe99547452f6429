import type { REST } from "discord.js";
import type { Charts } from "../charts/charts.js";
import type { PollSettings } from "../config.js";
import type { Directory } from "../directory/directory.js";
import type { Names } from "../directory/names.js";
import type { ButtonHandler } from "../discord/buttons.js";
import type { ActingCommand } from "../discord/command.js";
import type { Links } from "../discord/links.js";
import type { Renderer } from "../discord/message.js";
import type { Pacer } from "../discord/pacer.js";
import type { ExplorerTrouble } from "../explorer/index.js";
import type { ExplorerService } from "../explorer/service.js";
import type { UnforeseenAnswer } from "../ledger/unforeseen.js";
import type { Log } from "../log.js";
import type { CollectionDefinition } from "../storage/collection.js";
import type { Lease } from "../storage/lease.js";
import type { State } from "../storage/state.js";
import type { Write } from "../storage/store.js";
import type { Subscription } from "./collections.js";
import type { Feed, FeedDefinition } from "./feed.js";
import type { Subscriptions } from "./subscriptions.js";

/** Result of a poll: complete, partial, or failed. */
export type PollOutcome = "done" | "partial" | "failed";

/** The bot's health on one network, for its operator. */
export interface SelfReport {
  /** Returns the explorer's current problems and their start (monotonic clock, ms). `undefined` before the first answer. */
  troubles(): ReadonlyMap<ExplorerTrouble, number> | undefined;
  /** Returns the explorer's undocumented answers of the last day. */
  unforeseen(): readonly UnforeseenAnswer[];
  /** Names of the variables for the explorer's key and address. */
  readonly explorerVariables: readonly string[];
  /** Returns the names of the feeds that were not read in time, among those that must not be missed. */
  unread(): readonly string[];
  /**
   * Returns the reason if the bot's commands are not registered, null if they are, or if another network tells it. `undefined` until
   * Discord has answered.
   */
  commandsProblem(): string | null | undefined;
  /**
   * Returns the waiting time of the oldest delivery that could be sent, in ms. 0 if none is waiting.
   * @param exceptFeed a feed to exclude
   */
  waitingMs(exceptFeed?: string): Promise<number>;
}

/** Dependencies of a feed. Feeds are recreated for each lease. */
export interface FeedDeps {
  readonly self: SelfReport;
  readonly explorer: ExplorerService;
  /** Its commits throw `LeaseLost` after another process has taken over. */
  readonly state: State;
  readonly lease: Pick<Lease, "validUntil">;
  readonly subscriptions: Pick<Subscriptions, "activeIn" | "of">;
  readonly renderer: Renderer;
  readonly directory: Directory;
  readonly names: Names;
  readonly charts: Charts;
  /** For a feed's own requests to Discord, each after a turn of the pacer. */
  readonly rest: REST;
  readonly pacer: Pacer;
  readonly log: Log;
  readonly now: () => number;
}

/** Parts of a network for a feed's buttons and commands. */
export interface FeedServices
  extends Pick<FeedDeps, "explorer" | "renderer" | "names" | "directory" | "rest"> {
  readonly state: State;
  readonly subscriptions: Subscriptions;
  readonly links: Links;
}

/** Findings of one step of a poll, committed together. */
export interface Findings {
  /** Events to deliver to matching subscriptions. */
  readonly events?: readonly unknown[];
  /** The feed's own writes for the same commit. */
  readonly writes?: readonly Write[];
  /** Subjects whose revision has increased. Their messages are edited. */
  readonly changed?: readonly string[];
  /** Subjects that have ended for good. The janitor deletes their documents. */
  readonly ended?: readonly string[];
}

/** The subscriptions of a feed, including those of the environment. */
export interface Subscribers {
  /** Returns all subscriptions of the feed, including paused ones. */
  subscriptions(): Promise<readonly Subscription[]>;
  /** True if a message would be sent now: neither the subscription nor its channel is paused. */
  isHeard(subscription: Subscription): Promise<boolean>;
}

/** A running poll. It yields findings, continues once the runner has committed them, and returns its outcome. */
export type PollSteps = AsyncGenerator<Findings, PollOutcome, void>;

/** A running feed: rendering, and polling. */
export interface RunningFeed {
  readonly feed: Feed;
  /** Reads once. The runner writes the findings. */
  readonly poll: (subscribers: Subscribers) => PollSteps;
  /** Clears cached state. Called after a commit with an unknown result. */
  readonly reread?: () => void;
  /** Updates other things at Discord, such as calendar events, at the poll interval. */
  readonly keep?: (subscribers: Subscribers) => Promise<void>;
}

/** A feed, as listed in src/feeds/index.ts. */
export interface FeedModule {
  readonly definition: FeedDefinition;
  /** Collections that only this feed writes. Each declares the owner with which its documents are deleted. */
  readonly collections?: readonly CollectionDefinition[];
  /** Buttons under its messages that do more than open a screen. */
  readonly buttons?: readonly ButtonHandler<FeedServices>[];
  /** Slash commands, in addition to subcommands of /subscribe and /watch. */
  readonly commands?: readonly ActingCommand<FeedServices>[];
  /** True if the heartbeat depends on this feed being polled in time (HEARTBEAT_URL). */
  readonly isVital?: boolean;
  /** True if the feed needs the rounds (src/ledger/rounds.ts). They are read while such a feed has subscriptions. */
  readonly followsRounds?: boolean;
  /** Returns the poll interval in ms. */
  pollMs(settings: PollSettings): number;
  create(deps: FeedDeps, pollMs: number): RunningFeed;
}

/** Returns the collections that feeds declare. */
export const collectionsOf = (feeds: readonly FeedModule[]): readonly CollectionDefinition[] =>
  feeds.flatMap(({ collections = [] }) => collections);
