import { ifAnswered } from "../explorer/errors.js";
import type { Explorer } from "../explorer/service.js";
import { worth } from "../ledger/amounts.js";
import { isStuck } from "../ledger/price-history.js";
import { type Markdown, md } from "../text/markdown.js";
import { aboutUsd } from "../text/numbers.js";
import { withTimeout } from "../util/timeouts.js";
import { SIDE_MS } from "./view.js";

/** Returns the current price of one CC in USD; null if it is unknown or too old. */
export async function currentPrice(explorer: Explorer): Promise<string | null> {
  const reading = await withTimeout(ifAnswered(explorer.price({})), SIDE_MS, () => undefined);
  if (!reading) return null;
  const { data, fetchedAt } = reading;
  // A cached answer may be a day old while the explorer fails.
  return isStuck(data.updateTimestamp, fetchedAt) || isStuck(fetchedAt, Date.now()) ? null : data.price;
}

/** Returns the approximate value of an amount in USD; empty if it is unknown. */
export function usdOf(amount: string | null, price: string | null): Markdown | false {
  const usd = aboutUsd(worth(amount, price));
  return usd !== null && md`${usd}`;
}

/** Label for USD values that use the current price. */
export const AT_CURRENT_PRICE = md`USD at the current price`;
