import type { Random } from "../../sandbox/explorer/random.js";
import { DAY, HOUR } from "../../src/util/units.js";

/** A time range, epoch ms. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

/** A fault with its time range. */
export interface FaultWindow<Kind extends string> extends Window {
  readonly kind: Kind;
}

/** Start and length in days of the simulated time. */
export interface Span {
  readonly startAt: number;
  readonly days: number;
}

/** Draws non-overlapping time ranges of random length, at a rate per day. */
export function drawWindows(
  random: Random,
  { startAt, days }: Span,
  perDay: number,
  least: number,
  most: number,
): Window[] {
  const found: Window[] = [];
  let at = startAt + 6 * HOUR;
  const endAt = startAt + days * DAY;
  for (;;) {
    at += random.int(DAY / perDay / 2, (1.5 * DAY) / perDay);
    const to = at + random.int(least, most);
    if (to > endAt - 12 * HOUR) return found;
    found.push({ from: at, to });
    at = to;
  }
}

/** Draws time ranges with a random fault in each. */
export const drawFaults = <Kind extends string>(
  random: Random,
  windows: readonly Window[],
  kinds: readonly Kind[],
): FaultWindow<Kind>[] => windows.map((window) => ({ ...window, kind: random.pick(kinds) }));

/** Returns the last item that has begun at a time, or the first if none has. Items are sorted by start. */
function lastBegun<Each>(
  all: readonly Each[],
  beginning: (each: Each) => number,
  at: number,
): Each | undefined {
  let low = 0;
  let high = all.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const each = all[middle];
    if (each !== undefined && beginning(each) <= at) low = middle + 1;
    else high = middle;
  }
  return all[Math.max(0, low - 1)];
}

/** Returns the range that contains a time. Ranges are sorted and do not overlap. */
export function windowAt<Each extends Window>(all: readonly Each[], at: number): Each | undefined {
  const window = lastBegun(all, ({ from }) => from, at);
  return window && at >= window.from && at < window.to ? window : undefined;
}

/** Returns the step that is valid at a time, the first one before any. Steps are sorted by time. */
export const stepAt = <Step extends { readonly at: number }>(
  steps: readonly Step[],
  at: number,
): Step | undefined => lastBegun(steps, (step) => step.at, at);

/** Merges overlapping ranges. The result is sorted. */
export function merged(windows: readonly Window[]): Window[] {
  const all: { from: number; to: number }[] = [];
  for (const { from, to } of [...windows].sort((a, b) => a.from - b.from)) {
    const last = all.at(-1);
    if (last && from <= last.to) last.to = Math.max(last.to, to);
    else all.push({ from, to });
  }
  return all;
}
