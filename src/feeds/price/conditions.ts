import * as z from "zod";
import type { Subscription } from "../../delivery/collections.js";
import { type FeedOption, oneOf, optionOf } from "../../delivery/feed.js";
import { isAbsurd, type PriceSample, sampleSince } from "../../ledger/prices.js";
import { ageOf, pastTime } from "../../util/clock.js";
import { perObject } from "../../util/per-object.js";
import { PersonError } from "../../util/person-error.js";
import { defined } from "../../util/present.js";
import { HOUR, MINUTE } from "../../util/units.js";
import type { PriceWatch } from "./collections.js";

/** The kinds of conditions, as people choose them. */
export const WHEN = {
  above: "it rises above a price",
  below: "it falls below a price",
  moves: "it moves by a percentage",
};
/** Display names of the time spans of a move. */
export const OVER = { "1h": "an hour", "24h": "24 hours" };
const REPEAT = { once: "once", every: "every time" };

/** Matches a number with what people write around it: `$0.16`, `USD 0.16`, `.16`, `5 percent`, `-5%`, `1,234.50`. */
const VALUE =
  /^\s*([+±-]?)\s*(\$|usd)?\s*((?:\d{1,3}(?:,\d{3})+(?=\.)|\d+)?(?:[.,]\d+)?)\s*(%|percent|usd|\$)?\s*$/i;
/** Maximum number of digits before and after the point. */
const MAX_DIGITS = { before: 9, behind: 8 };

/** Returns the parts of a value that a person typed. `undefined` if it is none, or ambiguous: a comma before three digits, as in 1,234. */
function partsOf(text: string) {
  const [, sign = "", before = "", digits = "", behind = ""] = VALUE.exec(text) ?? [];
  const isPercent = /^(%|percent)$/i.test(behind);
  // A move counts in both directions.
  const isWrong = (before !== "" && behind !== "") || (sign !== "" && sign !== "+" && !isPercent);
  if (digits === "" || /^[1-9]\d*,\d{3}$/.test(digits) || isWrong) return undefined;
  const plain = digits.includes(".") ? digits.replaceAll(",", "") : digits.replace(",", ".");
  const [whole = "", decimals = ""] = plain.replace(/^0+(?=\d)/, "").split(".");
  const rest = decimals.replace(/0+$/, "");
  const currency = before || behind ? "$" : "";
  return { whole: whole || "0", rest, unit: isPercent ? "%" : currency };
}

/** Says what is wrong with a number that cannot be a value. */
function valueLimit(text: string): string | undefined {
  const parts = partsOf(text);
  if (!parts) return undefined;
  const { whole, rest } = parts;
  if (whole.length > MAX_DIGITS.before) return "That's too large. The maximum is 999,999,999.";
  if (rest.length > MAX_DIGITS.behind)
    return `That has too many decimals. The maximum is ${MAX_DIGITS.behind}.`;
  return Number(`${whole}.${rest}`) > 0 ? undefined : "The value must be more than 0.";
}

/** Parses a value such as `0.16`, `$0.16` or `5%`. Returns a decimal with its unit. */
function parseValue(text: string): string | undefined {
  const parts = partsOf(text);
  if (!parts || valueLimit(text) !== undefined) return undefined;
  const { whole, rest, unit } = parts;
  const amount = rest === "" ? whole : `${whole}.${rest}`;
  return unit === "%" ? `${amount}%` : `${unit}${amount}`;
}

/** Returns a value without its unit. */
const amountOf = (value: string): string => value.replace(/[$%]/g, "");

const value: FeedOption<string> = {
  description: "A price in USD, such as 0.16, or a percentage, such as 5%",
  maxLength: 20,
  isRequired: true,
  byDefault: "5",
  schema: z.string(),
  parse: parseValue,
  limit: valueLimit,
  problem: "Can't read that value. Type a price in USD, such as `0.16`, or a percentage, such as `5%`.",
};

/** Options of a subscription to the price. */
export const options = {
  when: oneOf("When to alert", WHEN, "moves", true),
  value,
  over: oneOf("For moves: over how long (default: 24 hours)", OVER, "24h"),
  repeat: oneOf("Alert once, or every time (default: every time)", REPEAT, "every"),
};

/** A condition on the price. */
export interface Condition {
  readonly when: keyof typeof WHEN;
  /** USD for one CC, or percent if it moves. */
  readonly value: number;
  readonly over: keyof typeof OVER;
  readonly repeat: keyof typeof REPEAT;
}

/** Returns the condition of a subscription to the price. */
export const conditionOf = perObject(
  (subscription: Subscription): Condition => ({
    when: optionOf(subscription, "when", options.when),
    value: Number(amountOf(optionOf(subscription, "value", options.value))),
    over: optionOf(subscription, "over", options.over),
    repeat: optionOf(subscription, "repeat", options.repeat),
  }),
);

const MAX_MOVE_PERCENT = 1_000;

/**
 * Returns the id of a condition. Equal conditions have the same id.
 * @param before the settings before an edit
 * @throws {PersonError} for a price in percent, or a move in USD
 */
export function subjectOf(
  settings: Readonly<Record<string, unknown>>,
  before?: Readonly<Record<string, unknown>>,
): string {
  const { when, value: typed, over } = settings;
  const text = String(typed);
  // A price that was set without a unit is no percentage, and the other way round.
  const isKept = before?.value === typed;
  const wasPrice = isKept && before?.when !== "moves";
  const wasMove = isKept && before?.when === "moves";
  const example = wasMove ? `$${amountOf(text)}` : "0.16";
  if (when === "moves" ? text.startsWith("$") || wasPrice : text.endsWith("%") || wasMove)
    throw new PersonError(
      when === "moves"
        ? "For a move, type a percentage, such as `5%`."
        : `Type a price in USD, such as \`${example}\`. For a percentage, pick “it moves by a percentage” for \`when:\`.`,
    );
  const amount = amountOf(text);
  if (when === "moves" && Number(amount) > MAX_MOVE_PERCENT)
    throw new PersonError(`The maximum for a move is ${MAX_MOVE_PERCENT}%.`);
  return when === "moves" ? `moves-${amount}-${over}` : `${when}-${amount}`;
}

/** Returns the settings of a condition from its id. `undefined` if the id is invalid. */
export function settingsOf(
  subject: string,
): (Pick<Condition, "when" | "over"> & { readonly value: string }) | undefined {
  const [typedWhen = "", amount = "", typedOver = options.over.byDefault] = subject.split("-");
  const when = options.when.parse(typedWhen);
  const value = parseValue(amount);
  const over = options.over.parse(typedOver);
  return when && value && over ? { when, value, over } : undefined;
}

/** Describes a condition, such as "above 0.16 USD". */
export function conditionWords(subject: string): string {
  const settings = settingsOf(subject);
  if (!settings) return subject;
  const { when, value, over } = settings;
  return when === "moves" ? `up or down ${value}% in ${over}` : `${when} ${value} USD`;
}

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
      memory: { isArmed: false, told: { at: now, price, ...(isMove ? { isDown } : {}) } },
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
