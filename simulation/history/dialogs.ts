import type { Random } from "../../sandbox/explorer/random.js";
import { HOUR, MINUTE } from "../../src/util/units.js";
import type { Outage } from "./validators.js";
import { drawWindows, type Span } from "./windows.js";

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

/** Number of members that moderators want, if they differ. */
const MEMBERS = 4;

/** Draws the dialogs of a history. While many are silent, a group of some of them is removed, or gets other members. */
export function drawDialogs(random: Random, span: Span, outages: readonly Outage[]): DialogMoment[] {
  const momentAt = (at: number): DialogMoment => ({
    at,
    isRemoval: random.chance(0.2),
    members: Array.from({ length: MEMBERS }, () => random.int(0, 99)),
    afterMs: random.pick([0, 45 * MINUTE, 3 * HOUR]),
    order: random.pick(["members", "settings", "members, settings", "settings, members"] as const),
  });
  const usual = drawWindows(random, span, 5, 1, 2).map(({ from }) => momentAt(from));
  // It is made again before, if it does not exist. The other dialog comes after its alert.
  const during = outages.flatMap(({ from, to, members: silent }) => {
    const others = Array.from({ length: 2 * MEMBERS }, (_, number) => number);
    const reporting = others.filter((number) => !silent.includes(number)).slice(0, MEMBERS);
    return [
      { ...momentAt(from - HOUR), isRemoval: false, members: silent.slice(0, MEMBERS) },
      { ...momentAt((from + to) / 2), isRemoval: random.chance(0.5), members: reporting },
    ];
  });
  const isApart = ({ at }: DialogMoment) => outages.every(({ from, to }) => at < from - HOUR || at > to);
  return [...usual.filter(isApart), ...during].sort((a, b) => a.at - b.at);
}
