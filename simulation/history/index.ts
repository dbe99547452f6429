import { createRandom } from "../../sandbox/explorer/random.js";
import { DAY, HOUR, MINUTE } from "../../src/util/units.js";
import { drawMotions, type Motion } from "./motions.js";
import { drawPrices, type PriceStep } from "./prices.js";
import { RHYTHMS, type Rhythm } from "./reports.js";
import { drawValidators, VALIDATORS, type ValidatorHistory } from "./validators.js";
import { drawFaults, drawWindows, type FaultWindow, type Window } from "./windows.js";

const EXPLORER_FAULTS = ["error", "garbage", "slow", "later-pages", "empty"] as const;
const DISCORD_FAULTS = ["error", "lost", "slow"] as const;
/** What an explorer shows of its own time besides the validators' reports. */
const EVIDENCE = ["updates", "rounds", "none"] as const;
const PRICE_FAULTS = ["null", "zero", "absurd", "stale"] as const;

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

/** A validator that joins. */
export interface Joining {
  readonly at: number;
  readonly name: string;
}

/** Somebody looks at the open alerts, and says that they are on one of them, or that it can wait. */
export interface Look {
  readonly at: number;
  readonly says: "acknowledge" | "8h" | "back";
}

/** All that a seed decides: what happens on the ledger, and what goes wrong. */
export interface History extends ValidatorHistory {
  readonly startAt: number;
  readonly endAt: number;
  readonly isCalm: boolean;
  /** The others are withheld from this key. */
  readonly evidence: (typeof EVIDENCE)[number];
  readonly motions: readonly Motion[];
  readonly joinings: readonly Joining[];
  readonly looks: readonly Look[];
  /** In the order of their times. */
  readonly prices: readonly PriceStep[];
  readonly priceFaults: readonly FaultWindow<(typeof PRICE_FAULTS)[number]>[];
  /** The explorer tells nothing that is newer than their beginning. */
  readonly lags: readonly Window[];
  readonly explorerFaults: readonly FaultWindow<(typeof EXPLORER_FAULTS)[number]>[];
  readonly discordFaults: readonly FaultWindow<(typeof DISCORD_FAULTS)[number]>[];
  /** When processes are killed. */
  readonly kills: readonly Kill[];
  /** When a second process runs. */
  readonly doubles: readonly Window[];
  /** When the bot's clock is wrong, and by how much. */
  readonly jumps: readonly (Window & { readonly offset: number })[];
}

/** Both begin so that the night in which the clocks change lies within two weeks (Europe: 29 March and 25 October 2026). */
const STARTS = [Date.UTC(2026, 9, 15), Date.UTC(2026, 2, 20)] as const;

/** What is chosen of a history, and not drawn. */
export interface HistoryChoice {
  readonly rhythm?: Rhythm | undefined;
  readonly validatorCount?: number | undefined;
  /** True if nothing goes wrong: every validator is well, and so are the explorer, Discord and the bot. */
  readonly isCalm?: boolean;
}

/** What a seed draws. */
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

  return {
    startAt,
    endAt,
    ...drawValidators(
      random,
      span,
      choice.rhythm ?? RHYTHMS[seed % RHYTHMS.length] ?? "hour",
      choice.validatorCount ?? VALIDATORS,
      choice.isCalm ?? false,
    ),
    isCalm: choice.isCalm ?? false,
    evidence: EVIDENCE[Math.floor(seed / RHYTHMS.length) % EVIDENCE.length] ?? "updates",
    motions: drawMotions(random, span, seed),
    joinings,
    looks: windows(3, 1, 2).map(({ from }) => ({
      at: from,
      says: random.pick(["acknowledge", "8h", "back"] as const),
    })),
    prices: drawPrices(random, span),
    priceFaults: drawFaults(random, windows(0.5, 10 * MINUTE, 2 * HOUR), PRICE_FAULTS),
    lags: windows(0.25, 10 * MINUTE, 3 * HOUR),
    explorerFaults: drawFaults(random, windows(0.6, 5 * MINUTE, 2 * HOUR), EXPLORER_FAULTS),
    discordFaults: drawFaults(random, windows(0.5, MINUTE, HOUR), DISCORD_FAULTS),
    kills: windows(1.5, 1, 2).map(({ from }) => ({
      at: from,
      downMs: random.pick([5_000, MINUTE, 20 * MINUTE]),
      afterEffect: random.chance(0.5),
      moment: random.pick(["any", "message", "news"] as const),
    })),
    doubles: windows(0.3, HOUR, 6 * HOUR),
    jumps: windows(0.2, 10 * MINUTE, 3 * HOUR).map((window) => ({
      ...window,
      offset: random.pick([-1, 1]) * random.int(MINUTE, 9 * MINUTE),
    })),
  };
}
