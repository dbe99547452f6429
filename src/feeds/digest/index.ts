import * as z from "zod";
import type { Subscription } from "../../delivery/collections.js";
import type { Feed, FeedDefinition } from "../../delivery/feed.js";
import type { FeedDeps, FeedModule, PollSteps, Subscribers } from "../../delivery/module.js";
import { isSuperValidator, partiesIn } from "../../directory/groups.js";
import { headlineOf } from "../../screens/view.js";
import type { State } from "../../storage/state.js";
import type { Write } from "../../storage/store.js";
import { timestampSchema } from "../../storage/timestamp.js";
import { md, timestamp } from "../../text/markdown.js";
import { believed, CLOCK_ERROR_MS, isClockSet } from "../../util/clock.js";
import { inPieces, yieldIfBusy } from "../../util/event-loop.js";
import { DAY, MINUTE } from "../../util/units.js";
import { VALIDATOR_FEED } from "../validator/collections.js";
import { createRecorder, KEPT_MS, RECORD_MS } from "./chronicle.js";
import { collectFacts } from "./collect.js";
import { chronicles, DIGEST_FEED, digests, happenings, type LastDigest } from "./collections.js";
import { facts } from "./facts.js";
import { digestView } from "./messages.js";
import { contradiction, createSlots, options, scheduleOf, scheduleWords, slotAfter } from "./schedule.js";
import { createSources } from "./sources.js";

/** Delay after which a digest says that it is late, in ms. */
const LATE_MS = 15 * MINUTE;
/** Maximum time that a digest waits for a complete read of the votes, in ms. */
const PATIENCE_MS = 10 * MINUTE;
/** Maximum interval between checks for due digests, in ms. */
const LOOK_MS = MINUTE;
/** Maximum period of a first digest, in ms. */
const FIRST_MS = 7 * DAY;
/** Maximum period of any digest, in ms: its channel may have been paused, or the bot away. */
const MOST_MS = KEPT_MS - DAY;
/** Number of channels whose digests are committed together. */
const CHANNELS_PER_STEP = 25;

const digestEventSchema = z.object({
  channelId: z.string(),
  dueAt: timestampSchema,
  every: z.enum(["day", "week"]),
  since: timestampSchema,
  until: timestampSchema,
  isLate: z.boolean(),
  /** True if the digest is late because the bot was not running. */
  wasOffline: z.boolean().optional(),
  facts,
});
type DigestEvent = z.infer<typeof digestEventSchema>;

/** Returns the end of the time that a subscription's last digest covered, epoch ms. `undefined` if there was none. */
async function lastDigestOf(
  state: Pick<State, "open">,
  { channelId, since }: Subscription,
): Promise<number | undefined> {
  const lastDigestAt = (await state.open(digests).get(channelId))?.at;
  // The time before the subscription counts as covered, so that its first digest does not speak of it.
  return lastDigestAt !== undefined && lastDigestAt > since ? lastDigestAt : undefined;
}

const definition: FeedDefinition = {
  name: DIGEST_FEED,
  description: "Post a daily or weekly summary: votes, validators, the price",
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
  contradiction,
  isTypedAgain: true,
  isQuiet: true,
  threads: false,
  tagName: /digest|news|summary/i,

  async sample({ explorer, state, names, directory, now }, subscription, mark) {
    const schedule = scheduleOf(subscription);
    const { every } = schedule;
    const sampleSince = now - (every === "week" ? 7 * DAY : DAY);
    const sources = createSources({
      state,
      names,
      explorer,
      watchedBy: async () => new Set(),
      isSuperValidator: () => false,
      upgradeAt: directory.upgradeDecision()?.schedule?.upgradeAt,
      now,
    });
    const span = { since: sampleSince, until: now };
    const scope = { ...span, nextAt: slotAfter(schedule, now), guildId: subscription.guildId };
    return digestView(await collectFacts(sources, scope), { ...span, every, isLate: false }, mark);
  },

  async standing({ state, now }, subscription) {
    const nextAt = timestamp(slotAfter(scheduleOf(subscription), now), "f");
    const isFirst = (await lastDigestOf(state, subscription)) === undefined;
    return [isFirst ? md`First digest: ${nextAt}.` : md`Next digest: ${nextAt}.`];
  },

  async nowOf({ state }, subscription) {
    const lastDigestAt = await lastDigestOf(state, subscription);
    return lastDigestAt === undefined
      ? md`no digest yet`
      : md`last digest covered up to ${timestamp(lastDigestAt, "f")}`;
  },
};

/** Creates the poll that records changes of validators and yields the digests that are due. */
function createDigestWatch(deps: FeedDeps) {
  const { state, names, directory, subscriptions, now } = deps;
  const explorer = deps.explorer.for("background", { maxAgeMs: RECORD_MS });
  const freshExplorer = deps.explorer.for("background", { maxAgeMs: 0 });
  const memories = state.open(digests);
  const slotOf = createSlots();
  const startedAt = now();
  const recorder = createRecorder(explorer, freshExplorer, state, now);

  /** Digests that wait for a read of the votes, by channel: when they were due, and since when they have waited. */
  const waiting = new Map<string, { readonly dueAt: number; readonly since: number }>();

  /** Returns since when a due digest has waited. Later than its time if the bot was not running then. */
  const waitingSince = (channelId: string, dueAt: number): number => {
    const known = waiting.get(channelId);
    return known?.dueAt === dueAt ? known.since : now();
  };

  /** True once the votes have been read since the digest was due, or if they could not be read for a while. */
  const mayBeMade = (dueAt: number, since: number, votesReadAt = 0): boolean =>
    votesReadAt >= dueAt || now() - since > PATIENCE_MS;

  /** Returns the slot of a due digest, and the end of the previous digest. `undefined` if none is due. */
  const dueDigest = (subscription: Subscription, last: LastDigest | undefined) => {
    const schedule = scheduleOf(subscription);
    const slot = slotOf(schedule, now());
    const lastAt = last?.at;
    // Digests that were due before the subscription was set up are not sent.
    const savedAt = subscription.savedAt ?? subscription.since;
    const setUpAt = believed(savedAt, now(), CLOCK_ERROR_MS);
    // The clock was ahead when this time was stored.
    const isWrong = (lastAt ?? savedAt) > now() + CLOCK_ERROR_MS;
    if (isWrong) return isClockSet(startedAt, now()) ? { baselineAt: now() } : undefined;
    if (lastAt === undefined && slot.at <= setUpAt)
      return { baselineAt: Math.max(slot.at, now() - FIRST_MS) };
    // A person may change it while it waits.
    const isWaiting = lastAt !== undefined && waiting.get(subscription.channelId)?.dueAt === slot.at;
    const skippedAt = believed(last?.skippedAt ?? 0, now(), CLOCK_ERROR_MS);
    if (slot.at <= Math.max(lastAt ?? 0, skippedAt, isWaiting ? 0 : setUpAt)) return undefined;
    const firstSince = Math.max(now() - FIRST_MS, setUpAt);
    return { schedule, slot, since: Math.max(lastAt ?? firstSince, now() - MOST_MS) };
  };

  return async function* (subscribers: Subscribers): PollSteps {
    const subscribedChannels = await subscribers.subscriptions();
    const writes = await (subscribedChannels.length === 0 ? recorder.forget() : recorder.record());
    if (writes.length > 0) yield { writes };
    if (subscribedChannels.length === 0) return "done";
    const lastDigests = await memories.list();
    const sources = createSources({
      state,
      names,
      explorer,
      async watchedBy(guildId) {
        const watches = guildId === null ? [] : await subscriptions.activeIn(guildId, VALIDATOR_FEED);
        return partiesIn(watches, directory);
      },
      isSuperValidator: (party, name) => isSuperValidator(directory, party, name),
      upgradeAt: directory.upgradeDecision()?.schedule?.upgradeAt,
      now: now(),
    });
    let isWhole = true;
    // Thousands may be due at the same time. Each step is one commit.
    for await (const together of inPieces(subscribedChannels, CHANNELS_PER_STEP)) {
      const events: DigestEvent[] = [];
      const endWrites: Write[] = [];
      for (const subscription of together) {
        const { channelId } = subscription;
        const due = dueDigest(subscription, lastDigests.get(channelId));
        if (!due) continue;
        if (!due.schedule) {
          endWrites.push(memories.put(channelId, { at: due.baselineAt, version: null }));
          continue;
        }
        const dueAt = due.slot.at;
        // No digest is posted during a pause. The first one after it covers that time, too.
        if (!(await subscribers.isHeard(subscription))) {
          endWrites.push(memories.put(channelId, { at: due.since, skippedAt: dueAt, version: null }));
          continue;
        }
        const since = waitingSince(channelId, dueAt);
        if (!mayBeMade(dueAt, since, await sources.votesReadAt())) {
          waiting.set(channelId, { dueAt, since });
          isWhole = false;
          continue;
        }
        const at = sources.now;
        endWrites.push(memories.put(channelId, { at, version: null }));
        await yieldIfBusy();
        const span = { since: due.since, until: at };
        events.push({
          ...span,
          channelId,
          dueAt,
          every: due.schedule.every,
          isLate: at - dueAt > LATE_MS,
          // A process may have started earlier and been suspended, or without the lease.
          wasOffline: startedAt > dueAt || since - dueAt > LATE_MS,
          facts: await collectFacts(sources, {
            ...span,
            nextAt: slotAfter(due.schedule, at),
            guildId: subscription.guildId,
          }),
        });
      }
      if (endWrites.length > 0) yield { events, writes: endWrites };
      for (const { channelId } of events) waiting.delete(channelId);
    }
    return isWhole ? "done" : "partial";
  };
}

/** Sends a daily or weekly summary. */
export const digest: FeedModule = {
  definition,
  collections: [digests, chronicles, happenings],
  pollMs: ({ watchPollSeconds }) => Math.min(LOOK_MS, watchPollSeconds * 1_000),

  create(deps) {
    const { renderer, state } = deps;
    const memories = state.open(digests);
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
      // The next digest covers its time, too.
      async givenUp({ channelId, since, until, dueAt }) {
        const last = await memories.get(channelId);
        if (last?.at !== until) return [];
        const skippedAt = Math.max(dueAt, last.skippedAt ?? 0);
        return [memories.put(channelId, { at: since, skippedAt, version: null })];
      },
      async render({ facts: told, ...period }, mark) {
        const view = digestView(told, period, mark);
        return { payload: renderer.message(view), title: headlineOf(view), revision: 0 };
      },
    };
    return { feed, poll: createDigestWatch(deps) };
  },
};
