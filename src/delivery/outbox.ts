import type { REST } from "discord.js";
import type { Renderer } from "../discord/message.js";
import type { Pacer } from "../discord/pacer.js";
import type { Log } from "../log.js";
import { type Delivery, deliveryId, type Subscription } from "../storage/catalogue.js";
import { type Lease, type LeasedState, LeaseLost } from "../storage/lease.js";
import { StateError, type Write } from "../storage/store.js";
import { ageOf, believed } from "../util/clock.js";
import { lazy } from "../util/single-flight.js";
import { DAY, HOUR, MINUTE } from "../util/units.js";
import { createDeliver, type OnDelivered } from "./deliver.js";
import { drillEventId, drillOf } from "./drill.js";
import { type Feed, hasTopic } from "./feed.js";
import { createSender } from "./send.js";
import type { Subscriptions } from "./subscriptions.js";
import { createWaiting } from "./waiting.js";

/** How far the clocks of two processes may be apart. */
const CLOCK_SKEW_MS = 2_000;
/** Nothing waits longer than this, in ms: a moment further ahead is from a clock that was wrong. */
const MAX_WAIT_MS = 2 * HOUR;
/** When a channel has been served, the queue is looked at again after so many ms. */
const AGAIN_MS = 250;
/** A state that cannot be written is left alone for so many ms: nothing can be sent without it. */
const STATE_REST_MS = 5_000;
/** A drill that nobody took up for so long is dropped, in ms. */
const MAX_DRILL_MS = 10 * MINUTE;
/** A server that the bot has left keeps its subscriptions for this long. */
const LEFT_MS = 30 * DAY;

interface OutboxDeps {
  readonly state: LeasedState;
  readonly lease: Lease;
  /** Without retries inside: what to do about a failure is decided here. */
  readonly rest: REST;
  readonly renderer: Renderer;
  readonly pacer: Pacer;
  readonly subscriptions: Subscriptions;
  readonly feeds: ReadonlyMap<string, Feed>;
  readonly log: Log;
  readonly now: () => number;
  /** What time it is at Discord, epoch ms. */
  readonly discordTime: () => number;
  readonly onDelivered: OnDelivered;
  /** Messages were recorded that are to be looked after (ids in "announced"). */
  readonly onRecorded: (ids: readonly string[]) => void;
}

/** Deliveries: written together with what they tell of, and sent until they have arrived. */
export interface Outbox {
  /** See Publisher in feed.ts. */
  prepare(
    feed: Feed,
    events: readonly unknown[],
  ): Promise<{ readonly writes: readonly Write[]; readonly release: () => void }>;
  /** Takes up the drills that were asked for. */
  takeUpDrills(): Promise<void>;
  /** Reads what waits anew: a commit may have been written, or not. */
  reread(): void;
  /** Sends what is due, soon. */
  wake(): void;
  /** Whether nothing waits to be sent at this moment. */
  idle(): boolean;
  /** For how long the oldest announcement that could be sent has waited, ms; 0 where none waits. @param but a feed left out */
  waitingMs(but?: string): Promise<number>;
  stop(): Promise<void>;
}

/** The outbox over a state: deliveries are written with what caused them, and sent by whoever holds the lease. */
export function createOutbox(deps: OutboxDeps): Outbox {
  const { state, lease, subscriptions, feeds, log, now, onDelivered, onRecorded } = deps;
  const { outbox } = state;
  const stopping = new AbortController();
  /** Channels that are being served, each by one loop. */
  const serving = new Map<string, Promise<void>>();
  let timer: NodeJS.Timeout | undefined;
  let soon: NodeJS.Timeout | undefined;
  let orders = now();
  /** Nothing is sent before this, by the steady clock. */
  let restUntil = 0;

  const feedOf = ({ feed: name, drill }: Pick<Delivery, "feed" | "drill">): Feed | undefined => {
    const feed = feeds.get(name);
    return feed && drill ? drillOf(feed) : feed;
  };

  /** What waits, with its events as their feeds read them. One that its feed cannot read affects no other. */
  const read = async () => {
    const waiting = createWaiting();
    const written: (readonly [id: string, delivery: Delivery])[] = [];
    for await (const each of outbox.entries()) written.push(each);
    for (const [id, delivery] of written.sort(([, a], [, b]) => a.order - b.order)) {
      orders = Math.max(orders, delivery.order);
      const event = feedOf(delivery)?.readEvent(delivery.event);
      if (event === undefined)
        await outbox.setAside(id, delivery, `its feed "${delivery.feed}" cannot read its event`);
      else waiting.hold(id, { ...delivery, event });
    }
    return waiting;
  };
  let load = lazy(read);
  const commit = async (id: string, next: Delivery | undefined, more: readonly Write[] = []) => {
    await state.commit([next ? outbox.put(id, next) : outbox.delete(id), ...more]);
    const waiting = await load();
    if (next) waiting.hold(id, next);
    else waiting.release(id);
  };
  const waitingFor = async (channelId: string) => (await load()).of(channelId);

  const shared = { ...deps, stopping: stopping.signal };
  const sender = createSender(shared);
  const deliver = createDeliver({ ...shared, feedOf, sender, commit, waitingFor, onDelivered, onRecorded });

  /** When a delivery may be worked on: a claim of another process is its own until its deadline. */
  const dueAt = ({ notBefore, claim }: Delivery): number =>
    Math.max(
      believed(notBefore, now(), MAX_WAIT_MS),
      claim && claim.epoch !== lease.epoch ? believed(claim.deadline + CLOCK_SKEW_MS, now(), MAX_WAIT_MS) : 0,
    );

  /** Serves one channel, in the order of what happened, until nothing is due there. */
  const serve = async (channelId: string) => {
    for (;;) {
      if (stopping.signal.aborted) return;
      const [next] = await waitingFor(channelId);
      if (!next || dueAt(next[1]) > now()) return;
      await deliver(...next);
    }
  };

  const start = async () => {
    clearTimeout(timer);
    const rest = restUntil - performance.now();
    if (rest > 0) {
      timer = setTimeout(wake, rest);
      return;
    }
    let soonest = Number.POSITIVE_INFINITY;
    for (const delivery of (await load()).first()) {
      const { channelId } = delivery;
      const due = dueAt(delivery);
      if (due > now()) soonest = Math.min(soonest, due);
      else if (!serving.has(channelId)) {
        // Side by side: a channel that is slow, limited or forbidden holds up no other.
        const work = serve(channelId)
          .catch((err: unknown) => {
            if (err instanceof LeaseLost || stopping.signal.aborted) return;
            if (err instanceof StateError) restUntil = performance.now() + STATE_REST_MS;
            // What ails the state, its store says.
            else log.error({ err, channel: channelId }, "A channel could not be served; it is tried again");
          })
          .finally(() => {
            serving.delete(channelId);
            if (!stopping.signal.aborted) soon ??= setTimeout(wake, AGAIN_MS);
          });
        serving.set(channelId, work);
      }
    }
    timer =
      soonest === Number.POSITIVE_INFINITY ? undefined : setTimeout(wake, Math.max(50, soonest - now()));
  };

  function wake(): void {
    clearTimeout(soon);
    soon = undefined;
    if (stopping.signal.aborted) return;
    start().catch((err: unknown) => {
      if (!(err instanceof StateError)) log.error({ err }, "The outbox could not be read; trying again");
      soon ??= setTimeout(wake, 2_000);
    });
  }

  /** The subscriptions to a feed that may be sent something; those of servers that the bot left long ago are removed. */
  const listening = async (feed: Feed) => {
    const own = (await subscriptions.all()).filter((each) => each.feed === feed.definition.name);
    const doing = await Promise.all(own.map(({ channelId }) => subscriptions.health(channelId)));
    const left = own.filter((_, index) => now() - (doing[index]?.goneSince ?? now()) > LEFT_MS);
    for (const each of left) await subscriptions.removeChannel(each.channelId);
    return own.filter((each, index) => !each.isPaused && !doing[index]?.paused && !left.includes(each));
  };

  /** Deliveries by their ids: the writes that make them due, and what has them sent once that is committed. */
  const prepared = async (deliveries: ReadonlyMap<string, Delivery>) => {
    const waiting = await load();
    return {
      writes: [...deliveries].map(([id, delivery]) => outbox.add(id, delivery)),
      release: () => {
        for (const [id, delivery] of deliveries) waiting.hold(id, delivery);
        if (deliveries.size > 0) wake();
      },
    };
  };
  const newDelivery = (of: Pick<Delivery, "feed" | "event" | "channelId" | "subject">): Delivery => {
    orders += 1;
    return { ...of, at: now(), order: orders, attempts: 0, notBefore: 0 };
  };

  return {
    async prepare(feed, events) {
      const { name } = feed.definition;
      const deliveries = new Map<string, Delivery>();
      const listeners = events.length === 0 ? [] : await listening(feed);
      const byChannel = new Map<string, Subscription[]>();
      for (const each of listeners)
        byChannel.set(each.channelId, [...(byChannel.get(each.channelId) ?? []), each]);
      await load();
      for (const event of events) {
        const only = feed.channelOf?.(event);
        for (const subscription of only === undefined ? listeners : (byChannel.get(only) ?? [])) {
          const { channelId, subject } = subscription;
          const isOn = hasTopic(subscription, feed.definition, feed.topicOf(event));
          if (!isOn || !feed.wants(subscription, event)) continue;
          const id = deliveryId(name, feed.idOf(event), channelId);
          // For the channel, where several of its subscriptions want the same.
          const isShared = deliveries.has(id);
          deliveries.set(
            id,
            newDelivery({ feed: name, event, channelId, subject: isShared ? null : subject }),
          );
        }
      }
      return prepared(deliveries);
    },
    async takeUpDrills() {
      for (const [id, { at, ...drill }] of await state.drills.list()) {
        const of = { ...drill, event: feedOf({ ...drill, drill: true })?.readEvent(drill.event) };
        const isLate = of.event === undefined || ageOf(at, now()) > MAX_DRILL_MS;
        const delivery = { ...newDelivery(of), drill: true };
        const { writes, release } = await prepared(
          new Map(isLate ? [] : [[deliveryId(of.feed, drillEventId(id), of.channelId), delivery]]),
        );
        await state.commit([state.drills.delete(id), ...writes]);
        release();
      }
    },
    reread() {
      load = lazy(read);
      wake();
    },
    wake,
    idle: () => serving.size === 0,
    async waitingMs(but) {
      let oldestMs = 0;
      for (const { feed, channelId, at, drill } of (await load()).first()) {
        const waitedMs = drill || feed === but ? 0 : ageOf(at, now());
        // Of few is it looked up: most arrive at once.
        if (
          waitedMs > oldestMs &&
          Number.isFinite(waitedMs) &&
          !(await subscriptions.health(channelId)).paused
        )
          oldestMs = waitedMs;
      }
      return oldestMs;
    },
    async stop() {
      stopping.abort();
      clearTimeout(timer);
      clearTimeout(soon);
      await Promise.allSettled(serving.values());
    },
  };
}
