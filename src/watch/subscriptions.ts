import { collectionOf, type State, type Write } from "../storage/state.js";
import { channelOf } from "./deliveries.js";
import type { Topic } from "./events.js";

const HOUR = 3_600_000;

/** What a subscription can be set to. */
export interface SubscriptionOptions {
  readonly topics: Readonly<Record<Topic, boolean>>;
  /** Pinged with each announcement. */
  readonly roleId: string | null;
  /** Opens a thread under each announcement; later news goes there. */
  readonly thread: boolean;
  /** Crossposts in announcement channels. */
  readonly publish: boolean;
  /** How long before the threshold deadline to remind, in ms. */
  readonly before: readonly number[];
}

/** A channel's wish to hear of some topics. */
export interface Subscription extends SubscriptionOptions {
  readonly channelId: string;
  /** Null for the environment's, which does not say. */
  readonly guildId: string | null;
  /** A forum gets a post for each request. */
  readonly forum: boolean;
  /** The tag that a forum demands. */
  readonly tagId: string | null;
  /** Epoch ms: what was before is not told. */
  readonly since: number;
  /** Set in the environment, and not to be removed by a command. */
  readonly fromEnvironment?: boolean;
}

/** How a subscription's channel is doing. */
export interface Health {
  readonly deliveredAt?: number;
  /** In words, for people. */
  readonly error?: string;
  readonly erroredAt?: number;
  /** Nothing is sent until it is taken up again. */
  readonly paused?: boolean;
  /** Since when the bot has not been in its server, epoch ms. */
  readonly goneSince?: number;
}

export const DEFAULT_OPTIONS: SubscriptionOptions = {
  topics: { new: true, outcome: true, reminders: true, changes: false, votes: false },
  roleId: null,
  thread: false,
  publish: false,
  before: [24 * HOUR, 6 * HOUR],
};

const MOST_REMINDERS = 5;

/** Reminder times from what a person typed, such as "24h 6h" or "2d, 90m"; undefined where that is none. */
export function parseBefore(text: string): readonly number[] | undefined {
  const parts = text
    .trim()
    .toLowerCase()
    .split(/[\s,;]+/)
    .filter(Boolean);
  const times = parts.map((part) => {
    const [, count = "", unit = ""] = /^(\d{1,4})([mhd])$/.exec(part) ?? [];
    return Number(count || Number.NaN) * { m: HOUR / 60, h: HOUR, d: 24 * HOUR }[unit as "m" | "h" | "d"];
  });
  const good =
    times.length > 0 &&
    times.length <= MOST_REMINDERS &&
    times.every((time) => time >= HOUR / 12 && time <= 30 * 24 * HOUR);
  return good ? [...new Set(times)].sort((a, b) => b - a) : undefined;
}

/** Reminder times as parseBefore reads them. */
export function formatBefore(before: readonly number[]): string {
  return before
    .map((ms) =>
      ms % (24 * HOUR) === 0 && ms > 24 * HOUR
        ? `${ms / 24 / HOUR}d`
        : ms % HOUR === 0
          ? `${ms / HOUR}h`
          : `${ms / 60_000}m`,
    )
    .join(" ");
}

/** All subscriptions, and how they are doing: those from commands in the state, and the environment's. */
export interface Subscriptions {
  all(): Promise<readonly Subscription[]>;
  get(channelId: string): Promise<Subscription | undefined>;
  put(subscription: Subscription): Promise<void>;
  /** Forgets a channel: its subscription, how it is doing, and which messages it was sent. */
  remove(channelId: string): Promise<void>;
  health(channelId: string): Promise<Health>;
  healthWrite(channelId: string, health: Health): Write;
  setHealth(channelId: string, health: Health): Promise<void>;
}

/** @param environment the channel of the environment's subscription, if any */
export function createSubscriptions(state: State, environment: string | undefined): Subscriptions {
  const stored = collectionOf<Subscription>(state, "subscriptions");
  const healths = collectionOf<Health>(state, "health");
  const announced = collectionOf<unknown>(state, "announced");
  const fixed: readonly Subscription[] =
    environment === undefined
      ? []
      : [
          {
            ...DEFAULT_OPTIONS,
            channelId: environment,
            guildId: null,
            forum: false,
            tagId: null,
            since: 0,
            fromEnvironment: true,
          },
        ];

  // Edited by a command, the environment's keeps what was chosen.
  const withFixed = (own: Subscription | undefined, channelId: string): Subscription | undefined => {
    const base = fixed.find((each) => each.channelId === channelId);
    return base ? { ...base, ...own, fromEnvironment: true } : own;
  };
  return {
    async all() {
      const own = await stored.list();
      const ids = new Set([...fixed.map(({ channelId }) => channelId), ...own.keys()]);
      return [...ids].flatMap((id) => withFixed(own.get(id), id) ?? []);
    },
    get: async (channelId) => withFixed(await stored.get(channelId), channelId),
    async put(subscription) {
      await state.commit([stored.put(subscription.channelId, subscription)]);
    },
    async remove(channelId) {
      const sent = [...(await announced.list()).keys()].filter((id) => channelOf(id) === channelId);
      await state.commit([
        stored.delete(channelId),
        healths.delete(channelId),
        ...sent.map((id) => announced.delete(id)),
      ]);
    },
    health: async (channelId) => (await healths.get(channelId)) ?? {},
    healthWrite: (channelId, health) => healths.put(channelId, health),
    async setHealth(channelId, health) {
      await state.commit([healths.put(channelId, health)]);
    },
  };
}
