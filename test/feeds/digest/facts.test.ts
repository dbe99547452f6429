import { describe, expect, it } from "vitest";
import { type Facts, openingTime, participationIn, watchedSince } from "../../../src/feeds/digest/facts.js";
import { digestView } from "../../../src/feeds/digest/messages.js";
import { DEFAULT_COIN, withCoin } from "../../../src/text/coin.js";
import { percentOf } from "../../../src/text/numbers.js";
import { DAY, HOUR, MINUTE } from "../../../src/util/units.js";
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
      "decided",
      { decided: { count: 1, named: [{ id: "1", title: "A motion", words: "rejected by the votes" }] } },
      ["Decided, not closed yet", "• **A motion**: rejected by the votes"],
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
