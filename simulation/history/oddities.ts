import type { Random } from "../../sandbox/explorer/random.js";
import { HOUR } from "../../src/util/units.js";
import type { Outage } from "./validators.js";
import { drawFaults, drawWindows, type FaultWindow, type Span, windowAt } from "./windows.js";

/**
 * Wrong answers of an explorer about a validator: it is missing from the list, or its last report is missing or in the future.
 */
const ODDITIES = ["unlisted", "unknown", "future"] as const;
export type Oddity = (typeof ODDITIES)[number];

/** Returns what the explorer says wrongly of a validator at a time, by its name. */
export type OddityOf = (name: string, at: number) => Oddity | undefined;

/** Draws the times at which the explorer says something wrong of a validator. Those that joined later are missing most often. */
export function drawOddities(
  random: Random,
  span: Span,
  nodes: readonly string[],
  watchedCount: number,
  joined: readonly string[],
  outages: readonly Outage[],
): ReadonlyMap<string, readonly FaultWindow<Oddity>[]> {
  const windowsOf = (perDay: number, kinds: readonly Oddity[]) =>
    drawFaults(random, drawWindows(random, span, perDay, HOUR, 20 * HOUR), kinds);
  // During an outage of many, some of those who are watched leave the list.
  const watchedWindows = (number: number): readonly FaultWindow<Oddity>[] => {
    const left = outages.filter(({ members }) => members.includes(number) && random.chance(0.4));
    if (left.length === 0) return random.chance(0.2) ? windowsOf(0.3, ["unlisted", "unknown"]) : [];
    return left.map(({ from, to }) => ({
      from: from + 0.6 * (to - from),
      to: to + 6 * HOUR,
      kind: "unlisted",
    }));
  };
  return new Map([
    ...nodes.map(
      (name, number) =>
        [name, number < watchedCount ? watchedWindows(number) : windowsOf(0.3, ODDITIES)] as const,
    ),
    ...joined.map((name) => [name, windowsOf(0.2, ["unlisted"])] as const),
  ]);
}

/** True if the explorer says something wrong of a validator during a time. */
export const isOddWithin = (
  oddities: ReadonlyMap<string, readonly FaultWindow<Oddity>[]>,
  name: string,
  from: number,
  to: number,
): boolean => (oddities.get(name) ?? []).some((each) => each.from < to && each.to > from);

/** Creates the function that looks up what the explorer says wrongly. */
export const oddityIn =
  (oddities: ReadonlyMap<string, readonly FaultWindow<Oddity>[]>): OddityOf =>
  (name, at) =>
    windowAt(oddities.get(name) ?? [], at)?.kind;
