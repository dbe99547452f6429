import * as z from "zod";
import { type FeedOption, optionOf } from "../../delivery/feed.js";
import { type PriceSample, priceAt } from "../../ledger/prices.js";
import type { PriceWatch, Subscription } from "../../storage/catalogue.js";
import { ageOf } from "../../util/clock.js";
import { PersonError } from "../../util/person-error.js";
import { HOUR, MINUTE } from "../../util/units.js";

const WHEN = {
  above: "it rises above a price",
  below: "it falls below a price",
  moves: "it moves by a share",
};
const OVER = { "1h": "an hour", "24h": "24 hours" };
const REPEAT = { once: "once", every: "every time" };

/**
 * What a person typed for a value: `0.16`, `$0.16` or `5%`; as a decimal, with the unit that was typed. A comma before three
 * digits may be either, and is not guessed at.
 */
function parseValue(text: string): string | undefined {
  const [, before = "", digits = "", behind = ""] =
    /^\s*(\$?)\s*(\d{1,9}(?:[.,]\d{1,8})?)\s*(%|USD|\$)?\s*$/i.exec(text) ?? [];
  if (digits === "" || /^\d+,\d{3}$/.test(digits) || (before !== "" && behind !== "")) return undefined;
  const decimal = digits.replace(",", ".");
  const amount = decimal.includes(".") ? decimal.replace(/\.?0+$/, "") : decimal;
  if (!(Number(amount) > 0)) return undefined;
  return behind === "%" ? `${amount}%` : before !== "" || behind !== "" ? `$${amount}` : amount;
}

/** The same without its unit. */
const amountOf = (value: string): string => value.replace(/[$%]/g, "");

function oneOf<Values extends Readonly<Record<string, string>>>(
  description: string,
  values: Values,
  byDefault: keyof Values & string,
  isRequired = false,
): FeedOption<keyof Values & string> {
  const keys = Object.keys(values) as (keyof Values & string)[];
  return {
    description,
    maxLength: 10,
    choices: values,
    isRequired,
    byDefault,
    schema: z.enum(keys as [keyof Values & string]) as z.ZodType<keyof Values & string>,
    parse: (text) => keys.find((key) => key === text),
    problem: `Choose one of: ${keys.join(", ")}.`,
  };
}

const value: FeedOption<string> = {
  description: "The price in USD, such as 0.16, or by how much it moves, such as 5%",
  maxLength: 20,
  isRequired: true,
  byDefault: "5",
  schema: z.string(),
  parse: parseValue,
  problem: "I cannot read that value. Type a price in USD, such as `0.16`, or a share, such as `5%`.",
};

/** What a subscription to the price can be set to. */
export const options = {
  when: oneOf("When to be told", WHEN, "moves", true),
  value,
  over: oneOf("For moves: over how long (24 hours)", OVER, "24h"),
  repeat: oneOf("Whether to be told once, or every time (every time)", REPEAT, "every"),
};

/** A condition on the price. */
export interface Condition {
  readonly when: keyof typeof WHEN;
  /** USD for one CC, or percent where it moves. */
  readonly value: number;
  readonly over: keyof typeof OVER;
  readonly repeat: keyof typeof REPEAT;
}

/** What a subscription to the price waits for. */
export const conditionOf = (subscription: Subscription): Condition => ({
  when: optionOf(subscription, "when", options.when),
  value: Number(amountOf(optionOf(subscription, "value", options.value))),
  over: optionOf(subscription, "over", options.over),
  repeat: optionOf(subscription, "repeat", options.repeat),
});

/** Names a condition: two that wait for the same are one. @throws {PersonError} for a price in percent, or a move in USD */
export function subjectOf(settings: Readonly<Record<string, unknown>>): string {
  const { when, value: typed, over } = settings;
  const text = String(typed);
  if (when === "moves" ? text.startsWith("$") : text.endsWith("%"))
    throw new PersonError(
      when === "moves"
        ? "The price moves by a share: type one such as `5%`."
        : "A price to pass is in USD: type one such as `0.16`. For a share, choose `when:` it moves.",
    );
  const amount = amountOf(text);
  return when === "moves" ? `moves-${amount}-${over}` : `${when}-${amount}`;
}

/** The settings of a condition by its name; undefined where it is none. */
export function settingsOf(
  subject: string,
): (Pick<Condition, "when" | "over"> & { readonly value: string }) | undefined {
  const [when = "", amount = "", over = options.over.byDefault] = subject.split("-");
  const parsed = {
    when: options.when.parse(when),
    value: parseValue(amount),
    over: options.over.parse(over),
  };
  if (!parsed.when || !parsed.value || !parsed.over) return undefined;
  return { when: parsed.when, value: parsed.value, over: parsed.over };
}

/** A price by its own time older than this says nothing, in ms. */
const STALE_MS = 15 * MINUTE;
/** A price so many times off the last is an error of somebody's. */
const ABSURD = 100;

/** Whether a price may be believed. @param last the one believed last, USD */
export function isBelievable(
  price: string | null,
  updatedAt: number | null,
  last: string | undefined,
  now: number,
): price is string {
  const usd = Number(price);
  if (price === null || !(usd > 0) || !Number.isFinite(usd)) return false;
  if (updatedAt === null || ageOf(updatedAt, now) > STALE_MS) return false;
  const before = Number(last ?? usd);
  return !(before > 0) || (usd / before < ABSURD && before / usd < ABSURD);
}

/** What one reading means for a condition. */
export interface Judged {
  readonly memory: PriceWatch;
  /** From which price it came, where that is to be told: USD. */
  readonly from?: string;
}

const SPAN_OF = { "1h": HOUR, "24h": 24 * HOUR } as const;
/** It must come back by so much before it is told again, in percent of the price, or points of a move; */
const BACK_PERCENT = 1;
/** and so much time must pass, in ms. */
const AGAIN_MS = HOUR;

/** How far off the beginning of a span a sample may be, in ms. */
const NEAR_MS = 15 * MINUTE;

/**
 * Whether a condition is to be told of. One that held already when it was made is not news: it must cease to hold first.
 * @param samples the prices kept, with what to compare a move with
 * @param before the price of the reading before, USD
 */
export function judge(
  { when, value: limit, over, repeat }: Condition,
  known: PriceWatch | undefined,
  price: string,
  samples: readonly PriceSample[],
  before: string | undefined,
  now: number,
): Judged {
  const usd = Number(price);
  const base = when === "moves" ? priceAt(samples, now - SPAN_OF[over], NEAR_MS) : before;
  const moved = base === undefined ? undefined : (usd / Number(base) - 1) * 100;
  if (when === "moves" && moved === undefined) return { memory: known ?? { isArmed: true } };
  const isPast = (price: number) => (when === "above" ? price >= limit : price <= limit);
  const holds = when === "moves" ? Math.abs(moved ?? 0) >= limit : isPast(usd);
  const heldBefore = when === "moves" || before === undefined ? holds : isPast(Number(before));
  const memory = known ?? { isArmed: !heldBefore };
  const { told } = memory;
  if (holds && memory.isArmed)
    return { memory: { isArmed: false, told: { at: now, price } }, from: base ?? price };
  if (holds || memory.isArmed || (told && repeat === "once")) return { memory };
  const isBack =
    when === "above"
      ? usd <= limit * (1 - BACK_PERCENT / 100)
      : when === "below"
        ? usd >= limit * (1 + BACK_PERCENT / 100)
        : Math.abs(moved ?? 0) <= Math.max(limit - BACK_PERCENT, limit / 2);
  const isLater = !told || ageOf(told.at, now) >= AGAIN_MS;
  // What never was told needs no time to pass.
  return isBack && isLater ? { memory: { ...memory, isArmed: true } } : { memory };
}
