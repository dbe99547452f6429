import { createRandom, type Random } from "../sandbox/explorer/random.js";
import { DAY, HOUR, MINUTE } from "../src/util/units.js";

/** A time between two moments, epoch ms. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

/** How something misbehaves for a while. */
export interface FaultWindow<Kind extends string> extends Window {
  readonly kind: Kind;
}

export type ExplorerFault = "error" | "garbage" | "slow" | "later-pages" | "empty";
export type DiscordFault = "error" | "lost" | "slow";

/** Something that happens to the ledger at a moment. */
export type Happening =
  | { readonly at: number; readonly kind: "open"; readonly title: string; readonly lastsMs: number }
  | { readonly at: number; readonly kind: "vote"; readonly title: string; readonly accept: boolean }
  | {
      readonly at: number;
      readonly kind: "close";
      readonly title: string;
      readonly status: "Accepted" | "Rejected";
    }
  | { readonly at: number; readonly kind: "join"; readonly name: string }
  | { readonly at: number; readonly kind: "price"; readonly price: number };

/** When a process is killed: at its next request or write, at its next message, or as it writes down what is to be told. */
export type Moment = "any" | "message" | "news";

/** The end of a process, before or after what it does at that moment has had its effect. */
export interface Kill {
  readonly at: number;
  /** How long until the next one starts, in ms. */
  readonly downMs: number;
  readonly afterEffect: boolean;
  readonly moment: Moment;
}

/** All that a seed decides: what happens on the ledger, and what goes wrong. */
export interface History {
  readonly startAt: number;
  readonly endAt: number;
  readonly happenings: readonly Happening[];
  /** The explorer tells nothing that is newer than their beginning. */
  readonly lags: readonly Window[];
  readonly explorerFaults: readonly FaultWindow<ExplorerFault>[];
  readonly discordFaults: readonly FaultWindow<DiscordFault>[];
  /** When processes are killed. */
  readonly kills: readonly Kill[];
  /** When a second process runs. */
  readonly doubles: readonly Window[];
  /** When the bot's clock is wrong, and by how much. */
  readonly jumps: readonly (Window & { readonly offset: number })[];
  /** When a validator last reported, up to a moment, and first after it. */
  lastReport(validator: number, at: number): number;
  nextReport(validator: number, at: number): number;
}

/** Validators of the ledger that report; and those of them that somebody watches. */
export const VALIDATORS = 60;
export const WATCHED = 14;

/** So many windows a day, that do not touch: each of so many ms. */
function windows(
  random: Random,
  startAt: number,
  days: number,
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

const inside = (all: readonly Window[], at: number): Window | undefined =>
  all.find(({ from, to }) => at >= from && at < to);

export const windowAt = inside;

/** What a seed draws. */
export function createHistory(seed: number, days: number): History {
  const random = createRandom(seed);
  const startAt = Date.UTC(2026, 2, 20);
  const endAt = startAt + days * DAY;
  const rhythms = Array.from({ length: VALIDATORS }, () => random.int(5, 13) * MINUTE);
  const phases = rhythms.map((rhythm) => random.int(0, rhythm));
  const silences = rhythms.map((_, index) =>
    index < WATCHED
      ? windows(
          random,
          startAt,
          days,
          0.7,
          5 * MINUTE,
          random.pick([40 * MINUTE, 2 * HOUR, 9 * HOUR, 30 * HOUR]),
        )
      : windows(random, startAt, days, 0.1, 5 * MINUTE, 3 * HOUR),
  );
  // Many at once, now and then.
  for (const window of windows(random, startAt, days, 0.15, 80 * MINUTE, 4 * HOUR))
    for (let index = 0; index < VALIDATORS; index += 1) if (random.chance(0.3)) silences[index]?.push(window);
  const quiet = silences.map((own) => own.sort((a, b) => a.from - b.from));

  const lastReport = (validator: number, at: number): number => {
    const rhythm = rhythms[validator] ?? MINUTE;
    const phase = phases[validator] ?? 0;
    let last = Math.floor((at - startAt - phase) / rhythm) * rhythm + startAt + phase;
    for (
      let window = inside(quiet[validator] ?? [], last);
      window;
      window = inside(quiet[validator] ?? [], last)
    )
      last = Math.floor((window.from - 1 - startAt - phase) / rhythm) * rhythm + startAt + phase;
    return last;
  };
  const nextReport = (validator: number, at: number): number => {
    const rhythm = rhythms[validator] ?? MINUTE;
    const phase = phases[validator] ?? 0;
    let next = (Math.floor((at - startAt - phase) / rhythm) + 1) * rhythm + startAt + phase;
    for (
      let window = inside(quiet[validator] ?? [], next);
      window;
      window = inside(quiet[validator] ?? [], next)
    )
      next = Math.ceil((window.to - startAt - phase) / rhythm) * rhythm + startAt + phase;
    return next;
  };

  const happenings: Happening[] = [];
  let price = 0.15;
  for (let at = startAt; at < endAt; at += 10 * MINUTE) {
    price = Math.max(0.05, price * (1 + (random.next() - 0.5) * 0.01));
    happenings.push({ at, kind: "price", price });
  }
  for (
    let at = startAt + 2 * HOUR, number = 1;
    at < endAt - 2 * DAY;
    at += random.int(6 * HOUR, 36 * HOUR), number += 1
  ) {
    const title = `Motion ${number} of ${seed}`;
    const lastsMs = random.int(20 * HOUR, 60 * HOUR);
    happenings.push({ at, kind: "open", title, lastsMs });
    for (let votes = random.int(0, 5); votes > 0; votes -= 1)
      happenings.push({
        at: at + random.int(MINUTE, lastsMs - HOUR),
        kind: "vote",
        title,
        accept: random.chance(0.6),
      });
    happenings.push({
      at: at + lastsMs,
      kind: "close",
      title,
      status: random.pick(["Accepted", "Rejected"]),
    });
  }
  for (let at = startAt + DAY, number = 1; at < endAt - DAY; at += random.int(8 * HOUR, 3 * DAY), number += 1)
    happenings.push({ at, kind: "join", name: `Joined ${number} of ${seed}` });

  const fault = <Kind extends string>(window: Window, kinds: readonly Kind[]) => ({
    ...window,
    kind: random.pick(kinds),
  });
  return {
    startAt,
    endAt,
    happenings: happenings.sort((a, b) => a.at - b.at),
    lags: windows(random, startAt, days, 0.25, 10 * MINUTE, 3 * HOUR),
    explorerFaults: windows(random, startAt, days, 0.6, 5 * MINUTE, 2 * HOUR).map((window) =>
      fault(window, ["error", "garbage", "slow", "later-pages", "empty"] as const),
    ),
    discordFaults: windows(random, startAt, days, 0.5, MINUTE, HOUR).map((window) =>
      fault(window, ["error", "lost", "slow"] as const),
    ),
    kills: windows(random, startAt, days, 1.5, 1, 2).map(({ from }) => ({
      at: from,
      downMs: random.pick([5_000, MINUTE, 20 * MINUTE]),
      afterEffect: random.chance(0.5),
      moment: random.pick(["any", "message", "news"] as const),
    })),
    doubles: windows(random, startAt, days, 0.3, HOUR, 6 * HOUR),
    jumps: windows(random, startAt, days, 0.2, 10 * MINUTE, 3 * HOUR).map((window) => ({
      ...window,
      offset: random.pick([-1, 1]) * random.int(MINUTE, 9 * MINUTE),
    })),
    lastReport,
    nextReport,
  };
}
