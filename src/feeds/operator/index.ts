import * as z from "zod";
import type {
  Feed,
  FeedDefinition,
  FeedModule,
  PollOutcome,
  Publisher,
  SelfReport,
} from "../../delivery/feed.js";
import type { Renderer } from "../../discord/message.js";
import type { View } from "../../screens/view.js";
import type { Trouble } from "../../storage/catalogue.js";
import type { LeasedState } from "../../storage/lease.js";
import { md } from "../../text/markdown.js";
import { ageOf } from "../../util/clock.js";
import { HOUR, MINUTE, SECOND } from "../../util/units.js";
import { titleOf, troubleView } from "./messages.js";
import { compareTroubles, findTroubles, isLate } from "./troubles.js";

/** The name of this feed. */
export const OPERATOR_FEED = "operator";

/** How often it is looked at what ails the bot, in ms. */
const LOOK_MS = 30 * SECOND;
/** A channel that Discord refused is tried again after so long, in ms: nobody can resume it by a command. */
const RETRY_MS = HOUR;

const SAMPLE: Trouble = { channelId: "", kind: "explorer", since: 0, seenAt: 0, details: [], revision: 0 };

const definition: FeedDefinition = {
  name: OPERATOR_FEED,
  description: "Be told what ails the bot",
  thing: "notice",
  topics: {
    troubles: {
      description: "What ails the bot",
      byDefault: true,
      isFixed: true,
      words: () => "what ails the bot",
    },
  },
  options: {},
  threads: false,
  tagName: /bot|operator|ops/i,
  sample: async ({ now }, _, mark) => troubleView({ ...SAMPLE, since: now }, mark),
  standing: async () => [md`OPERATOR_CHANNEL_ID makes it, and nobody else can subscribe to it.`],
};

const event = z.object({ id: z.string() });
type OperatorEvent = z.infer<typeof event>;

/** What remains to be said of a trouble that is forgotten. */
const OVER: View = { title: md`This is over`, tone: "neutral", readings: [] };

function createFeed(state: LeasedState, renderer: Renderer): Feed<OperatorEvent> {
  const { troubles } = state;
  const current = async (id: string, mark: string) => {
    const trouble = await troubles.get(id);
    return renderer.message(trouble ? troubleView(trouble, mark) : OVER);
  };
  return {
    definition,
    readEvent: (json) => event.safeParse(json).data,
    idOf: ({ id }) => id,
    topicOf: () => "troubles",
    subjectsOf: ({ id }) => [id],
    begins: () => true,
    loudnessOf: () => "normal",
    wants: () => true,
    async render({ id }, mark) {
      const trouble = await troubles.get(id);
      if (!trouble) return undefined;
      const payload = renderer.message(troubleView(trouble, mark));
      return { payload, title: titleOf(trouble), revision: trouble.revision };
    },
    lasting: {
      async stateOf(id) {
        const trouble = await troubles.get(id);
        return trouble && { revision: trouble.revision, endedAt: trouble.endedAt ?? null };
      },
      current,
      titleOf: async (id) => titleOf((await troubles.get(id)) ?? SAMPLE),
      beginningOf: (id) => id,
    },
  };
}

/** Takes a channel up again that Discord refused a while ago. */
async function retryPaused(state: LeasedState, channelId: string, now: number): Promise<void> {
  const health = await state.health.get(channelId);
  if (!health?.paused || ageOf(health.erroredAt ?? 0, now) < RETRY_MS) return;
  const { paused: _, ...rest } = health;
  await state.commit([state.health.put(channelId, rest)]);
}

/** Documents that were set aside are counted up to this many. */
const MAX_UNREADABLE = 1_000;
/** How often they are looked for, in ms: they do not come and go. */
const UNREADABLE_MS = 10 * MINUTE;

/** Which documents of the state were set aside, by collection: looked for from time to time. */
function createUnreadable({ unreadable }: LeasedState) {
  let known: readonly string[] = [];
  let lookedAt: number | undefined;
  return async (): Promise<readonly string[]> => {
    if (lookedAt !== undefined && performance.now() - lookedAt < UNREADABLE_MS) return known;
    const collections: string[] = [];
    for await (const [, { collection }] of unreadable.entries()) {
      collections.push(collection);
      if (collections.length === MAX_UNREADABLE) break;
    }
    lookedAt = performance.now();
    known = collections;
    return known;
  };
}

/** Announcements are late where they are in so many looks in a row: what waited for the bot itself is just being sent. */
const LATE_LOOKS = 3;

function createPoll(state: LeasedState, self: SelfReport, now: () => number) {
  const { troubles } = state;
  const unreadable = createUnreadable(state);
  let lateLooks = 0;
  return async (publisher: Publisher): Promise<PollOutcome> => {
    const [subscription] = await publisher.subscriptions();
    if (!subscription) return "done";
    const { channelId } = subscription;
    await retryPaused(state, channelId, now());
    // What nobody can be told of now is told once the channel takes it.
    if (!(await publisher.isHeard(subscription))) return "partial";
    const waitingMs = await self.waitingMs(OPERATOR_FEED);
    lateLooks = isLate(waitingMs) ? lateLooks + 1 : 0;
    const found = findTroubles({
      ...self,
      waitingMs: lateLooks < LATE_LOOKS ? 0 : waitingMs,
      unreadable: await unreadable(),
      elapsed: performance.now(),
    });
    const { begun, changed, forgotten } = compareTroubles(await troubles.list(), found, channelId, now());
    if (begun.size + changed.size + forgotten.length === 0) return "done";
    const { writes, release } = await publisher.prepare([...begun.keys()].map((id) => ({ id })));
    await state.commit([
      ...writes,
      ...[...begun, ...changed].map(([id, trouble]) => troubles.put(id, trouble)),
      ...forgotten.map((id) => troubles.delete(id)),
    ]);
    release();
    publisher.touch([...changed.keys()]);
    return "done";
  };
}

/** Tells the operator, in a channel of theirs, what ails the bot: one message each, edited when it is over. */
export const operator: FeedModule = {
  definition,
  pollMs: ({ watchPollSeconds }) => Math.min(LOOK_MS, watchPollSeconds * SECOND),
  create: ({ state, renderer, self, now }) => ({
    feed: createFeed(state, renderer),
    poll: createPoll(state, self, now),
  }),
};
