import { describe, expect, it } from "vitest";
import { ExplorerError } from "../../../src/explorer/errors.js";
import { createExplorerService } from "../../../src/explorer/service.js";
import { collectFacts } from "../../../src/feeds/digest/collect.js";
import { chronicles, type Happening, happenings } from "../../../src/feeds/digest/collections.js";
import type { Facts } from "../../../src/feeds/digest/facts.js";
import { digestView } from "../../../src/feeds/digest/messages.js";
import { createSources } from "../../../src/feeds/digest/sources.js";
import { openingTime, participationIn, watchedSince } from "../../../src/feeds/digest/vote-facts.js";
import { type TrackedVoteRequest, trackedVoteRequests } from "../../../src/feeds/governance/collections.js";
import { priceSamples } from "../../../src/ledger/price-history.js";
import type { PriceSample } from "../../../src/ledger/prices.js";
import { type Rounds, rounds } from "../../../src/ledger/rounds.js";
import { createCache } from "../../../src/storage/cache.js";
import { DEFAULT_COIN, withCoin } from "../../../src/text/coin.js";
import { percentOf } from "../../../src/text/numbers.js";
import { DAY, HOUR, MINUTE } from "../../../src/util/units.js";
import { newNames, newState, quiet } from "../../harness.js";
import { tracked } from "../../spec/vote-requests.js";

const UNTIL = Date.UTC(2026, 10, 22);
const none = { count: 0, named: [] };
const facts: Facts = {
  opened: none,
  closed: none,
  decided: none,
  overdue: none,
  soon: none,
  participation: null,
  validators: null,
  version: null,
  price: null,
};
const period = { since: UNTIL - DAY, until: UNTIL, every: "day", isLate: false } as const;

describe("the price in a digest", () => {
  it.each([
    ["its change over the period", {}, "0.1600 USD for one CC, +6.7%"],
    [
      "its change since the first price",
      { since: UNTIL - 5 * HOUR },
      /0.1600 USD for one CC, \+6.7% since <t:\d+:f>$/,
    ],
    ["no change within the last hour", { since: UNTIL - HOUR + 1 }, "0.1600 USD for one CC"],
  ])("has %s", (_, since, expected) => {
    const price = { from: "0.15", to: "0.16", ...since };
    const { fields = [] } = digestView({ ...facts, price }, period, "mark");
    const text = withCoin(fields.find(({ name }) => name === "Price")?.value.toString() ?? "", DEFAULT_COIN);
    if (typeof expected === "string") expect(text).toBe(expected);
    else expect(text).toMatch(expected);
  });
});

describe("a digest of a day on which no request opened or ended", () => {
  it.each([
    [
      "waiting to be closed",
      { decided: { count: 1, named: [{ id: "1", title: "A motion", words: "rejected by the votes" }] } },
      ["Waiting to be closed", "• **A motion**: rejected by the votes"],
    ],
    [
      "overdue",
      { overdue: { count: 1, named: [{ id: "1", title: "A motion" }] } },
      ["Overdue", "• **A motion**"],
    ],
  ])("says that one is %s, and not that there is no news", (word, more, field) => {
    const { notification, fields = [] } = digestView({ ...facts, ...more }, period, "mark");
    expect(String(notification)).toBe(`📰 Daily digest: 1 vote request ${word}`);
    expect(fields.map(({ name, value }) => [name, String(value)])).toEqual([field]);
  });
});

describe("a digest of the network itself", () => {
  const noon = UNTIL - DAY / 2;
  const pauseAt = (at: number) => `<t:${at / 1_000}:f>`;
  it.each<[string, Partial<Facts>, string, string]>([
    [
      "an upgrade ahead",
      { upgradeAt: UNTIL + 9 * DAY },
      "network upgrade of 1 December",
      `🛠️ Upgrade: transactions pause on ${pauseAt(UNTIL + 9 * DAY)} (<t:${(UNTIL + 9 * DAY) / 1_000}:R>).`,
    ],
    [
      "an upgrade within the period, without claiming that it took place",
      { upgradeAt: noon },
      "network upgrade of 21 November",
      `🛠️ Upgrade: transactions were due to pause on ${pauseAt(noon)}.`,
    ],
    [
      "a standstill",
      { stillSince: noon },
      "the network stands still",
      `🧊 Stands still: no new round since ${pauseAt(noon)}.`,
    ],
  ])("tells of %s, first", (_, more, news, line) => {
    const requests = { overdue: { count: 1, named: [{ id: "1", title: "A motion" }] } };
    const { notification, fields = [] } = digestView({ ...facts, ...requests, ...more }, period, "mark");
    expect(String(notification)).toBe(`📰 Daily digest: ${news}, 1 vote request overdue`);
    expect([fields[0]?.name, String(fields[0]?.value)]).toEqual(["The network", line]);
  });
});

it.each<[string, Partial<Facts>, string]>([
  ["could not be read", {}, "couldn't read the validators for 3 h."],
  [
    "could not report",
    { stillSince: UNTIL - 3 * HOUR },
    "For 3 h, I couldn't tell which validators were silent.",
  ],
])("a digest of a time in which the validators %s says so", (_, more, words) => {
  const validators = { joined: none, silent: none, back: none, unreadMs: 3 * HOUR };
  const { body = [] } = digestView({ ...facts, validators, ...more }, period, "mark");
  expect(body.join("\n")).toContain(words);
});

describe("a digest without news", () => {
  const validators = { joined: none, silent: none, back: none };
  const noon = UNTIL - DAY / 2;
  it.each([
    ["says so if everything is known", { validators }, /^No news between <t:\d+:f> and <t:\d+:f>\.$/],
    [
      "does not claim so before the validators were read",
      {},
      /No news, but some data is missing\.\n.*haven't read the validators yet/,
    ],
    [
      "says since when validators are known",
      { validators: { ...validators, since: noon } },
      /No news, but some data is missing\.\n-# Outages and new validators are included from <t:\d+:f> on/,
    ],
    [
      "says for how long the validators were not read",
      { validators: { ...validators, unreadMs: 10 * HOUR } },
      /No news, but some data is missing\.\n.*couldn't read the validators for 10 h\./,
    ],
    ["says since when votes are known", { validators, votesSince: noon }, /Vote requests that ended before/],
    ["says up to when votes are known", { validators, votesReadAt: noon }, /Votes are included up to/],
  ])("%s", (_, known, expected) => {
    const { body = [] } = digestView({ ...facts, ...known }, period, "mark");
    expect(body.join("\n")).toMatch(expected);
  });

  it("names an ending without an outcome", () => {
    const closed = { count: 1, named: [{ id: "1", title: "A motion", status: null, yes: null, no: null }] };
    const { fields = [] } = digestView({ ...facts, closed, validators }, period, "mark");
    expect(fields[0]?.value.toString()).toBe("• ▫️ Ended, outcome unknown · **A motion**");
  });
});

describe("a digest with news", () => {
  const requests = (count: number, ...ids: readonly string[]) => ({
    count,
    named: ids.map((id) => ({ id, title: `Motion ${id}`, status: "Accepted", yes: 9, no: 1 })),
  });
  const names = (...named: readonly string[]) => ({ count: named.length, named: [...named] });
  const noun = (given: Partial<Facts>, more = {}) =>
    String(digestView({ ...facts, ...given }, { ...period, ...more }, "mark").notification);

  it("counts each kind, with the noun once", () => {
    const validators = { joined: names("A"), silent: names("B", "C"), back: none };
    expect(noun({ opened: requests(2, "1"), closed: requests(1, "2"), validators })).toBe(
      "📰 Daily digest: 2 vote requests opened, 1 ended, 1 validator joined, 2 went silent",
    );
    expect(noun({ overdue: requests(1, "1") }, { every: "week" })).toBe(
      "📰 Weekly digest: 1 vote request overdue",
    );
  });

  it("lists what it names, counts the rest, and offers each request once", () => {
    const { fields = [], menus = [] } = digestView(
      { ...facts, opened: requests(3, "1", "2"), closed: requests(1, "2") },
      period,
      "mark",
    );
    expect(String(fields[0]?.value)).toBe("• **Motion 1**\n• **Motion 2**\n• and 1 more");
    expect(menus[0]?.choices.map(({ label }) => label)).toEqual(["Motion 1", "Motion 2"]);
  });

  it.each([
    [51, "Most now run `0.6.3` (51%); previously `0.6.2`"],
    [50, "The most common version is now `0.6.3` (50%); previously `0.6.2`"],
  ])("says what a version with %d %% of the validators is", (percent, expected) => {
    const { fields = [] } = digestView(
      { ...facts, version: { now: "0.6.3", percent, before: "0.6.2" } },
      period,
      "mark",
    );
    expect(fields.map(({ value }) => String(value))).toEqual([expected]);
  });

  it.each([
    [{ isLate: false }, undefined],
    [{ isLate: true, wasOffline: true }, "-# Late because I was offline when it was due."],
    [{ isLate: true, wasOffline: false }, "-# Late because I couldn't read the explorer when it was due."],
  ])("says why it is late: %j", (late, expected) => {
    const { body = [] } = digestView({ ...facts, opened: requests(1, "1") }, { ...period, ...late }, "mark");
    expect(body.map(String).find((line) => line.includes("Late"))).toBe(expected);
  });

  it.each([
    [{ date: "takes effect" }, "• **A motion**, takes effect <t:"],
    [{}, "• **A motion**, until <t:"],
  ])("names the next date of a request: %j", (date, expected) => {
    const soon = { count: 1, named: [{ id: "1", title: "A motion", until: UNTIL + HOUR, ...date }] };
    const { fields = [] } = digestView({ ...facts, soon }, period, "mark");
    expect(String(fields[0]?.value).startsWith(expected)).toBe(true);
  });
});

describe("the time at which a request counts as opened in a digest", () => {
  const START = UNTIL - 30 * DAY;
  it.each([
    [
      "is its opening, if it opened before the bot watched",
      { openedAt: START - HOUR, seenAt: START },
      START - HOUR,
    ],
    ["is its first reading, if it opened after that", { openedAt: UNTIL - 2 * HOUR, seenAt: UNTIL }, UNTIL],
    ["is its first reading, even if it was listed late", { openedAt: START - HOUR, seenAt: UNTIL }, UNTIL],
    ["is its opening, in documents without a first reading", { openedAt: UNTIL - HOUR }, UNTIL - HOUR],
    ["is unknown if the opening is unknown", { openedAt: null, seenAt: START + MINUTE }, undefined],
  ])("%s", (_, request, expected) => {
    expect(openingTime(request, START)).toBe(expected);
  });

  it.each([
    ["the first reading", [START + DAY, START], START],
    ["an unknown time, with documents of an earlier version", [START, undefined], undefined],
    ["an unknown time, without requests", [], undefined],
  ])("counts from %s", (_, seenTimes, expected) => {
    const requests = seenTimes.map((seenAt) => tracked(seenAt === undefined ? {} : { seenAt }));
    expect(watchedSince(requests)).toBe(expected);
  });
});

describe("participation", () => {
  const tally = (yes: number | null, no: number | null, pending: number | null) => ({ yes, no, pending });
  it.each([
    ["counts cast and missing votes", [tally(9, 1, 3), tally(5, 5, 3)], undefined, { cast: 20, all: 26 }],
    ["uses the dashboard's count if a tally has none", [tally(3, 0, null)], 13, { cast: 3, all: 13 }],
    ["is unknown if the number of voters is unknown", [tally(3, 0, null)], undefined, null],
    [
      "is unknown if it is unknown for one of several requests",
      [tally(9, 1, 3), tally(3, 0, null)],
      undefined,
      null,
    ],
    ["is unknown without requests", [], 13, null],
    ["is unknown if a tally gives no counts", [tally(9, 1, 3), tally(null, null, null)], 13, null],
    ["is unknown if a tally gives one count", [tally(10, null, 2)], 13, null],
    ["is never more than 100%", [tally(9, 5, null)], 13, { cast: 14, all: 14 }],
  ])("%s", (_, tallies, superValidators, expected) => {
    expect(participationIn(tallies, superValidators)).toEqual(expected);
  });

  it.each([
    [259, 260, 99],
    [260, 260, 100],
    [1, 1_000, 1],
    [0, 13, 0],
    [20, 26, 77],
  ])("%d of %d votes are %d %", (part, whole, percent) => {
    expect(percentOf(part, whole)).toBe(percent);
  });
});

describe("what a digest finds in the state", () => {
  const SINCE = UNTIL - DAY;
  const WATCHED = "watched::1";
  const SUPER = "super::1";
  /** The stored documents. By default, validators are known since before the period. */
  interface Stored {
    readonly happened?: readonly Happening[];
    readonly startedAt?: number;
    readonly readAt?: number;
    readonly requests?: readonly TrackedVoteRequest[];
    readonly samples?: readonly PriceSample[];
    readonly upgradeAt?: number;
    readonly newestRound?: Rounds;
  }
  const collect = async ({
    happened = [],
    startedAt = 0,
    readAt = UNTIL,
    requests = [],
    samples = [],
    upgradeAt,
    newestRound,
  }: Stored) => {
    const state = newState();
    const version = { name: "0.6.3", percent: 80 };
    await state.commit([
      state.open(chronicles).put("network", { startedAt, readAt, activity: {}, version }),
      state.open(priceSamples).put("samples", [...samples]),
      ...(newestRound ? [state.open(rounds).put("network", newestRound)] : []),
      ...happened.map((each, at) => state.open(happenings).put(String(at), each)),
      ...requests.map((each) => state.open(trackedVoteRequests).put(each.identity, each)),
    ]);
    const explorer = createExplorerService({
      upstream: ({ path }) =>
        Promise.reject(
          path.includes("/unlisted/")
            ? new ExplorerError("missing", "answered 404", { status: 404 })
            : new Error("No explorer"),
        ),
      cache: createCache({ memoryMb: 1, log: quiet }),
    }).for("background");
    const sources = createSources({
      state,
      names: newNames(state),
      explorer,
      watchedBy: async () => new Set([WATCHED]),
      isSuperValidator: (party) => party === SUPER,
      upgradeAt,
      now: UNTIL,
    });
    const scope = { since: SINCE, until: UNTIL, nextAt: UNTIL + DAY, guildId: "1" };
    const found = await collectFacts(sources, scope);
    await state.close();
    return found;
  };
  const silent = (party: string, at: number): Happening => ({ kind: "silent", party, name: party, at });
  const unread = (from: number, at: number): Happening => ({ kind: "unread", from, at });
  const version = (from: string, at: number): Happening => ({ kind: "version", from, at });
  const request = (identity: string, given: Partial<TrackedVoteRequest>, voteBefore: number) =>
    tracked({ identity, openedAt: SINCE - DAY, ...given }, { title: identity, voteBefore });

  it("names the validators that the server watches first, then super validators, and counts the others", async () => {
    const happened = ["a", "b", "c", "d", SUPER, WATCHED].map((party, at) => silent(party, SINCE + 1 + at));
    const { validators } = await collect({
      happened: [...happened, silent("before", SINCE), silent("after", UNTIL + 1)],
    });
    expect(validators?.silent).toEqual({ count: 6, named: [WATCHED, SUPER, "a", "b", "c"] });
  });

  it.each<[string, Stored, number | undefined]>([
    [
      "that began before the period, from its start",
      { happened: [unread(SINCE - 9 * HOUR, SINCE + 2 * HOUR)] },
      2 * HOUR,
    ],
    [
      "several together",
      { happened: [unread(SINCE, SINCE + 2 * HOUR), unread(UNTIL - 3 * HOUR, UNTIL)] },
      5 * HOUR,
    ],
    ["that lasts until now", { readAt: UNTIL - 4 * HOUR }, 4 * HOUR],
    ["of an hour, which shows each outage", { readAt: UNTIL - HOUR }, undefined],
  ])("counts a time without readings %s", async (_, stored, expected) => {
    expect((await collect(stored)).validators?.unreadMs).toBe(expected);
  });

  it.each<[string, number, number | undefined]>([
    ["within the period", SINCE + HOUR, SINCE + HOUR],
    ["before it", SINCE - HOUR, undefined],
  ])("says since when validators are known if that is %s", async (_, startedAt, expected) => {
    expect((await collect({ startedAt })).validators?.since).toBe(expected);
  });

  it.each<[string, readonly Happening[], string | null]>([
    ["the one before all changes", [version("0.6.2", UNTIL - 1), version("0.6.1", UNTIL - 2)], "0.6.1"],
    ["none, if it is back", [version("0.6.3", UNTIL - 2), version("0.6.4", UNTIL - 1)], null],
  ])("names as the earlier version %s", async (_, happened, before) => {
    expect((await collect({ happened })).version).toEqual({ now: "0.6.3", percent: 80, before });
  });

  it.each<[string, number, number | undefined]>([
    ["at its start", SINCE + 2 * HOUR, undefined],
    ["later", SINCE + 4 * HOUR, SINCE + 4 * HOUR],
  ])("says since when prices are known if that is %s", async (_, first, since) => {
    const { price } = await collect({
      samples: [
        [first, "0.15"],
        [UNTIL, "0.16"],
      ],
    });
    expect(price).toEqual({ from: "0.15", to: "0.16", since });
  });

  it.each<[string, number, boolean]>([
    ["ahead", UNTIL + 30 * DAY, true],
    ["within the period", SINCE + HOUR, true],
    ["over before it", SINCE, false],
  ])("has an upgrade that is %s: %d, %s", async (_, upgradeAt, isTold) => {
    expect((await collect({ upgradeAt })).upgradeAt).toBe(isTold ? upgradeAt : undefined);
  });

  it.each<[string, Partial<Rounds>, number | undefined]>([
    ["stands still", {}, SINCE + HOUR],
    ["moves", { isStandingStill: false }, undefined],
    ["stood still when the rounds were read last, long ago", { seenAt: UNTIL - 5 * HOUR }, undefined],
  ])("if the network %s", async (_, more, stillSince) => {
    const newestRound = {
      number: 7,
      since: SINCE + HOUR,
      seenAt: UNTIL - MINUTE,
      gaps: [],
      isSeenToBegin: true,
      isStandingStill: true,
      ...more,
    };
    expect((await collect({ newestRound })).stillSince).toBe(stillSince);
  });

  it("lists requests that ended, newest first, and open ones by their dates", async () => {
    const ended = (identity: string, closedAt: number, given: Partial<TrackedVoteRequest> = {}) =>
      request(identity, { phase: "closed", status: "Rejected", closedAt, ...given }, UNTIL - HOUR);
    const found = await collect({
      requests: [
        ended("first", SINCE + HOUR),
        ended("second", UNTIL - HOUR),
        ended("earlier", SINCE),
        ended("lost", UNTIL, { endUnconfirmed: true }),
        request("later", {}, UNTIL + 3 * HOUR),
        request("soon", {}, UNTIL + HOUR),
        request("after the next digest", {}, UNTIL + DAY + HOUR),
      ],
    });
    expect(found.closed.named.map(({ title, status }) => [title, status])).toEqual([
      ["lost", null],
      ["second", "Rejected"],
      ["first", "Rejected"],
    ]);
    expect(found.soon.named.map(({ title }) => title)).toEqual(["soon", "later"]);
  });

  it("says nothing about an open request that the explorer does not know any more", async () => {
    const expired = (identity: string) => ({
      ...request(identity, { missedReads: 2, yes: 1, no: 0, pending: 12 }, UNTIL - HOUR),
      contractIds: [identity],
    });
    const { decided } = await collect({ requests: [expired("unlisted"), expired("listed")] });
    expect(decided.named.map(({ title }) => title)).toEqual(["listed"]);
  });
});
