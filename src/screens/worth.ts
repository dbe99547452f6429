import { ifAnswered } from "../explorer/errors.js";
import type { Explorer } from "../explorer/service.js";
import { worth } from "../ledger/amounts.js";
import { aboutUsd, type Markdown, md } from "../text/markdown.js";

/** What one CC costs now, in USD; null where that is not known. */
export const currentPrice = async (explorer: Explorer): Promise<string | null> =>
  (await ifAnswered(explorer.price({})))?.data.price ?? null;

/** About how many USD an amount of coin is; nothing where that is not known. */
export function usdOf(amount: string | null, price: string | null): Markdown | false {
  const usd = aboutUsd(worth(amount, price));
  return usd !== null && md`${usd}`;
}

/** Where USD are not at the price of the moment that they stand beside. */
export const AT_CURRENT_PRICE = md`USD at the current price`;
