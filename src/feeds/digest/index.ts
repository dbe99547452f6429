import * as z from "zod";
import type { Subscription } from "../../delivery/collections.js";
import type { Feed, FeedDefinition } from "../../delivery/feed.js";
import type { FeedModule, PollSteps, Subscribers } from "../../delivery/module.js";
import type { Names } from "../../directory/names.js";
import { ExplorerError } from "../../explorer/errors.js";
import type { Explorer } from "../../explorer/service.js";
import type { LeasedState } from "../../storage/lease.js";
import type { Write } from "../../storage/store.js";
import { md, timestamp } from "../../text/markdown.js";
import { DAY, MINUTE } from "../../util/units.js";
import { DIGEST_FEED, type DigestMemory, digests } from "./collections.js";
import { createSources, facts, readFacts, remember, type Sources } from "./facts.js";
import { digestView } from "./messages.js";
import { createSlots, options, scheduleOf, scheduleWords, slotAfter } from "./schedule.js";

/** A digest that comes so long after its hour is late, in ms. */
const LATE_MS = 15 * MINUTE;
/** Maximum interval between checks for due digests, in ms. */
const LOOK_MS = MINUTE;
/** Maximum period of a first digest, in ms. */
const FIRST_MS = 7 * DAY;

const digestEventSchema = z.object({
  channelId: z.string(),
  dueAt: z.number(),
  every: z.enum(["day", "week"]),
  since: z.number(),
  until: z.number(),
  isLate: z.boolean(),
  facts,
});
type DigestEvent = z.infer<typeof digestEventSchema>;

const definition: FeedDefinition = {
  name: DIGEST_FEED,
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
    const sampleSince = now - (every === "week" ? 7 * DAY : DAY);
    const sources = createSources({ explorer, state, names, now });
    // Compared with the validators' present state, so that the drill reports no changes that did not happen.
    const previousDigest = { at: sampleSince, ...(await remember(sources, undefined)) };
    const foundFacts = await readFacts(sources, previousDigest);
    return digestView(foundFacts, { since: sampleSince, until: now, every, isLate: false }, mark);
  },

  standing: async ({ now }, subscription) => [
    md`The first one comes ${timestamp(slotAfter(scheduleOf(subscription), now), "f")}.`,
  ],

  async nowOf(state, subscription) {
    const lastDigestAt = (await state.open(digests).get(subscription.channelId))?.at;
    return lastDigestAt === undefined ? md`none yet` : md`the last one up to ${timestamp(lastDigestAt, "f")}`;
  },
};

interface DigestDeps {
  readonly explorer: Explorer;
  readonly state: LeasedState;
  readonly names: Names;
  readonly now: () => number;
}

/** Looks whether a digest is due, and publishes it with what it tells. */
function createDigestWatch({ explorer, state, names, now }: DigestDeps) {
  const memories = state.open(digests);
  const slotOf = createSlots();

  /** Returns a due digest and the memory to store. */
  const settle = async (subscription: Subscription, known: DigestMemory | undefined, sources: Sources) => {
    const schedule = scheduleOf(subscription);
    const slot = slotOf(schedule, now());
    const { channelId } = subscription;
    const memory = async (at: number): Promise<DigestMemory> => ({
      at,
      ...(await remember(sources, known)),
    });
    // The stored time is from a clock that was ahead.
    const isWrong = known !== undefined && known.at > now() + DAY;
    // Digests that were due before the subscription was set up are not sent.
    const setUpAt = subscription.savedAt ?? subscription.since;
    if (isWrong || (!known && slot.at <= setUpAt))
      return { memory: await memory(Math.max(slot.at, now() - FIRST_MS)) };
    if (slot.at <= Math.max(known?.at ?? 0, setUpAt)) return undefined;
    const previousDigest = known ?? { at: Math.max(now() - FIRST_MS, setUpAt), version: null };
    const foundFacts = await readFacts(sources, previousDigest);
    const digestEvent: DigestEvent = {
      channelId,
      dueAt: slot.at,
      every: schedule.every,
      since: previousDigest.at,
      until: now(),
      isLate: now() - slot.at > LATE_MS,
      facts: foundFacts,
    };
    return { memory: await memory(now()), told: digestEvent };
  };

  /** The stored memories, while this process is the only writer. */
  let heldMemories: Map<string, DigestMemory> | undefined;

  return async function* (subscribers: Subscribers): PollSteps {
    const subscribedChannels = await subscribers.subscriptions();
    const knownMemories = heldMemories ?? new Map(await memories.list());
    if (subscribedChannels.length === 0 && knownMemories.size === 0) return "done";
    const channels = new Set(subscribedChannels.map(({ channelId }) => channelId));
    const nextMemories = new Map([...knownMemories].filter(([id]) => channels.has(id)));
    const writes: Write[] = [];
    const events: DigestEvent[] = [];
    const sources = createSources({ explorer, state, names, now: now() });
    let isWhole = true;
    for (const subscription of subscribedChannels) {
      try {
        const dueDigest = await settle(subscription, knownMemories.get(subscription.channelId), sources);
        if (!dueDigest) continue;
        writes.push(memories.put(subscription.channelId, dueDigest.memory));
        nextMemories.set(subscription.channelId, dueDigest.memory);
        if (dueDigest.told) events.push(dueDigest.told);
      } catch (error) {
        // It comes late, and says so.
        if (!(error instanceof ExplorerError)) throw error;
        isWhole = false;
      }
    }
    // If the result of the commit is unknown, read it again.
    heldMemories = undefined;
    yield { events, writes };
    heldMemories = nextMemories;
    return isWhole ? "done" : "partial";
  };
}

/** Sums up what happened, at a time of the week. */
export const digest: FeedModule = {
  definition,
  collections: [digests],
  pollMs: ({ watchPollSeconds }) => Math.min(LOOK_MS, watchPollSeconds * 1_000),

  create({ explorer, state, renderer, names, now }) {
    const feed: Feed<DigestEvent> = {
      definition,
      readEvent: (json) => digestEventSchema.safeParse(json).data,
      idOf: ({ dueAt, every }) => `${every}:${dueAt}`,
      topicOf: () => "digest",
      channelOf: ({ channelId }) => channelId,
      loudnessOf: () => "silent",
      // No later event follows up on a digest.
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
