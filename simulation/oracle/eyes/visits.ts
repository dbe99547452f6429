import { HOUR, MINUTE } from "../../../src/util/units.js";
import { type Case, type Evidence, iso, type Visit } from "../evidence.js";

/** Maximum age of what is shown while the explorer answers, in ms: of a screen, of a list, and of suggestions. */
export const AGES = { screen: 12 * MINUTE, list: 25 * MINUTE, choices: 45 * MINUTE } as const;
const LISTS: ReadonlySet<Visit["screen"]> = new Set(["subscriptions", "watches", "setup"]);

/** Returns the maximum age of what a visit shows, in ms. */
export function ageOf({ screen }: Visit): number {
  if (screen.endsWith(" choices")) return AGES.choices;
  return LISTS.has(screen) ? AGES.list : AGES.screen;
}

/** Names a screen and its time. */
export const whereOf = ({ screen, from }: Visit): string => `on ${screen} at ${iso(from)}`;

/** Yields the visits before which everything worked for an hour. */
export function* visitsOf({ visits }: Case, evidence: Evidence): Iterable<Visit> {
  for (const visit of visits)
    if (evidence.isClean(visit.from - HOUR, visit.to, visit.to - visit.from + HOUR)) yield visit;
}
