import * as z from "zod";
import { channelHealths } from "../../delivery/collections.js";
import type { Feed, FeedDefinition } from "../../delivery/feed.js";
import type { FeedModule, PollSteps, SelfReport, Subscribers } from "../../delivery/module.js";
import type { Renderer } from "../../discord/message.js";
import type { View } from "../../screens/view.js";
import { type State, setAsideCollections } from "../../storage/state.js";
import type { Write } from "../../storage/store.js";
import { md } from "../../text/markdown.js";
import { ageOf } from "../../util/clock.js";
import { HOUR, MINUTE, SECOND } from "../../util/units.js";
import { type Trouble, troubles } from "./collections.js";
import { titleOf, troubleView } from "./messages.js";
import { compareTroubles, createUnread, findTroubles, isLate } from "./troubles.js";

/** The name of this feed. */
export const OPERATOR_FEED = "operator";

/** Interval of checks for problems, in ms. */
const LOOK_MS = 30 * SECOND;
/** Time after which a channel that Discord refused is tried again, in ms. No command can resume it. */
const RETRY_MS = HOUR;

const SAMPLE: Trouble = { channelId: "", kind: "explorer", since: 0, seenAt: 0, details: [], revision: 0 };

const definition: FeedDefinition = {
  name: OPERATOR_FEED,
  description: "Get alerts about problems with the bot",
  thing: "notice",
  topics: {
    troubles: {
      description: "Problems with the bot",
      byDefault: true,
      isFixed: true,
      words: () => "problems with the bot",
    },
  },
  options: {},
  threads: false,
  tagName: /bot|operator|ops/i,
  sample: async ({ now }, _, mark) => troubleView({ ...SAMPLE, since: now }, mark),
  standing: async () => [md`Set up with OPERATOR_CHANNEL_ID. Other channels can't subscribe to it.`],
};

const troubleEventSchema = z.object({ id: z.string() });
type OperatorEvent = z.infer<typeof troubleEventSchema>;

/** Shown for a problem that is no longer stored. */
const OVER: View = {
  title: md`No longer reported here`,
  notification: md`Problems with the bot are no longer reported in this channel`,
};

function createFeed(state: State, renderer: Renderer): Feed<OperatorEvent> {
  const knownTroubles = state.open(troubles);
  const currentMessage = async (id: string, mark: string) => {
    const trouble = await knownTroubles.get(id);
    return renderer.message(trouble ? troubleView(trouble, mark) : OVER);
  };
  return {
    definition,
    readEvent: (json) => troubleEventSchema.safeParse(json).data,
    idOf: ({ id }) => id,
    topicOf: () => "troubles",
    subjectsOf: ({ id }) => [id],
    begins: () => true,
    loudnessOf: () => "normal",
    wants: () => true,
    async render({ id }, mark) {
      const trouble = await knownTroubles.get(id);
      if (!trouble) return undefined;
      const payload = renderer.message(troubleView(trouble, mark));
      return { payload, title: titleOf(trouble), revision: trouble.revision };
    },
    lasting: {
      async stateOf(id) {
        const trouble = await knownTroubles.get(id);
        return trouble && { revision: trouble.revision, endedAt: trouble.endedAt ?? null };
      },
      current: currentMessage,
      titleOf: async (id) => titleOf((await knownTroubles.get(id)) ?? SAMPLE),
      beginningOf: (id) => id,
    },
  };
}

/** Returns the write that resumes a channel which Discord refused a while ago. `undefined` if it isn't due. */
async function retryPaused(state: State, channelId: string, now: number): Promise<Write | undefined> {
  const health = await state.open(channelHealths).get(channelId);
  if (!health?.paused || ageOf(health.erroredAt ?? 0, now) < RETRY_MS) return undefined;
  const { paused: _, ...rest } = health;
  return state.open(channelHealths).put(channelId, rest);
}

/** Maximum number of unreadable documents that are counted. */
const MAX_UNREADABLE = 1_000;
/** Interval at which unreadable documents are counted, in ms. */
const UNREADABLE_MS = 10 * MINUTE;

/** Returns a cached function that lists the collections with unreadable documents. */
function createUnreadable(state: State) {
  let knownCollections: readonly string[] = [];
  let lookedAt: number | undefined;
  return async (): Promise<readonly string[]> => {
    if (lookedAt !== undefined && performance.now() - lookedAt < UNREADABLE_MS) return knownCollections;
    knownCollections = await setAsideCollections(state, MAX_UNREADABLE);
    lookedAt = performance.now();
    return knownCollections;
  };
}

/**
 * Number of consecutive checks after which deliveries count as late. After a restart, waiting deliveries are
 * sent sooner than that.
 */
const LATE_LOOKS = 3;

function createPoll(state: State, self: SelfReport, now: () => number) {
  const knownTroubles = state.open(troubles);
  const unreadable = createUnreadable(state);
  let lateLooks = 0;
  const longUnread = createUnread();
  return async function* (subscribers: Subscribers): PollSteps {
    const [subscription] = await subscribers.subscriptions();
    if (!subscription) return "done";
    const { channelId } = subscription;
    const retry = await retryPaused(state, channelId, now());
    if (retry) yield { writes: [retry] };
    // Wait until the channel accepts messages, then report the problem.
    if (!(await subscribers.isHeard(subscription))) return "partial";
    const waitingMs = await self.waitingMs(OPERATOR_FEED);
    lateLooks = isLate(waitingMs) ? lateLooks + 1 : 0;
    const foundTroubles = findTroubles({
      ...self,
      waitingMs: lateLooks > 0 && lateLooks < LATE_LOOKS ? undefined : waitingMs,
      unread: longUnread({ ...self, elapsed: performance.now() }),
      unreadable: await unreadable(),
      elapsed: performance.now(),
    });
    const { begun, changed, forgotten } = compareTroubles(
      await knownTroubles.list(),
      foundTroubles,
      channelId,
      now(),
    );
    if (begun.size + changed.size + forgotten.length === 0) return "done";
    yield {
      events: [...begun.keys()].map((id) => ({ id })),
      writes: [
        ...[...begun, ...changed].map(([id, trouble]) => knownTroubles.put(id, trouble)),
        ...forgotten.map((id) => knownTroubles.delete(id)),
      ],
      changed: [...changed.keys(), ...forgotten],
    };
    return "done";
  };
}

/** Reports the bot's problems in the operator's channel: one message each, edited when the problem is over. */
export const operator: FeedModule = {
  definition,
  collections: [troubles],
  pollMs: ({ watchPollSeconds }) => Math.min(LOOK_MS, watchPollSeconds * SECOND),
  create: ({ state, renderer, self, now }) => ({
    feed: createFeed(state, renderer),
    poll: createPoll(state, self, now),
  }),
};
