import { expect, it } from "vitest";
import { compareKnown } from "../../src/feeds/governance/rows.js";
import { NOW, row, tracked } from "./vote-requests.js";

it("a decision that comes with a request's end is remembered without an announcement, also after going back to an earlier version", () => {
  const known = tracked({ decided: [], seenAt: 0 });
  const source = { whole: true, lastAt: NOW - 1, awaitedSince: Infinity, mayLackOlder: false, voters: 13 };
  const ended = row({ yesCount: 10, noCount: 0, abstainCount: 3, status: "Accepted" });
  const { next, events } = compareKnown("k", known, ended, source, NOW);
  expect(events.map(({ kind }) => kind)).toEqual(["closed"]);
  expect(next).toMatchObject({ phase: "closed", decided: ["yes"] });
});
