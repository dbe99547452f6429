import { createRandom } from "../../sandbox/explorer/random.js";
import { DAY, HOUR, MINUTE } from "../../src/util/units.js";
import { type DialogMoment, drawDialogs } from "./dialogs.js";
import { drawMotions, type Motion, withUpgrades } from "./motions.js";
import { ABSENCE_MS, absencesIn, drawOddMotions, isPlain, type OddMotion } from "./odd-motions.js";
import { drawOddities, type OddityOf, oddityIn } from "./oddities.js";
import { drawPrices, type PriceStep } from "./prices.js";
import { RHYTHMS, type Rhythm } from "./reports.js";
import { drawValidators, LONG_DAYS, VALIDATORS, type ValidatorHistory } from "./validators.js";
import { drawFaults, drawWindows, type FaultWindow, type Window, windowAt } from "./windows.js";

const EXPLORER_FAULTS = ["error", "garbage", "slow", "later-pages", "empty"] as const;
const DISCORD_FAULTS = ["error", "lost", "slow"] as const;
/** Ways in which an explorer falls behind: it shows only data from before, or new data slowly. */
const LAGS = ["frozen", "creeping"] as const;
/** Speed at which new data appears while it creeps. */
const CREEPING = 0.3;
/** Duration of a lag with which every longer history ends, in ms. */
const SLOW_MS = 2 * HOUR;
/** Evidence of an explorer's own time, apart from validators' reports. */
const EVIDENCE = ["updates", "rounds", "none"] as const;
const PRICE_FAULTS = ["null", "zero", "absurd", "stale", "ahead"] as const;
/** Duration for which the price of every longer history is dated in the future, in ms. */
const AHEAD_MS = 4 * HOUR;

/**
 * Moment at which a process is killed: at its next request or write, at its next message, or when it commits
 * news.
 */
export type Moment = "any" | "message" | "news";

/** The kill of a process, before or after the effect of its last action. */
export interface Kill {
  readonly at: number;
  /** Time until the next process starts, in ms. */
  readonly downMs: number;
  readonly afterEffect: boolean;
  readonly moment: Moment;
}

/** A validator that joins. */
export interface Joining {
  readonly at: number;
  readonly name: string;
}

/** A person looks at the open alerts, and acknowledges or snoozes one of them. */
export interface Look {
  readonly at: number;
  readonly says: "acknowledge" | "8h" | "back";
}

/** Everything determined by a seed: events on the ledger, and faults. */
export interface History extends ValidatorHistory {
  readonly startAt: number;
  readonly endAt: number;
  readonly isCalm: boolean;
  /** The only evidence that the API key can read. */
  readonly evidence: (typeof EVIDENCE)[number];
  readonly motions: readonly Motion[];
  /** Vote requests about which something is unusual. Some of them are among the others. */
  readonly oddMotions: readonly OddMotion[];
  readonly joinings: readonly Joining[];
  /** Times at which the explorer says something wrong of a validator, by its name. */
  readonly oddities: ReturnType<typeof drawOddities>;
  readonly oddityOf: OddityOf;
  /** Time when another organization takes a super validator's place, null for never. */
  readonly successionAt: number | null;
  /** True if the explorer does not count the abstentions of a motion. */
  isUncounted(title: string): boolean;
  readonly looks: readonly Look[];
  /** Times at which two people respond to the same alert at the same moment. */
  readonly togetherAt: readonly number[];
  readonly dialogs: readonly DialogMoment[];
  /** Sorted by time. */
  readonly prices: readonly PriceStep[];
  readonly priceFaults: readonly FaultWindow<(typeof PRICE_FAULTS)[number]>[];
  /** Times during which the explorer falls behind. */
  readonly lags: readonly FaultWindow<(typeof LAGS)[number]>[];
  /** Returns the time of the newest data that the explorer shows. */
  shownAt(at: number): number;
  /** Times during which no round begins. */
  readonly standstills: readonly Window[];
  /** Returns the newest round at a time. */
  roundAt(at: number): number;
  readonly explorerFaults: readonly FaultWindow<(typeof EXPLORER_FAULTS)[number]>[];
  readonly discordFaults: readonly FaultWindow<(typeof DISCORD_FAULTS)[number]>[];
  /** Kills of processes. */
  readonly kills: readonly Kill[];
  /** Times during which the state cannot be written, because the disk is full. */
  readonly fullDisks: readonly Window[];
  /** Times during which a second process runs. */
  readonly doubles: readonly Window[];
  /** Times during which the bot's clock is wrong, with its offset. */
  readonly jumps: readonly (Window & { readonly offset: number })[];
}

/** Number of validators that join together. */
const BURST = 120;

/** Start dates at most two weeks before clocks change (Europe: 29 March and 25 October 2026). */
const STARTS = [Date.UTC(2026, 9, 15), Date.UTC(2026, 2, 20)] as const;

/** Settings that override a seed's. */
export interface HistoryChoice {
  readonly rhythm?: Rhythm | undefined;
  readonly validatorCount?: number | undefined;
  /** True for a history without faults of validators, the explorer, Discord or the bot. */
  readonly isCalm?: boolean;
}

/** Creates the history of a seed. */
export function createHistory(seed: number, days: number, choice: HistoryChoice = {}): History {
  const random = createRandom(seed);
  const startAt = STARTS[seed % 2 === 0 ? 0 : 1];
  const span = { startAt, days };
  const endAt = startAt + days * DAY;
  const windows = (perDay: number, least: number, most: number) =>
    choice.isCalm ? [] : drawWindows(random, span, perDay, least, most);

  const joinings: Joining[] = [];
  for (let at = startAt + DAY; at < endAt - DAY; at += random.int(8 * HOUR, 3 * DAY))
    joinings.push({ at, name: `Joined ${joinings.length + 1} of ${seed}` });
  // Sometimes, more join at once than the explorer lists on a page.
  const burstAt = startAt + 0.4 * days * DAY;
  if (seed % 3 === 0 && !choice.isCalm)
    for (let count = 1; count <= BURST; count += 1)
      joinings.push({ at: burstAt, name: `Joined ${count} together of ${seed}` });
  joinings.sort((a, b) => a.at - b.at);
  const validators = drawValidators(
    random,
    span,
    choice.rhythm ?? RHYTHMS[seed % RHYTHMS.length] ?? "hour",
    choice.validatorCount ?? VALIDATORS,
    choice.isCalm ?? false,
  );
  const nodes = Array.from({ length: validators.validatorCount }, (_, number) => `Node ${number}`);
  const oddities = drawOddities(
    createRandom(seed + 80),
    span,
    nodes,
    validators.watchedCount,
    joinings.map(({ name }) => name),
    validators.outages,
  );

  const oddMotions = choice.isCalm ? [] : drawOddMotions(createRandom(seed + 81), span, seed);
  const standstills = choice.isCalm
    ? []
    : drawWindows(createRandom(seed + 78), span, 0.3, 20 * MINUTE, 3 * HOUR);

  /** Adds a fault at a part of a longer history, in place of those that it overlaps. */
  const withFixed = <Kind extends string>(
    drawn: readonly FaultWindow<Kind>[],
    part: number,
    ms: number,
    kind: Kind,
  ): readonly FaultWindow<Kind>[] => {
    const from = startAt + part * days * DAY;
    const fixed = { from, to: from + ms, kind };
    if (choice.isCalm || days < LONG_DAYS) return drawn;
    const others = drawn.filter((each) => each.to < fixed.from || each.from > fixed.to);
    return [...others, fixed].sort((a, b) => a.from - b.from);
  };
  const drawnLags = drawFaults(createRandom(seed + 83), windows(0.4, 10 * MINUTE, 3 * HOUR), LAGS);
  const lags = withFixed(drawnLags, 0.85, SLOW_MS, "creeping");

  return {
    startAt,
    endAt,
    ...validators,
    oddities: choice.isCalm ? new Map() : oddities,
    oddityOf: choice.isCalm ? () => undefined : oddityIn(oddities),
    isUncounted: (title) => !choice.isCalm && Number(/\d+/.exec(title)?.[0]) % 3 === 0,
    isCalm: choice.isCalm ?? false,
    successionAt:
      choice.isCalm || validators.validatorCount < VALIDATORS ? null : startAt + 0.35 * days * DAY,
    evidence: EVIDENCE[Math.floor(seed / RHYTHMS.length) % EVIDENCE.length] ?? "updates",
    // They have a random source of their own, so that the rest of a seed's history stays the same.
    motions: [
      ...withUpgrades(createRandom(seed + 77), drawMotions(random, span, seed)),
      ...oddMotions.filter(isPlain),
    ],
    oddMotions,
    standstills,
    roundAt(at) {
      const lostMs = standstills.reduce((sum, { from, to }) => sum + Math.max(0, Math.min(at, to) - from), 0);
      return Math.floor((at - lostMs) / (10 * MINUTE));
    },
    joinings,
    looks: windows(3, 1, 2).map(({ from }) => ({
      at: from,
      says: random.pick(["acknowledge", "8h", "back"] as const),
    })),
    togetherAt: choice.isCalm
      ? []
      : drawWindows(createRandom(seed + 84), span, 6, 1, 2).map(({ from }) => from),
    dialogs: drawDialogs(createRandom(seed + 79), span, validators.outages),
    prices: drawPrices(random, span),
    priceFaults: withFixed(
      drawFaults(random, windows(0.5, 10 * MINUTE, 2 * HOUR), PRICE_FAULTS),
      0.5,
      AHEAD_MS,
      "ahead",
    ),
    lags,
    shownAt(at) {
      const lag = windowAt(lags, at);
      if (!lag) return at;
      return lag.kind === "frozen" ? lag.from : lag.from + (at - lag.from) * CREEPING;
    },
    explorerFaults: drawFaults(random, windows(0.6, 5 * MINUTE, 2 * HOUR), EXPLORER_FAULTS),
    discordFaults: drawFaults(random, windows(0.5, MINUTE, HOUR), DISCORD_FAULTS),
    kills: [
      ...windows(1.5, 1, 2).map(({ from }) => ({
        at: from,
        downMs: random.pick([5_000, MINUTE, 20 * MINUTE]),
        afterEffect: random.chance(0.5),
        moment: random.pick(["any", "message", "news"] as const),
      })),
      ...(choice.isCalm ? [] : absencesIn(span)).map((at) => ({
        at,
        downMs: ABSENCE_MS,
        afterEffect: false,
        moment: "any" as const,
      })),
    ],
    fullDisks: choice.isCalm ? [] : drawWindows(createRandom(seed + 85), span, 0.4, MINUTE, 40 * MINUTE),
    doubles: windows(0.3, HOUR, 6 * HOUR),
    jumps: windows(0.2, 10 * MINUTE, 3 * HOUR).map((window) => ({
      ...window,
      offset: random.pick([-1, 1]) * random.int(MINUTE, 9 * MINUTE),
    })),
  };
}
