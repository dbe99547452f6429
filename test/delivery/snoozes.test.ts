import { expect, it } from "vitest";
import { snoozeEnd } from "../../src/delivery/snoozes.js";
import { DAY, HOUR, MINUTE } from "../../src/util/units.js";

const NOW = Date.UTC(2026, 10, 29);

it.each([
  ["never snoozed", {}, 0],
  ["snoozed for an hour", { snoozedUntil: NOW + HOUR }, NOW + HOUR],
  [
    "snoozed for a day, by a process whose clock is a minute ahead",
    { snoozedUntil: NOW + DAY + MINUTE },
    NOW + DAY + MINUTE,
  ],
  ["no longer snoozed", { snoozedUntil: NOW }, 0],
  ["snoozed while the clock was a month ahead", { snoozedUntil: NOW + 31 * DAY }, 0],
])("a subscription that is %s", (_, subscription, endsAt) => {
  expect(snoozeEnd(subscription, NOW)).toBe(endsAt);
});
