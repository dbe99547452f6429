import { describe, expect, it } from "vitest";
import type { Trouble } from "../../../src/feeds/operator/collections.js";
import { troubleView } from "../../../src/feeds/operator/messages.js";
import {
  compareTroubles,
  createUnread,
  findTroubles,
  type Signs,
} from "../../../src/feeds/operator/troubles.js";
import { createVitals } from "../../../src/ops/vitals.js";
import { DAY, HOUR, MINUTE } from "../../../src/util/units.js";

/** More lines than a message has. */
const MANY = Array.from({ length: 20 }, (_, at) => `$.field${at}`);
const ELAPSED = 10 * HOUR;
const NOW = Date.UTC(2026, 10, 22);

const well: Signs = {
  troubles: () => new Map(),
  unforeseen: () => [],
  explorerVariables: [],
  commandsProblem: () => null,
  waitingMs: 0,
  unread: [],
  unreadable: [],
  elapsed: ELAPSED,
};
const awayFor = (ms: number) => ({ troubles: () => new Map([["failing", ELAPSED - ms] as const]) });
const difference = {
  endpoint: "price" as const,
  path: "$.burned",
  kind: "new" as const,
  found: "integer",
  isRead: false,
  at: 0,
};

describe("problems of the bot", () => {
  it.each<[string, Partial<Signs>, [string, readonly string[] | undefined][]]>([
    ["finds nothing if everything works", {}, []],
    ["finds a refused key at once", { troubles: () => new Map([["refused", ELAPSED]]) }, [["key", []]]],
    [
      "finds commands that are not registered",
      { commandsProblem: () => "Discord couldn't be reached." },
      [["commands", ["Discord couldn't be reached."]]],
    ],
    ["finds nothing once they are registered", { commandsProblem: () => null }, []],
    [
      "is undecided about the commands before Discord has answered",
      { commandsProblem: () => undefined },
      [["commands", undefined]],
    ],
    [
      "is undecided about an explorer that has been down for 14 min",
      awayFor(14 * MINUTE),
      [["explorer", undefined]],
    ],
    ["finds an explorer that has been down for 15 min", awayFor(15 * MINUTE), [["explorer", []]]],
    [
      "is undecided before the first request to the explorer",
      { troubles: () => undefined },
      [
        ["key", undefined],
        ["explorer", undefined],
      ],
    ],
    ["ignores announcements that have waited for 5 min", { waitingMs: 5 * MINUTE }, []],
    [
      "is undecided about late announcements that may be sent soon",
      { waitingMs: undefined },
      [["late", undefined]],
    ],
    ["finds announcements that have waited longer", { waitingMs: 5 * MINUTE + 1 }, [["late", []]]],
    ["is undecided about feeds just after the start", { unread: undefined }, [["unread", undefined]]],
    ["finds feeds that are not read", { unread: ["validator"] }, [["unread", ["validator"]]]],
    [
      "counts documents that were set aside",
      { unreadable: ["prices", "requests", "prices"] },
      [["unreadable", ["prices: 2", "requests: 1"]]],
    ],
    [
      "finds undocumented answers",
      { unforeseen: () => [difference] },
      [["unforeseen", ["price $.burned: new (integer)"]]],
    ],
    [
      "finds no more undocumented answers than fit into a message",
      { unforeseen: () => MANY.map((path) => ({ ...difference, path })) },
      [["unforeseen", MANY.slice(0, 15).map((path) => `price ${path}: new (integer)`)]],
    ],
    [
      "counts no more documents than fit into a message",
      { unreadable: MANY },
      [["unreadable", MANY.slice(0, 15).map((name) => `${name}: 1`)]],
    ],
  ])("%s", (_, signs, expected) => {
    expect([...findTroubles({ ...well, ...signs })]).toEqual(expected);
  });

  const CHANNEL = "1001";
  const open: Trouble = {
    channelId: CHANNEL,
    kind: "key",
    since: NOW - HOUR,
    seenAt: NOW - MINUTE,
    details: [],
    revision: 0,
  };
  const unforeseen: Trouble = { ...open, kind: "unforeseen", details: ["a"] };
  const compare = (
    known: readonly Trouble[],
    found: [Trouble["kind"], readonly string[] | undefined][],
    at = NOW,
  ) => {
    const { begun, changed, forgotten } = compareTroubles(
      new Map(known.map((each) => [each.kind, each])),
      new Map(found),
      CHANNEL,
      at,
    );
    return { begun: [...begun.values()], changed: [...changed.values()], forgotten };
  };

  type ComparedRow = [string, ReturnType<typeof compare>, Partial<ReturnType<typeof compare>>];
  it.each<ComparedRow>([
    [
      "begins when it is first found",
      compare([], [["key", []]]),
      { begun: [{ channelId: CHANNEL, kind: "key", since: NOW, seenAt: NOW, details: [], revision: 0 }] },
    ],
    ...(["explorer", "unread"] as const).map(
      (kind): ComparedRow => [
        `began a quarter of an hour before it is found: ${kind}`,
        compare([], [[kind, []]]),
        {
          begun: [
            { channelId: CHANNEL, kind, since: NOW - 15 * MINUTE, seenAt: NOW, details: [], revision: 0 },
          ],
        },
      ],
    ),
    ["does not begin again while it is open", compare([open], [["key", []]], NOW - 1), {}],
    ...(["key", "explorer", "late"] as const).map(
      (kind): ComparedRow => [
        `stays open until it has been gone for ten minutes: ${kind}`,
        compare([{ ...open, kind }], [], NOW + 8 * MINUTE),
        {},
      ],
    ),
    [
      "ends after ten minutes without it",
      compare([open], [], NOW + 9 * MINUTE),
      { changed: [{ ...open, endedAt: NOW + 9 * MINUTE, revision: 1 }] },
    ],
    ["does not end because the clock was corrected by an hour", compare([open], [], NOW - HOUR), {}],
    [
      "is not forgotten because the clock was corrected by an hour",
      compare([{ ...open, endedAt: NOW }], [], NOW - HOUR),
      {},
    ],
    ["does not end while its state is unknown", compare([open], [["key", undefined]]), {}],
    [
      "updates the time at which it was last seen, without an edit",
      compare([open], [["key", []]], NOW),
      { changed: [{ ...open, seenAt: NOW }] },
    ],
    [
      "collects its details",
      compare([unforeseen], [["unforeseen", ["b"]]]),
      { changed: [{ ...unforeseen, seenAt: NOW, details: ["a", "b"], revision: 1 }] },
    ],
    [
      "shows each detail once, and no more than fit",
      compare([unforeseen], [["unforeseen", ["a", ...MANY]]]),
      { changed: [{ ...unforeseen, seenAt: NOW, details: ["a", ...MANY.slice(0, 14)], revision: 1 }] },
    ],
    [
      "shows the current number of unreadable documents",
      compare([{ ...open, kind: "unreadable", details: ["prices: 2"] }], [["unreadable", ["prices: 3"]]]),
      {
        changed: [{ ...open, kind: "unreadable", seenAt: NOW, details: ["prices: 3"], revision: 1 }],
      },
    ],
    [
      "is reported again if the operator's channel changes",
      compare([{ ...open, channelId: "1002" }], [["key", []]]),
      {
        begun: [{ channelId: CHANNEL, kind: "key", since: NOW, seenAt: NOW, details: [], revision: 0 }],
        forgotten: ["key"],
      },
    ],
    ["lasts for a day after the last undocumented answer", compare([unforeseen], [], NOW + DAY - HOUR), {}],
    [
      "ends a day after the last undocumented answer",
      compare([unforeseen], [], NOW + DAY),
      { changed: [{ ...unforeseen, endedAt: NOW + DAY, revision: 1 }] },
    ],
    ["stays ended if it is not found again", compare([{ ...open, endedAt: NOW - MINUTE }], []), {}],
    [
      "is forgotten after 30 days",
      compare([{ ...open, endedAt: NOW - 31 * DAY }], []),
      { forgotten: ["key"] },
    ],
  ])("%s", (_, found, expected) => {
    expect(found).toEqual({ begun: [], changed: [], forgotten: [], ...expected });
  });
});

it.each<[string, Partial<Trouble>, RegExp]>([
  [
    "began",
    {},
    /^For the operator: the explorer rejects the API key\|Since .*\|People get cached .*\|- `KEY`$/,
  ],
  [
    "is over since it was last seen, without the advice",
    { seenAt: NOW + 2 * HOUR, endedAt: NOW + 3 * HOUR },
    /^✅ Over: “The explorer rejects the API key” \(lasted 2 h\)\|From <t:\d+:f> to <t:\d+:f>\.$/,
  ],
  [
    "is over, with its details",
    { kind: "unreadable", seenAt: NOW + HOUR, endedAt: NOW + HOUR },
    /\(lasted 60 min\)\|From .*\|- `KEY`$/,
  ],
])("a problem's message says that it %s", (_, given, expected) => {
  const trouble: Trouble = {
    channelId: "1",
    kind: "key",
    since: NOW,
    seenAt: NOW,
    details: ["KEY"],
    revision: 0,
  };
  const { notification, body = [] } = troubleView({ ...trouble, ...given }, "mark");
  expect([notification, ...body].join("|")).toMatch(expected);
});

it("feeds are unread after a quarter of an hour each, except for an outage and the time after it", () => {
  const longUnread = createUnread();
  const well = new Map();
  const away = new Map([["failing", 0] as const]);
  const looks: readonly [
    minute: number,
    troubles: typeof well | undefined,
    late: readonly string[],
    readonly string[] | undefined,
  ][] = [
    [0, undefined, ["validator"], undefined],
    [1, well, ["validator"], undefined],
    [3, well, [], []],
    [4, well, ["validator"], undefined],
    [18, well, ["validator", "price"], undefined],
    [19, well, ["validator", "price"], ["validator"]],
    [20, well, ["price"], undefined],
    [21, well, [], []],
    [22, well, ["price"], undefined],
    [30, away, ["price"], undefined],
    [50, away, ["price"], undefined],
    [51, well, ["price"], undefined],
    [52, well, [], []],
  ];
  for (const [minute, troubles, late, expected] of looks)
    expect(
      longUnread({ troubles: () => troubles, unread: () => late, elapsed: minute * MINUTE }),
      `minute ${minute}`,
    ).toEqual(expected);
});

describe("vitals of the background work", () => {
  const clock = { ms: 0 };
  const vitals = createVitals(() => clock.ms);
  const feeds = [{ name: "governance", pollMs: MINUTE }];
  it.each<[number, () => void, readonly string[]]>([
    [0, () => {}, ["governance hasn't been read yet"]],
    [MINUTE, () => vitals.read("governance"), []],
    [6 * MINUTE, () => {}, []],
    [6 * MINUTE + 1, () => {}, ["governance was last read 5 min ago"]],
    [7 * MINUTE, () => vitals.read("governance"), []],
  ])("report unread feeds after %i ms", (ms, happens, expected) => {
    clock.ms = ms;
    happens();
    expect(vitals.unread(feeds)).toEqual(expected);
  });
  it("report a stalled outbox if deliveries wait and none is settled", () => {
    clock.ms = HOUR;
    expect(vitals.stuck(5 * MINUTE)).toEqual([]);
    expect(vitals.stuck(6 * MINUTE)).toEqual(["announcements have waited for 6 min without any being sent"]);
    vitals.moved();
    expect(vitals.stuck(6 * MINUTE)).toEqual([]);
  });
});
