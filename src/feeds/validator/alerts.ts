import type { Activity, Response } from "../../storage/catalogue.js";

/** Gaps that a rhythm is made of at the least. */
const MIN_GAPS = 3;
/** And at the most. */
export const MAX_GAPS = 12;

/** How often a validator usually reports, in ms: the median of the gaps seen; undefined while too few were. */
export function rhythmOf({ gaps }: Pick<Activity, "gaps">): number | undefined {
  if (gaps.length < MIN_GAPS) return undefined;
  return gaps.toSorted((a, b) => a - b)[Math.floor(gaps.length / 2)];
}

/** Whether nothing more is to be told of an alert for now. */
export const isSnoozed = (response: Response | undefined, now: number): boolean =>
  response?.snoozed !== undefined &&
  (response.snoozed.until === null || (response.snoozed.until > now && response.snoozed.at <= now));
