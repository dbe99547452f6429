import * as z from "zod";
import { toCount, toDecimal } from "../values.js";
import { amount, decimal, field, time } from "./fields.js";

/** A count. The contract's type of every field here is `number`. */
const countNumber = field(toCount, "number");

export const dashboard = z.object({
  totalTransactions: amount,
  totalEvents: amount,
  totalTransfers: amount,
  totalAccounts: amount,
  totalValidators: countNumber,
  totalActiveValidators: countNumber,
  totalInactiveValidators: countNumber,
  totalSuperValidators: countNumber,
  totalVoteRequests: countNumber,
  approvedVoteRequests: countNumber,
  activeVoteRequests: countNumber,
  tps: amount,
  avgDayTps: amount,
  avgDayTpsChange: decimal,
  monthPeakTps: amount,
  cps: amount,
  avgDayCps: amount,
  avgDayCpsChange: decimal,
  monthPeakCps: amount,
  migration: countNumber,
  latestRound: countNumber,
});

export type Dashboard = z.infer<typeof dashboard>;

/** Maximum plausible price of one CC in USD. */
const MAX_PRICE = 1e9;

/** Price of one CC in USD. A zero means that the explorer has no data, and becomes null. */
export const coinPrice = field((value) => {
  const price = toDecimal(value);
  return price === null || Number(price) <= 0 || Number(price) > MAX_PRICE ? null : price;
}, "number");

export const marketPrice = z.object({
  price: coinPrice,
  change24h: decimal,
  updateTimestamp: time,
});
