import { readFileSync } from "node:fs";
import * as z from "zod";
import type { Feed, FeedDefinition, FeedModule, FeedOption } from "../../../src/delivery/feed.js";
import { optionOf } from "../../../src/delivery/feed.js";
import { address } from "../../../src/screens/addresses.js";
import { md } from "../../../src/text/markdown.js";

/** The tide at a place, as the test writes it into a file. */
const tide = z.object({ place: z.string(), height: z.number(), reading: z.number(), over: z.boolean() });
type Tide = z.infer<typeof tide>;

const event = z.object({ kind: z.enum(["rise", "surge"]), ...tide.shape });
type TideEvent = z.infer<typeof event>;

const least: FeedOption<number> = {
  description: "The height that matters, in metres",
  maxLength: 4,
  byDefault: 2,
  schema: z.number(),
  parse: (text) => (/^\d{1,2}$/.test(text) ? Number(text) : undefined),
  problem: "I cannot read that height. Type whole metres, such as `3`.",
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

/** Reads tides from a file: a feed as small as one can be, which nothing in src/ knows of. */
export const tidesFrom = (file: string): FeedModule => ({
  definition,
  pollMs: () => 1_000,
  create({ renderer, state }) {
    const known = new Map<string, Tide>();
    const render = ({ place, height }: Tide, mark: string) =>
      renderer.message({
        title: md`High tide at ${place}`,
        tone: "warning",
        body: [md`**${height}** metres`],
        readings: [],
        links: [{ label: "Help", to: address("help", {}), mark }],
      });
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
        payload: render(each, mark),
        title: `Tide at ${each.place}`,
        revision: each.reading,
      }),
      lasting: {
        async stateOf(place) {
          const { reading, over } = tideAt(place);
          return { revision: reading, endedAt: over ? Date.now() : null };
        },
        current: async (place, mark) => render(tideAt(place), mark),
        titleOf: async (place) => `Tide at ${place}`,
        beginningOf: (place) => `${place}:rise`,
      },
    };
    return {
      feed,
      async poll(publisher) {
        for (const each of z.array(tide).parse(JSON.parse(readFileSync(file, "utf8")))) {
          const progress = `tides ${each.place}`;
          const last = await state.progress.get(progress);
          const before = known.get(each.place);
          known.set(each.place, each);
          if (last?.completeAt === each.reading) continue;
          const isSurge = before !== undefined && each.height > before.height + 1;
          const events = last ? (isSurge ? [{ kind: "surge", ...each }] : []) : [{ kind: "rise", ...each }];
          const { writes, release } = await publisher.prepare(events);
          await state.commit([...writes, state.progress.put(progress, { completeAt: each.reading })]);
          publisher.touch();
          release();
        }
        return "done";
      },
    };
  },
});
