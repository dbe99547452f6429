import { describe, expect, it } from "vitest";
import { hadTime } from "../../src/ledger/records.js";
import { votesIn } from "../../src/ledger/votes.js";
import { DAY, HOUR } from "../../src/util/units.js";
import { NOW, row } from "../spec/vote-requests.js";

/** Creates votes that were cast at these times after a request was opened, in ms. */
const votesAfter = (...spans: readonly number[]) =>
  votesIn({
    votes: spans.map((span, at) => [
      `SV-${at}`,
      { sv: null, accept: true, optCastAt: new Date(NOW - DAY + span).toISOString() },
    ]),
  }) ?? [];
const ended = (status: string, targetEffectiveAt: number | null = null) => row({ status, targetEffectiveAt });

describe("the time that everybody had to vote", () => {
  it.each([
    ["it expired", ended("Expired"), [], undefined, true],
    ["it was accepted on its date", ended("Implemented", NOW), [], undefined, true],
    ["it was accepted within minutes", ended("Accepted"), votesAfter(60_000), undefined, false],
    ["it was accepted after a day", ended("Accepted"), votesAfter(60_000, DAY), undefined, true],
    ["it was accepted after just under a day", ended("Accepted"), votesAfter(DAY - 1), undefined, false],
    ["it was accepted at an unknown time", ended("Accepted"), [], undefined, false],
    ["it was rejected early", ended("Rejected", NOW + DAY), votesAfter(HOUR), undefined, false],
    ["it was rejected after two days", ended("Rejected", NOW + DAY), votesAfter(2 * DAY), undefined, true],
    ["it was seen open after a day", ended("Rejected"), [], { after: NOW, by: NOW + 1 }, true],
    ["it was seen closed within a day", ended("Rejected"), [], { after: NOW - 1, by: NOW }, false],
    ["it was never seen open", ended("Rejected"), [], { after: null, by: NOW + DAY }, false],
    [
      "its contract is as old as the last vote",
      row({ status: "Accepted", createdAt: NOW }),
      votesAfter(0, DAY),
      undefined,
      true,
    ],
    [
      "its opening is unknown",
      row({ status: "Accepted", createdAt: null }),
      votesAfter(DAY),
      undefined,
      false,
    ],
  ] as const)("%s", (_, request, votes, closing, expected) => {
    expect(hadTime(request, votes, closing)).toBe(expected);
  });
});
