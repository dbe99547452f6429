import type { REST } from "discord.js";
import type { IdKeys } from "../discord/links.js";
import type { Pacer } from "../discord/pacer.js";
import type { Log } from "../ops/log.js";
import type { Lease } from "../storage/lease.js";
import { collectionOf, type State, type Write } from "../storage/state.js";
import { type Announced, type Delivery, TakenOver } from "./deliveries.js";
import { createDelivering } from "./delivering.js";
import { eventId, type GovernanceEvent, TOPIC_OF } from "./events.js";
import type { Materials } from "./materials.js";
import { createSender } from "./sending.js";
import type { Subscription, Subscriptions } from "./subscriptions.js";

/** How far the clocks of two processes may be apart. */
const CLOCK_SKEW_MS = 2_000;
/** When a channel has been served, the queue is looked at again after so many ms. */
const AGAIN_MS = 250;
/** A server that the bot has left keeps its subscriptions for this long. */
const LEFT_MS = 30 * 24 * 3_600_000;

interface Parts {
  readonly state: State;
  readonly lease: Lease;
  /** Without retries inside: what to do about a failure is decided here. */
  readonly rest: REST;
  readonly pacer: Pacer;
  readonly subscriptions: Subscriptions;
  readonly materials: Materials;
  readonly keys: IdKeys;
  readonly log: Log;
  readonly now?: () => number;
  readonly onDelivered?: (outcome: string, ageMs: number) => void;
  /** A message was delivered that something is still to be done about. */
  readonly onTodo: () => void;
}

/** Deliveries: written together with what they tell of, and sent until they have arrived. */
export interface Outbox {
  /**
   * The writes that make events' deliveries due, for the subscriptions that want them.
   * @returns also what makes them be sent, to be called once the writes are committed
   */
  prepare(
    events: readonly GovernanceEvent[],
    wants: (subscription: Subscription, event: GovernanceEvent) => boolean,
  ): Promise<{ readonly writes: readonly Write[]; readonly release: () => void }>;
  /** Sends what is due, soon. */
  wake(): void;
  /** Whether nothing waits to be sent at this moment. */
  idle(): boolean;
  stop(): Promise<void>;
}

export function createOutbox(parts: Parts): Outbox {
  const {
    state,
    lease,
    rest,
    pacer,
    subscriptions,
    materials,
    keys,
    log,
    now = Date.now,
    onDelivered,
    onTodo,
  } = parts;
  const outbox = collectionOf<Delivery>(state, "outbox");
  const announced = collectionOf<Announced>(state, "announced");
  const stopping = new AbortController();
  /** Channels that are being served, each by one loop. */
  const serving = new Map<string, Promise<void>>();
  let queue: Promise<Map<string, Delivery>> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let soon: NodeJS.Timeout | undefined;
  let orders = now();

  const load = () => {
    queue ??= outbox.list();
    queue.catch(() => {
      queue = undefined;
    });
    return queue;
  };
  /** Writes what was learnt, unless another process has taken over. */
  const commit = async (id: string, next: Delivery | undefined, more: readonly Write[] = []) => {
    const applied = await state.commit([
      lease.guard,
      next ? outbox.put(id, next) : outbox.delete(id),
      ...more,
    ]);
    if (!applied) throw new TakenOver();
    const held = await load();
    if (next) held.set(id, next);
    else held.delete(id);
  };

  const shared = { rest, lease, pacer, announced, stopping: stopping.signal, now };
  const sender = createSender({ ...shared, materials, keys });
  const deliver = createDelivering({
    ...shared,
    subscriptions,
    sender,
    commit,
    load,
    log,
    onDelivered,
    onTodo,
  });

  /** When a delivery may be worked on: a claim of another process is its own until its deadline. */
  const dueAt = ({ notBefore, claim }: Delivery): number =>
    Math.max(notBefore, claim && claim.epoch !== lease.epoch ? claim.deadline + CLOCK_SKEW_MS : 0);

  /** Serves one channel, in the order of what happened, until nothing is due there. */
  const serve = async (channelId: string) => {
    for (;;) {
      if (stopping.signal.aborted) return;
      const own = [...(await load())]
        .filter(([, each]) => each.channelId === channelId)
        .sort(([, a], [, b]) => a.order - b.order);
      const [next] = own;
      if (!next || dueAt(next[1]) > now()) return;
      await deliver(...next);
    }
  };

  const start = async () => {
    clearTimeout(timer);
    const all = [...(await load()).values()];
    const first = new Map<string, Delivery>();
    for (const each of all) {
      const earliest = first.get(each.channelId);
      if (!earliest || each.order < earliest.order) first.set(each.channelId, each);
    }
    let soonest = Number.POSITIVE_INFINITY;
    for (const [channelId, delivery] of first) {
      const due = dueAt(delivery);
      if (due > now()) soonest = Math.min(soonest, due);
      else if (!serving.has(channelId)) {
        // Side by side: a channel that is slow, limited or forbidden holds up no other.
        const work = serve(channelId)
          .catch((err: unknown) => {
            if (err instanceof TakenOver || stopping.signal.aborted) return;
            log.error({ err, channel: channelId }, "A channel could not be served; it is tried again");
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
      log.error({ err }, "The outbox could not be read; trying again");
      soon ??= setTimeout(wake, 2_000);
    });
  }

  return {
    async prepare(events, wants) {
      const prepared = new Map<string, Delivery>();
      const all = events.length === 0 ? [] : await subscriptions.all();
      const health = new Map(
        await Promise.all(
          all.map(async ({ channelId }) => [channelId, await subscriptions.health(channelId)] as const),
        ),
      );
      const held = await load();
      for (const event of events) {
        for (const subscription of all) {
          const { channelId } = subscription;
          const doing = health.get(channelId);
          if (doing?.goneSince !== undefined && now() - doing.goneSince > LEFT_MS) {
            await subscriptions.remove(channelId);
            continue;
          }
          if (doing?.paused || !subscription.topics[TOPIC_OF[event.kind]] || !wants(subscription, event))
            continue;
          const id = `${eventId(event)}@${channelId}`;
          orders += 1;
          const delivery: Delivery = {
            event,
            channelId,
            at: now(),
            order: orders,
            attempts: 0,
            notBefore: 0,
          };
          prepared.set(id, delivery);
        }
      }
      return {
        writes: [...prepared].map(([id, delivery]) => outbox.add(id, delivery)),
        release: () => {
          for (const [id, delivery] of prepared) held.set(id, delivery);
          if (prepared.size > 0) wake();
        },
      };
    },
    wake,
    idle: () => serving.size === 0,
    async stop() {
      stopping.abort();
      clearTimeout(timer);
      clearTimeout(soon);
      await Promise.allSettled(serving.values());
    },
  };
}
