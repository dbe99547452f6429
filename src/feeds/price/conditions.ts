import * as z from "zod";
import type { Subscription } from "../../delivery/collections.js";
import { type FeedOption, oneOf, optionOf } from "../../delivery/feed.js";
import { perObject } from "../../util/per-object.js";
import { PersonError } from "../../util/person-error.js";

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
