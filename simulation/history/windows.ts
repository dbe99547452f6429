import type { Random } from "../../sandbox/explorer/random.js";
import { DAY, HOUR } from "../../src/util/units.js";

/** A time between two moments, epoch ms. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

/** How something misbehaves for a while. */
export interface FaultWindow<Kind extends string> extends Window {
  readonly kind: Kind;
}

/** A time that is drawn into: its beginning, and how many days it has. */
export interface Span {
  readonly startAt: number;
  readonly days: number;
}

/** So many windows a day, that do not touch: each of so many ms. */
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

/** Windows in each of which something drawn goes wrong. */
export const drawFaults = <Kind extends string>(
  random: Random,
  windows: readonly Window[],
  kinds: readonly Kind[],
): FaultWindow<Kind>[] => windows.map((window) => ({ ...window, kind: random.pick(kinds) }));

/** The last of these, in the order of their beginnings, that has begun at a moment; the first if none has. */
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

/** The window that a moment lies in, of windows in their order that do not overlap. */
export function windowAt<Each extends Window>(all: readonly Each[], at: number): Each | undefined {
  const window = lastBegun(all, ({ from }) => from, at);
  return window && at >= window.from && at < window.to ? window : undefined;
}

/** What stands at a moment, of steps in the order of their times; the first of them before any. */
export const stepAt = <Step extends { readonly at: number }>(
  steps: readonly Step[],
  at: number,
): Step | undefined => lastBegun(steps, (step) => step.at, at);

/** Windows as one for each time that any of them covers, in their order. */
export function merged(windows: readonly Window[]): Window[] {
  const all: { from: number; to: number }[] = [];
  for (const { from, to } of [...windows].sort((a, b) => a.from - b.from)) {
    const last = all.at(-1);
    if (last && from <= last.to) last.to = Math.max(last.to, to);
    else all.push({ from, to });
  }
  return all;
}
