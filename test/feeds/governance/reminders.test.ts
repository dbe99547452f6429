import { expect, it } from "vitest";
import { reminderId } from "../../../src/feeds/governance/events.js";
import { believedReminders, remindersFor } from "../../../src/feeds/governance/reminders.js";
import { DAY, HOUR } from "../../../src/util/units.js";
import { NOW, subscribed, tracked } from "../../spec/vote-requests.js";

const [quorumBy, decidedOn] = [NOW + DAY, NOW + 2.5 * DAY];
const known = tracked(
  { reminded: [reminderId(quorumBy, 2 * DAY)] },
  { voteBefore: quorumBy, targetEffectiveAt: decidedOn },
);
const at = decidedOn - 2 * DAY;
const remind = (next: number) =>
  remindersFor(known, [subscribed({ before: [2 * DAY] })], at, {
    phase: "voting",
    since: null,
    next: { name: "quorum by", at: next },
  });

it("reminders of a clock that was ahead are sent again when they are due", () => {
  const [sent, early] = [reminderId(quorumBy, 2 * DAY), reminderId(quorumBy, HOUR)];
  expect(believedReminders([sent, early], NOW)).toEqual([sent]);
  expect(believedReminders([sent, early], quorumBy - HOUR)).toEqual([sent, early]);
});

it("a reminder of the decision is not sent while the quorum is missing, and counts as done", () => {
  const done = [reminderId(decidedOn, 2 * DAY)];
  expect(remind(decidedOn)).toEqual({ done, announced: done });
  expect(at).toBeLessThan(quorumBy - 11 * HOUR);
  expect(remind(quorumBy)).toEqual({ done, announced: [] });
});
