import type { Random } from "../../sandbox/explorer/random.js";
import { HOUR, MINUTE } from "../../src/util/units.js";
import { drawWindows, type Span, type Window } from "./windows.js";

/** Moderators open dialogs about a channel's group of validators: to make it, to change it, or to remove it. */
export interface DialogMoment {
  readonly at: number;
  readonly isRemoval: boolean;
  /** Numbers of the members that one moderator wants, and the time without a report that the other one wants, in ms. */
  readonly members: readonly number[];
  readonly afterMs: number;
  /** Whose change is submitted first, and if the other one waits for its answer. */
  readonly order: "members" | "settings" | "members, settings" | "settings, members";
}

/** Draws the dialogs of a history. While many are silent, the group is removed. */
export function drawDialogs(random: Random, span: Span, outages: readonly Window[]): DialogMoment[] {
  const momentAt = (at: number): DialogMoment => ({
    at,
    isRemoval: random.chance(0.2),
    members: [0, 1, 2, 3].map(() => random.int(0, 99)),
    afterMs: random.pick([0, 45 * MINUTE, 3 * HOUR]),
    order: random.pick(["members", "settings", "members, settings", "settings, members"] as const),
  });
  const usual = drawWindows(random, span, 5, 1, 2).map(({ from }) => momentAt(from));
  // It is made again before, if it does not exist, and removed after its alert.
  const during = outages.flatMap(({ from, to }) => [
    { ...momentAt(from - HOUR), isRemoval: false },
    { ...momentAt((from + 2 * to) / 3), isRemoval: true },
  ]);
  const isApart = ({ at }: DialogMoment) => outages.every(({ from, to }) => at < from - HOUR || at > to);
  return [...usual.filter(isApart), ...during].sort((a, b) => a.at - b.at);
}
