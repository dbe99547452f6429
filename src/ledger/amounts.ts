import { toDecimal } from "../explorer/values.js";

/** Number of decimals of the ledger's amounts. */
const DIGITS = 10;

const toUnits = (decimal: string): bigint => {
  const [whole = "0", fraction = ""] = decimal.replace("-", "").split(".");
  const units = BigInt(whole + fraction.slice(0, DIGITS).padEnd(DIGITS, "0"));
  return decimal.startsWith("-") ? -units : units;
};

/** Returns the exact sum of decimals with up to ten fraction digits. Unknown values are skipped. */
export function sumOf(decimals: readonly (string | null)[]): string {
  const units = decimals.reduce((sum, each) => sum + (each === null ? 0n : toUnits(each)), 0n);
  return toDecimal(`${units}e-${DIGITS}`) ?? "0";
}

/** Returns the value of an amount in USD, approximately; null if the amount or the price is unknown. */
export function worth(coins: string | null, usd: string | null): number | null {
  const value = coins === null || usd === null ? Number.NaN : Number(coins) * Number(usd);
  return Number.isFinite(value) && Number(usd) > 0 ? value : null;
}
