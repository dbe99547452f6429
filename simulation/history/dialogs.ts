import type { Random } from "../../sandbox/explorer/random.js";
import { HOUR, MINUTE } from "../../src/util/units.js";
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

/** Draws the dialogs of a history. */
export const drawDialogs = (random: Random, span: Span): DialogMoment[] =>
  drawWindows(random, span, 5, 1, 2).map(({ from }) => ({
    at: from,
    isRemoval: random.chance(0.2),
    members: [0, 1, 2, 3].map(() => random.int(0, 99)),
    afterMs: random.pick([0, 45 * MINUTE, 3 * HOUR]),
    order: random.pick(["members", "settings", "members, settings", "settings, members"] as const),
  }));
