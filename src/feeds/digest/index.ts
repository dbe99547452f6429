import * as z from "zod";
import type { Feed, FeedDefinition, FeedModule, Publisher } from "../../delivery/feed.js";
import type { Names } from "../../directory/names.js";
import { ExplorerError } from "../../explorer/errors.js";
import type { Explorer } from "../../explorer/service.js";
import type { DigestMemory, Subscription } from "../../storage/catalogue.js";
import type { LeasedState } from "../../storage/lease.js";
import type { Write } from "../../storage/store.js";
import { md, timestamp } from "../../text/markdown.js";
import { DAY, MINUTE } from "../../util/units.js";
import { createSources, facts, readFacts, remember, type Sources } from "./facts.js";
import { digestView } from "./messages.js";
import { createSlots, options, scheduleOf, scheduleWords, slotAfter } from "./schedule.js";

/** A digest that comes so long after its hour is late, in ms. */
const LATE_MS = 15 * MINUTE;
/** How often it is looked whether one is due at the least, in ms. */
const LOOK_MS = MINUTE;
/** What happened before somebody subscribed is told no further back than this, in ms. */
const FIRST_MS = 7 * DAY;

const event = z.object({
  channelId: z.string(),
  dueAt: z.number(),
  every: z.enum(["day", "week"]),
  since: z.number(),
  until: z.number(),
  isLate: z.boolean(),
  facts,
});
type DigestEvent = z.infer<typeof event>;

const definition: FeedDefinition = {
  name: "digest",
  description: "Sum up the week in a channel: votes, validators, the price",
  thing: "digest",
  topics: {
    digest: {
      description: "The digest",
      byDefault: true,
      isFixed: true,
      words: (subscription) => `a digest ${scheduleWords(scheduleOf(subscription))}`,
    },
  },
  options,
  isChangedAnew: true,
  isQuiet: true,
  threads: false,
  tagName: /digest|news|summary/i,

  async sample({ explorer, state, names, now }, subscription, mark) {
    const { every } = scheduleOf(subscription);
    const since = now - (every === "week" ? 7 * DAY : DAY);
    const before = { at: since, version: null };
    const found = await readFacts(createSources({ explorer, state, names, now }), before);
    return digestView(found, { since, until: now, every, isLate: false }, mark);
  },

  standing: async ({ now }, subscription) => [
    md`The first one comes ${timestamp(slotAfter(scheduleOf(subscription), now), "f")}.`,
  ],

  async nowOf({ digests }, subscription) {
    const told = (await digests.get(subscription.channelId))?.at;
    return told === undefined ? md`none yet` : md`the last one up to ${timestamp(told, "f")}`;
  },
};

interface WatchDeps {
  readonly explorer: Explorer;
  readonly state: LeasedState;
  readonly names: Names;
  readonly now: () => number;
}

/** Looks whether a digest is due, and publishes it with what it tells. */
function createDigestWatch({ explorer, state, names, now }: WatchDeps) {
  const { digests } = state;
  const slotOf = createSlots();

  /** What is due for a subscription: an event, and what to remember. */
  const settle = async (subscription: Subscription, known: DigestMemory | undefined, sources: Sources) => {
    const schedule = scheduleOf(subscription);
    const slot = slotOf(schedule, now());
    const { channelId } = subscription;
    const memory = async (at: number): Promise<DigestMemory> => ({
      at,
      ...(await remember(sources, known)),
    });
    // A clock was ahead then: nobody knows what was told.
    const isWrong = known !== undefined && known.at > now() + DAY;
    // What was due before it was set up like this is not told.
    const setUpAt = subscription.savedAt ?? subscription.since;
    if (isWrong || (!known && slot.at <= setUpAt))
      return { memory: await memory(Math.max(slot.at, now() - FIRST_MS)) };
    if (slot.at <= Math.max(known?.at ?? 0, setUpAt)) return undefined;
    const before = known ?? { at: Math.max(now() - FIRST_MS, setUpAt), version: null };
    const found = await readFacts(sources, before);
    const told: DigestEvent = {
      channelId,
      dueAt: slot.at,
      every: schedule.every,
      since: before.at,
      until: now(),
      isLate: now() - slot.at > LATE_MS,
      facts: found,
    };
    return { memory: await memory(now()), told };
  };

  /** What is remembered, while this process is the one that writes it. */
  let held: Map<string, DigestMemory> | undefined;

  return async (publisher: Publisher) => {
    const subscribed = await publisher.subscriptions();
    const known = held ?? new Map(await digests.list());
    if (subscribed.length === 0 && known.size === 0) return "done" as const;
    const channels = new Set(subscribed.map(({ channelId }) => channelId));
    const next = new Map([...known].filter(([id]) => channels.has(id)));
    const writes: Write[] = [...known.keys()]
      .filter((id) => !channels.has(id))
      .map((id) => digests.delete(id));
    const events: DigestEvent[] = [];
    const sources = createSources({ explorer, state, names, now: now() });
    let isWhole = true;
    for (const subscription of subscribed) {
      try {
        const due = await settle(subscription, known.get(subscription.channelId), sources);
        if (!due) continue;
        writes.push(digests.put(subscription.channelId, due.memory));
        next.set(subscription.channelId, due.memory);
        if (due.told) events.push(due.told);
      } catch (error) {
        // It comes late, and says so.
        if (!(error instanceof ExplorerError)) throw error;
        isWhole = false;
      }
    }
    const { writes: deliveries, release } = await publisher.prepare(events);
    const batch = [...writes, ...deliveries];
    // Where nobody knows whether it was written, it is read again.
    held = undefined;
    if (batch.length > 0) await state.commit(batch);
    held = next;
    release();
    return isWhole ? ("done" as const) : ("partial" as const);
  };
}

/** Sums up what happened, at a time of the week. */
export const digest: FeedModule = {
  definition,
  pollMs: ({ watchPollSeconds }) => Math.min(LOOK_MS, watchPollSeconds * 1_000),

  create({ explorer, state, renderer, names, now }) {
    const feed: Feed<DigestEvent> = {
      definition,
      readEvent: (json) => event.safeParse(json).data,
      idOf: ({ dueAt, every }) => `${every}:${dueAt}`,
      topicOf: () => "digest",
      channelOf: ({ channelId }) => channelId,
      loudnessOf: () => "silent",
      // Nothing that follows is about it.
      subjectsOf: () => [],
      begins: () => true,
      wants: () => true,
      async render({ facts: told, ...period }, mark) {
        const view = digestView(told, period, mark);
        return { payload: renderer.message(view), title: view.title.toString(), revision: 0 };
      },
    };
    const poll = createDigestWatch({
      explorer: explorer.for("background", { keep: false }),
      state,
      names,
      now,
    });
    return { feed, poll };
  },
};
