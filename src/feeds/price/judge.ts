import { isAbsurd, type PriceSample, sampleSince } from "../../ledger/prices.js";
import { ageOf, pastTime } from "../../util/clock.js";
import { defined } from "../../util/present.js";
import { HOUR, MINUTE } from "../../util/units.js";
import type { PriceWatch } from "./collections.js";
import { type Condition, OVER } from "./conditions.js";

/** Maximum age of a price by its own timestamp, in ms. */
export const STALE_MS = 15 * MINUTE;

/** True if a price is plausible. @param last the last plausible price, USD */
export function isBelievable(
  price: string | null,
  updatedAt: number | null,
  last: string | undefined,
  now: number,
): price is string {
  const usd = Number(price);
  if (price === null || !(usd > 0) || !Number.isFinite(usd)) return false;
  // The explorer's clock may be ahead.
  const pricedAt = pastTime(updatedAt, now);
  if (pricedAt === null || now - pricedAt > STALE_MS) return false;
  return !isAbsurd(usd, Number(last ?? usd));
}

/** The effect of a reading on a condition. */
export interface Judged {
  readonly memory: PriceWatch;
  /** The previous price in USD, if an alert is due. */
  readonly from?: string;
  /** For a move, the time of that price, epoch ms. */
  readonly since?: number;
}

const SPAN_OF = { "1h": HOUR, "24h": 24 * HOUR } as const;
/** Distance by which the price must move back before an alert repeats: percent of the limit, or percentage points of a move. */
const BACK_PERCENT = 1;
/** Minimum time between two alerts of a condition, in ms. */
const AGAIN_MS = HOUR;

/** Returns the value that the price must return to before an alert repeats: USD, or percent of a move. */
function backLimit({ when, value: limit }: Pick<Condition, "when" | "value">): number {
  const back =
    when === "moves"
      ? Math.max(limit - BACK_PERCENT, limit / 2)
      : limit * (1 + (when === "above" ? -BACK_PERCENT : BACK_PERCENT) / 100);
  // Exactly the value that people are told.
  return Number(decimalOf(back));
}

/** Formats a computed price or percentage with at most ten decimals and without an exponent. */
const decimalOf = (value: number): string => value.toFixed(10).replace(/\.?0+$/, "");

/** Describes what must happen before an alert repeats, such as "the price was at 0.1584 USD or below". */
export function backWords(condition: Pick<Condition, "when" | "value" | "over">): string {
  const back = decimalOf(backLimit(condition));
  if (condition.when === "moves") return `the change was back within ${back}% over ${OVER[condition.over]}`;
  return `the price was back at ${back} USD or ${condition.when === "above" ? "below" : "above"}`;
}

/** Returns a move that meets a condition, for a drill (USD). It contains the current price if possible. */
export function exampleMove({ when, value }: Pick<Condition, "when" | "value">, price: string) {
  if (when === "moves") return { from: decimalOf(Number(price) / (1 + value / 100)), to: price };
  const before = decimalOf(backLimit({ when, value }));
  const isPast = isPastLimit({ when, value }, Number(price));
  const beyond = decimalOf(value * (1 + (when === "above" ? BACK_PERCENT : -BACK_PERCENT) / 100));
  return { from: before, to: isPast ? price : beyond };
}

/** True if a price is beyond the limit of a condition. A price at the limit is not. */
export const isPastLimit = ({ when, value }: Pick<Condition, "when" | "value">, usd: number): boolean =>
  when === "above" ? usd > value : when === "below" && usd < value;

/** Returns the change between two prices in percent. Rounded, so that 0.105 is exactly 5% more than 0.1. */
const changeBetween = (from: number, to: number): number => Number(((to / from - 1) * 100).toFixed(9));

/** Maximum time between a sample and the start of a span, in ms. */
const NEAR_MS = 15 * MINUTE;

/** Returns the price from which a move is measured: the one at the start of its span, or else the oldest one within it. */
const moveBase = ({ over }: Pick<Condition, "over">, samples: readonly PriceSample[], now: number) =>
  sampleSince(samples, now - SPAN_OF[over], NEAR_MS, now);

/** True if a price meets a condition. @param base the price from which a move is measured */
const isMet = (condition: Condition, usd: number, base: string | undefined): boolean =>
  condition.when === "moves"
    ? base !== undefined && Math.abs(changeBetween(Number(base), usd)) >= condition.value
    : isPastLimit(condition, usd);

/** True if a price meets a condition that is created now. No alert comes until it has stopped meeting it. */
export const isMetAlready = (
  condition: Condition,
  usd: number,
  samples: readonly PriceSample[],
  now: number,
): boolean => isMet(condition, usd, moveBase(condition, samples, now)?.[1]);

/**
 * Returns the time from which a move can be measured over its whole span, epoch ms. Until then it is measured from the oldest
 * price within the span. `undefined` if the whole span is known, or if the condition is not a move.
 */
export function wholeFrom(
  { when, over }: Pick<Condition, "when" | "over">,
  samples: readonly PriceSample[],
  now: number,
): number | undefined {
  if (when !== "moves") return undefined;
  const [oldestAt = now] = moveBase({ over }, samples, now) ?? [];
  const isWhole = oldestAt - NEAR_MS <= now - SPAN_OF[over];
  return isWhole ? undefined : oldestAt + SPAN_OF[over];
}

/**
 * Decides if an alert is due. A condition that holds when it is created must first stop holding.
 * @param mayAlert false while the subscription is snoozed. Moves of the price still arm the condition
 * @param samples stored prices to compare a move with
 * @param before the previous price, USD. For a condition that was never judged, the one when it was created
 */
export function judge(
  condition: Condition,
  known: PriceWatch | undefined,
  price: string,
  samples: readonly PriceSample[],
  before: string | undefined,
  now: number,
  mayAlert = true,
): Judged {
  const { when, repeat } = condition;
  const isMove = when === "moves";
  const usd = Number(price);
  const [since, movedFrom] = (isMove && moveBase(condition, samples, now)) || [];
  const base = isMove ? movedFrom : before;
  if (isMove && base === undefined) return { memory: known ?? { isArmed: true } };
  const isHolding = isMet(condition, usd, base);
  const heldBefore = isMove || before === undefined ? isHolding : isPastLimit(condition, Number(before));
  const { told } = known ?? {};
  const isDown = usd < Number(base ?? price);
  // A move that turned around within the span came back through zero, perhaps between two prices.
  const hasTurned = told?.isDown !== undefined && told.isDown !== isDown;
  const isReversed = isMove && repeat === "every" && isHolding && hasTurned;
  const memory = known
    ? { ...known, isArmed: known.isArmed || isReversed }
    : { isArmed: !(isHolding && heldBefore) };
  // An alert that has never fired does not have to wait.
  const isLater = mayAlert && (!told || ageOf(told.at, now) >= AGAIN_MS);
  if (isHolding && memory.isArmed && isLater) {
    // If the limit was passed before the previous price, during an hour's wait or while the bot was away, an older one shows it.
    const lastOutside =
      !isMove && heldBefore
        ? samples.findLast(([, each]) => !isPastLimit(condition, Number(each)))
        : undefined;
    return {
      memory: { isArmed: false, told: isMove ? { at: now, price, isDown } : { at: now, price } },
      from: lastOutside?.[1] ?? base ?? price,
      ...defined({ since }),
    };
  }
  if (isHolding || memory.isArmed || (told && repeat === "once"))
    return { memory: isReversed || !known ? memory : known };
  const back = backLimit(condition);
  const isBack = {
    moves: Math.abs(changeBetween(Number(base), usd)) <= back,
    above: usd <= back,
    below: usd >= back,
  }[when];
  return isBack ? { memory: { ...memory, isArmed: true } } : { memory };
}
