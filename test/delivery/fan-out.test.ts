import { describe, expect, it } from "vitest";
import { deliveryId } from "../../src/delivery/collections.js";
import { BUNDLE, bundleId, bundlesOf, deliveriesIn, fanOut } from "../../src/delivery/fan-out.js";
import { draftOf } from "../../src/delivery/feed.js";
import { addTo } from "../../src/util/groups.js";
import { tidesFrom } from "./second-feed/tides.js";

describe("the deliveries of events are divided into bundles", () => {
  it.each([
    { channels: [0], bundles: [] },
    { channels: [1, 2], bundles: [[1, 2]] },
    { channels: [BUNDLE], bundles: [[BUNDLE]] },
    { channels: [BUNDLE + 1], bundles: [[BUNDLE], [1]] },
    { channels: [BUNDLE - 1, 0, 3], bundles: [[BUNDLE - 1, 1], [2]] },
    { channels: [2 * BUNDLE, 5], bundles: [[BUNDLE], [BUNDLE], [5]] },
  ])("$channels", ({ channels, bundles }) => {
    const fanOuts = channels.map((count, event) => ({
      feed: "tides",
      eventId: String(event),
      event,
      at: 1,
      channels: Array.from({ length: count }, (_, at) => ({
        channelId: String(at),
        subject: null,
        order: at,
      })),
    }));
    const divided = bundlesOf(fanOuts);
    expect(divided.map((each) => each.fanOuts.map((part) => part.channels.length))).toEqual(bundles);
    const ids = fanOuts.flatMap(({ feed, eventId, channels }) =>
      channels.map(({ channelId }) => deliveryId(feed, eventId, channelId)),
    );
    expect(divided.flatMap((each) => [...deliveriesIn(each).keys()])).toEqual(ids);
    expect(divided.map(bundleId)).toEqual(divided.map((each) => [...deliveriesIn(each).keys()][0]));
  });
});

it("goes to each channel once, for all of its subscriptions if several want the event", async () => {
  const { definition } = tidesFrom("not read");
  const feed: Parameters<typeof fanOut>[0] = {
    definition,
    idOf: (event) => String(event).split("@")[0] ?? "",
    topicOf: () => "rises",
    wants: ({ subject }) => subject !== "unwanted",
  };
  const channelOf = (event: unknown) => String(event).split("@")[1] ?? "";
  const all = [
    ["1", "a"],
    ["1", "unwanted"],
    ["2", "a"],
    ["2", "b"],
    ["3", "unwanted"],
  ].map(([channelId = "", subject = ""]) => ({ ...draftOf(definition, channelId), subject }));
  const byChannel = new Map<string, typeof all>();
  for (const each of all) addTo(byChannel, each.channelId, each);
  let order = 0;
  const counted = { nextOrder: () => ++order, now: () => 9 };
  const listeners = { all, byChannel };
  const fanOuts = [
    ...(await fanOut(feed, ["high"], listeners, counted)),
    ...(await fanOut({ ...feed, channelOf }, ["low@1", "low@2", "low@1"], listeners, counted)),
  ];
  expect(fanOuts.map(({ event, channels }) => [event, channels])).toEqual([
    [
      "high",
      [
        { channelId: "1", subject: "a", order: 1 },
        { channelId: "2", subject: null, order: 2 },
      ],
    ],
    ["low@1", [{ channelId: "1", subject: "a", order: 3 }]],
    ["low@2", [{ channelId: "2", subject: null, order: 4 }]],
    ["low@1", []],
  ]);
});

it("lets servers take turns, and people with private alerts, too", async () => {
  const { definition } = tidesFrom("not read");
  const feed: Parameters<typeof fanOut>[0] = {
    definition,
    idOf: String,
    topicOf: () => "rises",
    wants: () => true,
  };
  const servers = [...Array<string>(4).fill("large"), "small", "small", null, null];
  const all = servers.map((guildId, at) => ({ ...draftOf(definition, String(at)), subject: null, guildId }));
  let order = 0;
  const counted = { nextOrder: () => ++order, now: () => 9 };
  const [sent] = await fanOut(feed, ["high"], { all, byChannel: new Map() }, counted);
  expect(sent?.channels.map(({ channelId }) => channelId)).toEqual(["0", "4", "6", "7", "1", "5", "2", "3"]);
  expect(sent?.channels.map((each) => each.order)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
});
