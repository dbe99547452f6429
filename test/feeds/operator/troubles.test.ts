import { describe, expect, it } from "vitest";
import type { Trouble } from "../../../src/feeds/operator/collections.js";
import { compareTroubles, findTroubles, type Signs } from "../../../src/feeds/operator/troubles.js";
import { createVitals } from "../../../src/ops/vitals.js";
import { DAY, HOUR, MINUTE } from "../../../src/util/units.js";

const ELAPSED = 10 * HOUR;
const NOW = Date.UTC(2026, 10, 22);

const well: Signs = {
  troubles: () => new Map(),
  unforeseen: () => [],
  waitingMs: 0,
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
    ["nothing, where all is well", {}, []],
    ["a key that is refused, at once", { troubles: () => new Map([["refused", ELAPSED]]) }, [["key", []]]],
    [
      "commands that are not registered",
      { commandsProblem: () => "Discord could not be asked." },
      [["commands", ["Discord could not be asked."]]],
    ],
    ["nothing yet of an explorer away for 14 min", awayFor(14 * MINUTE), [["explorer", undefined]]],
    ["an explorer away for 15 min", awayFor(15 * MINUTE), [["explorer", []]]],
    [
      "nobody knows before the explorer was asked",
      { troubles: () => undefined },
      [
        ["key", undefined],
        ["explorer", undefined],
      ],
    ],
    ["announcements of 5 min are not late", { waitingMs: 5 * MINUTE }, []],
    ["older ones are", { waitingMs: 5 * MINUTE + 1 }, [["late", []]]],
    [
      "documents that were set aside, counted",
      { unreadable: ["prices", "requests", "prices"] },
      [["unreadable", ["prices: 2", "requests: 1"]]],
    ],
    [
      "answers that nobody foresaw",
      { unforeseen: () => [difference] },
      [["unforeseen", ["price $.burned: new (integer)"]]],
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

  it.each<[string, ReturnType<typeof compare>, Partial<ReturnType<typeof compare>>]>([
    [
      "begins once",
      compare([], [["key", []]]),
      { begun: [{ channelId: CHANNEL, kind: "key", since: NOW, seenAt: NOW, details: [], revision: 0 }] },
    ],
    ["does not begin again while it is open", compare([open], [["key", []]], NOW - 1), {}],
    ["comes and goes within ten minutes as one", compare([open], [], NOW + 8 * MINUTE), {}],
    [
      "is over once it was not found for ten minutes",
      compare([open], [], NOW + 9 * MINUTE),
      { changed: [{ ...open, endedAt: NOW + 9 * MINUTE, revision: 1 }] },
    ],
    ["is not over where nobody knows", compare([open], [["key", undefined]]), {}],
    [
      "is seen again each minute, without an edit",
      compare([open], [["key", []]], NOW),
      { changed: [{ ...open, seenAt: NOW }] },
    ],
    [
      "gathers what is seen of it",
      compare([unforeseen], [["unforeseen", ["b"]]]),
      { changed: [{ ...unforeseen, seenAt: NOW, details: ["a", "b"], revision: 1 }] },
    ],
    [
      "of documents, shows how many there are now",
      compare([{ ...open, kind: "unreadable", details: ["prices: 2"] }], [["unreadable", ["prices: 3"]]]),
      {
        changed: [{ ...open, kind: "unreadable", seenAt: NOW, details: ["prices: 3"], revision: 1 }],
      },
    ],
    [
      "is told anew where another channel is told from now on",
      compare([{ ...open, channelId: "1002" }], [["key", []]]),
      {
        begun: [{ channelId: CHANNEL, kind: "key", since: NOW, seenAt: NOW, details: [], revision: 0 }],
        forgotten: ["key"],
      },
    ],
    ["of answers, lasts for a day after the last one", compare([unforeseen], [], NOW + DAY - HOUR), {}],
    [
      "of answers, is over then",
      compare([unforeseen], [], NOW + DAY),
      { changed: [{ ...unforeseen, endedAt: NOW + DAY, revision: 1 }] },
    ],
    ["begins anew after the last was over", compare([{ ...open, endedAt: NOW - MINUTE }], []), {}],
    [
      "is forgotten after 30 days",
      compare([{ ...open, endedAt: NOW - 31 * DAY }], []),
      { forgotten: ["key"] },
    ],
  ])("%s", (_, found, expected) => {
    expect(found).toEqual({ begun: [], changed: [], forgotten: [], ...expected });
  });
});

describe("the vitals of the background work", () => {
  const clock = { ms: 0 };
  const vitals = createVitals(() => clock.ms);
  const feeds = [{ name: "governance", pollMs: MINUTE }];
  it.each<[number, () => void, readonly string[]]>([
    [0, () => {}, ["governance has not been read yet"]],
    [MINUTE, () => vitals.read("governance"), []],
    [6 * MINUTE, () => {}, []],
    [6 * MINUTE + 1, () => {}, ["governance was last read 5 min ago"]],
    [7 * MINUTE, () => vitals.read("governance"), []],
  ])("after %i ms", (ms, happens, expected) => {
    clock.ms = ms;
    happens();
    expect(vitals.unread(feeds)).toEqual(expected);
  });
  it("an outbox is stalled if deliveries wait and none is settled", () => {
    clock.ms = HOUR;
    expect(vitals.stuck(5 * MINUTE)).toEqual([]);
    expect(vitals.stuck(6 * MINUTE)).toEqual(["announcements have waited for 6 min, and none was sent"]);
    vitals.moved();
    expect(vitals.stuck(6 * MINUTE)).toEqual([]);
  });
});
