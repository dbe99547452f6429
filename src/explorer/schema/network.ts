import * as z from "zod";
import { toDecimal } from "../values.js";
import { count, decimal, field, time } from "./fields.js";

export const dashboard = z.object({
  totalTransactions: decimal,
  totalEvents: decimal,
  totalTransfers: decimal,
  totalAccounts: decimal,
  totalValidators: count,
  totalActiveValidators: count,
  totalInactiveValidators: count,
  totalSuperValidators: count,
  totalVoteRequests: count,
  approvedVoteRequests: count,
  activeVoteRequests: count,
  tps: decimal,
  avgDayTps: decimal,
  avgDayTpsChange: decimal,
  monthPeakTps: decimal,
  cps: decimal,
  avgDayCps: decimal,
  avgDayCpsChange: decimal,
  monthPeakCps: decimal,
  migration: count,
  latestRound: count,
});

export const marketPrice = z.object({
  /** USD for one CC; a zero means that there is no data, and is null here. */
  price: field((value) => {
    const price = toDecimal(value);
    return price === null || Number(price) <= 0 ? null : price;
  }),
  change24h: decimal,
  updateTimestamp: time,
});
