import * as z from "zod";
import type { Feed, FeedDefinition, FeedModule, Publisher, SelfReport } from "../../delivery/feed.js";
import type { Renderer } from "../../discord/message.js";
import type { View } from "../../screens/view.js";
import type { Trouble } from "../../storage/catalogue.js";
import type { LeasedState } from "../../storage/lease.js";
import { md } from "../../text/markdown.js";
import { ageOf } from "../../util/clock.js";
import { HOUR, SECOND } from "../../util/units.js";
import { titleOf, troubleView } from "./messages.js";
import { compareTroubles, findTroubles } from "./troubles.js";

/** The name of this feed. */
export const OPERATOR_FEED = "operator";

/** How often it is looked at what ails the bot, in ms. */
const LOOK_MS = 30 * SECOND;
/** A channel that Discord refused is tried again after so long, in ms: nobody can resume it by a command. */
const RETRY_MS = HOUR;

const SAMPLE: Trouble = { kind: "explorer", since: 0, seenAt: 0, details: [], revision: 0 };

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
async function retryPaused(state: LeasedState, channelIds: readonly string[], now: number): Promise<void> {
  for (const channelId of channelIds) {
    const health = await state.health.get(channelId);
    if (!health?.paused || ageOf(health.erroredAt ?? 0, now) < RETRY_MS) continue;
    const { paused: _, ...rest } = health;
    await state.commit([state.health.put(channelId, rest)]);
  }
}

/** Which documents of the state were set aside, by collection. */
async function unreadableIn({ unreadable }: LeasedState): Promise<readonly string[]> {
  const collections: string[] = [];
  for await (const [, { collection }] of unreadable.entries()) collections.push(collection);
  return collections;
}

const createPoll =
  (state: LeasedState, self: SelfReport, now: () => number) => async (publisher: Publisher) => {
    const channelIds = (await publisher.subscriptions()).map(({ channelId }) => channelId);
    if (channelIds.length === 0) return "done" as const;
    await retryPaused(state, channelIds, now());
    const { troubles } = state;
    const found = findTroubles({
      ...self,
      waitingMs: await self.waitingMs(),
      unreadable: await unreadableIn(state),
      elapsed: performance.now(),
    });
    const { begun, changed, forgotten: gone } = compareTroubles(await troubles.list(), found, now());
    if (begun.size + changed.size + gone.length === 0) return "done" as const;
    const { writes, release } = await publisher.prepare([...begun.keys()].map((id) => ({ id })));
    await state.commit([
      ...writes,
      ...[...begun, ...changed].map(([id, trouble]) => troubles.put(id, trouble)),
      ...gone.map((id) => troubles.delete(id)),
    ]);
    release();
    if (changed.size > 0) publisher.touch([...changed.keys()]);
    return "done" as const;
  };

/** Tells the operator, in a channel of theirs, what ails the bot: one message each, edited when it is over. */
export const operator: FeedModule = {
  definition,
  pollMs: ({ watchPollSeconds }) => Math.min(LOOK_MS, watchPollSeconds * SECOND),
  create: ({ state, renderer, self, now }) => ({
    feed: createFeed(state, renderer),
    poll: createPoll(state, self, now),
  }),
};
