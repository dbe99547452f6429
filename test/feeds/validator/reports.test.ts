import { expect, it } from "vitest";
import { createReportLog } from "../../../src/feeds/validator/reports.js";
import { HOUR, MINUTE } from "../../../src/util/units.js";

const NOON = Date.UTC(2026, 10, 26, 12);

/** Replays readings of a whole list, one after each interval of ten minutes. @param alive how many of them go on reporting */
function logOf(validators: number, alive = validators) {
  const log = createReportLog();
  for (let round = 0; round < 5; round += 1) {
    const readAt = NOON + round * 10 * MINUTE;
    const seen = new Map(
      Array.from({ length: validators }, (_, number) => [
        `${number}`,
        { seenAt: number < alive ? readAt : NOON, active: true, version: null },
      ]),
    );
    log.note({ seen, isWhole: true, oldestAt: NOON, newestAt: readAt }, readAt);
  }
  return log;
}

it.each([
  ["all four of a small network", 4, 4, 10 * MINUTE],
  ["the only one", 1, 1, 10 * MINUTE],
  ["45", 45, 45, 10 * MINUTE],
  ["nobody of 45 but three, as after a general stop", 45, 3, undefined],
])("the network's interval is learned from %s", (_, validators, alive, interval) => {
  expect(logOf(validators, alive).interval(HOUR / 2)).toBe(interval);
});
