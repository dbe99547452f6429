import { readFileSync } from "node:fs";
import * as z from "zod";
import { subscriptionId } from "../../../src/delivery/collections.js";
import {
  type Feed,
  type FeedDefinition,
  type FeedOption,
  optionOf,
  type SubjectChoice,
} from "../../../src/delivery/feed.js";
import type { FeedModule, FeedServices, PollSteps, Subscribers } from "../../../src/delivery/module.js";
import { handlerOf } from "../../../src/discord/buttons.js";
import type { Renderer } from "../../../src/discord/message.js";
import { address, buttonAddress, defineButton, idParameter } from "../../../src/screens/addresses.js";
import { defineCollection } from "../../../src/storage/collection.js";
import type { State } from "../../../src/storage/state.js";
import { md } from "../../../src/text/markdown.js";

/** Tide at a place, as written to the file by the test. */
const tide = z.object({ place: z.string(), height: z.number(), reading: z.number(), over: z.boolean() });
type Tide = z.infer<typeof tide>;

const event = z.object({ kind: z.enum(["rise", "surge"]), ...tide.shape });
type TideEvent = z.infer<typeof event>;

/** Last reading of each place. It has no owner. */
const tideReadings = defineCollection({
  name: "tide-readings",
  schema: z.object({ reading: z.number() }),
  lifetime: "forever",
});

/** Height of the latest tide event, by subscription. */
const tideGauges = defineCollection({
  name: "tide-gauges",
  schema: z.object({ height: z.number() }),
  lifetime: "as long as its subscription",
  owners: [{ kind: "subscription" }],
});

/** Swimmers at each place. They leave when the tide is over, or when they ask to be forgotten. */
const tideSwimmers = defineCollection({
  name: "tide-swimmers",
  schema: z.object({ place: z.string(), userId: z.string() }),
  lifetime: "until the tide is over",
  owners: [
    { kind: "subject", subjectOf: (_, { place }) => place },
    { kind: "person", mentions: (userId, _, swimmer) => swimmer.userId === userId },
  ],
});

/** Lifeguards on duty at each place. Their post stays when a person asks to be forgotten. */
const tideGuards = defineCollection({
  name: "tide-guards",
  schema: z.object({ userId: z.string().nullable() }),
  lifetime: "forever",
  owners: [
    {
      kind: "person",
      mentions: (userId, _, guard) => guard.userId === userId,
      without: () => ({ userId: null }),
    },
  ],
});

const swimButton = defineButton("tide-swim", { id: idParameter });

const swim = handlerOf({
  button: swimButton,
  audience: "person",
  async handle({ id: place }, { user }, { state, renderer }: FeedServices) {
    await state.commit([
      state.open(tideSwimmers).put(`${place}/${user.id}`, { place, userId: user.id }),
      state.open(tideGuards).put(place, { userId: user.id }),
    ]);
    return renderer.message({ title: md`🏊 You're swimming at ${place}`, tone: "good", readings: [] });
  },
});

const least: FeedOption<number> = {
  description: "The height that matters, in metres",
  maxLength: 4,
  byDefault: 2,
  schema: z.number(),
  parse: (text) => (/^\d{1,2}$/.test(text) ? Number(text) : undefined),
  problem: "I cannot read that height. Type whole metres, such as `3`.",
};

/** The subject of a watch is a height. */
const height: SubjectChoice = {
  of: (settings) => String(settings.least),
  settings: (subject) => ({ least: Number(subject) }),
  nameOf: (subject) => `${subject} metres or more`,
};

const definition: FeedDefinition = {
  name: "tides",
  description: "Subscribe a channel to the tides",
  thing: "tide",
  topics: {
    rises: { description: "Tides that rise", byDefault: true, words: () => "rising tides" },
    surges: { description: "Surges of a tide", byDefault: false, words: () => "surges" },
  },
  options: { least },
  threads: true,
  tagName: /tide/i,
  watches: [
    {
      name: "tide",
      description: "Get private alerts about tides",
      subject: height,
      screen: { name: "transfers", subjectOf: () => "3", isForChannels: true },
    },
  ],
  sample: async (_, __, mark) => ({
    title: md`High tide`,
    tone: "neutral",
    body: [md`Nobody is getting wet.`],
    readings: [],
    links: [{ label: "Help", to: address("help", {}), mark }],
  }),
  standing: async () => [md`The sea is calm.`],
  lastRead: async () => md`The sea is always there.`,
};

/** Reads the file, and yields the events of each tide that has changed. */
async function* pollFile(
  file: string,
  state: State,
  known: Map<string, Tide>,
  subscribers: Subscribers,
): PollSteps {
  for (const each of z.array(tide).parse(JSON.parse(readFileSync(file, "utf8")))) {
    const last = await state.open(tideReadings).get(each.place);
    const before = known.get(each.place);
    known.set(each.place, each);
    if (last?.reading === each.reading) continue;
    const isSurge = before !== undefined && each.height > before.height + 1;
    const kind = last ? isSurge && "surge" : "rise";
    const events = kind ? [{ kind, ...each }] : [];
    const gauges = (await subscribers.subscriptions()).map(({ channelId, feed, subject }) =>
      state.open(tideGauges).put(subscriptionId(channelId, feed, subject), { height: each.height }),
    );
    yield {
      events,
      writes: [...gauges, state.open(tideReadings).put(each.place, { reading: each.reading })],
      changed: [each.place],
      ended: each.over ? [each.place] : [],
    };
  }
  return "done";
}

const messageOf = (renderer: Renderer, { place, height }: Tide, mark: string) =>
  renderer.message({
    title: md`High tide at ${place}`,
    tone: "warning",
    body: [md`**${height}** metres`],
    readings: [],
    links: [
      { label: "Swim", to: buttonAddress(swimButton, { id: place }) },
      { label: "Help", to: address("help", {}), mark },
    ],
  });

/** Creates a feed that reads tides from a file. It is the smallest complete feed, and src/ does not know it. */
export const tidesFrom = (file: string): FeedModule => ({
  definition,
  collections: [tideReadings, tideGauges, tideSwimmers, tideGuards],
  buttons: [swim],
  pollMs: () => 1_000,
  create({ renderer, state }) {
    const known = new Map<string, Tide>();
    const tideAt = (place: string): Tide => known.get(place) ?? { place, height: 0, reading: 0, over: false };
    const feed: Feed<TideEvent> = {
      definition,
      readEvent: (json) => event.safeParse(json).data,
      idOf: ({ kind, place, reading }) => (kind === "rise" ? `${place}:rise` : `${place}:surge:${reading}`),
      topicOf: ({ kind }) => (kind === "rise" ? "rises" : "surges"),
      subjectsOf: ({ place }) => [place],
      begins: ({ kind }) => kind === "rise",
      wants: (subscription, { height }) => height >= optionOf(subscription, "least", least),
      render: async (each, mark) => ({
        payload: messageOf(renderer, each, mark),
        title: `Tide at ${each.place}`,
        revision: each.reading,
      }),
      lasting: {
        async stateOf(place) {
          const { reading, over } = tideAt(place);
          return { revision: reading, endedAt: over ? Date.now() : null };
        },
        current: async (place, mark) => messageOf(renderer, tideAt(place), mark),
        titleOf: async (place) => `Tide at ${place}`,
        beginningOf: (place) => `${place}:rise`,
      },
    };
    return { feed, poll: (subscribers) => pollFile(file, state, known, subscribers) };
  },
});
