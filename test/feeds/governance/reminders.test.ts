import { expect, it } from "vitest";
import { draftOf } from "../../../src/delivery/feed.js";
import { definition } from "../../../src/feeds/governance/definition.js";
import { createMessages } from "../../../src/feeds/governance/messages.js";
import { remindersOf } from "../../../src/feeds/governance/topics.js";
import { toVoteRequest } from "../../../src/feeds/governance/tracking.js";
import { DAY, HOUR } from "../../../src/util/units.js";
import { newNames, newState } from "../../harness.js";
import { NOW, tracked } from "../../spec/vote-requests.js";

const [quorumAt, decidedAt] = [NOW + 11 * HOUR, NOW + 2 * DAY];

/** Returns the notification of a reminder about a request with these votes. */
async function newsOf(deadline: number, yes: number, no: number, uncounted?: number): Promise<string> {
  const state = newState();
  const messages = createMessages(newNames(state), () => NOW);
  const request = toVoteRequest(
    tracked({ yes, no, pending: 13 - yes - no }, { voteBefore: quorumAt, targetEffectiveAt: decidedAt }),
  );
  const snapshot = { request, needed: 9, revision: 1, isOver: false, missing: async () => null };
  const { notification } = messages.reminder(snapshot, deadline, "m", { lines: [], uncounted });
  await state.close();
  return String(notification);
}

it.each([
  ["the decision", "the quorum's date while the quorum is missing", decidedAt, 1, 0, "11 h", "1 of 9 votes"],
  ["the decision", "the decision's date once it is met", decidedAt, 9, 2, "2 days", "9 yes votes, enough"],
  ["the quorum", "the decision's date once it is met", quorumAt, 5, 4, "2 days", "5 of 9 yes votes"],
])("a reminder of %s names %s", async (_, __, deadline, yes, no, left, votes) => {
  expect(await newsOf(deadline, yes, no)).toBe(`⏰ ${left} left to vote: A title (${votes})`);
});

it.each([
  [10, "10 yes votes, enough"],
  [9, "9 of 9 yes votes"],
])("a reminder about %i yes votes, one of which won't count, says: %s", async (yes, votes) => {
  expect(await newsOf(decidedAt, yes, 0, 1)).toContain(`(${votes})`);
});

it.each([
  ["too many times", Array.from({ length: 150_000 }, () => HOUR)],
  ["no time", []],
  ["a time that nobody can type", [DAY, Number.MAX_SAFE_INTEGER]],
])("a subscription with %s is reminded at the default times", (_, before) => {
  const draft = draftOf(definition);
  expect(remindersOf({ ...draft, before })).toEqual(remindersOf(draft));
});
