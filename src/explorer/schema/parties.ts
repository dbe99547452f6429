import * as z from "zod";
import { toCount, toRecord, toTime } from "../values.js";
import { count, decimal, field, flag, id, name, partyRef, rowsOf, text, time, url } from "./fields.js";

const holdingsSummary = z.object({
  party_id: id,
  total_unlocked_coin: decimal,
  total_locked_coin: decimal,
  total_coin_holdings: decimal,
  accumulated_holding_fees_unlocked: decimal,
  accumulated_holding_fees_locked: decimal,
  accumulated_holding_fees_total: decimal,
  total_available_coin: decimal,
  record_time: time,
  migration_id: count,
  computed_as_of_round: count,
});

export const partyDetail = z.object({
  partyId: id,
  accountName: name,
  imageUrl: url,
  website: text,
  creator: field((value) => {
    const creator = partyRef.safeParse(value);
    return creator.success ? creator.data : null;
  }),
  createdAt: time,
  lastSeenRound: count,
  lastSeenRoundTimestamp: time,
  holdingsSummaryResponse: field((value) => {
    const holdings = toRecord(value);
    return {
      record_time: toTime(holdings?.record_time),
      migration_id: toCount(holdings?.migration_id),
      computed_as_of_round: toCount(holdings?.computed_as_of_round),
      summaries: rowsOf(holdingsSummary).parse(holdings?.summaries),
    };
  }),
  creatorAccount: flag,
});

export const partyListItem = z.object({
  partyAddress: id,
  partyName: name,
  partyImg: url,
  balance: decimal,
  firstSeen: time,
  lastSeen: time,
  totalRewards: decimal,
});
export const partyTypes = z.object({ isAccount: flag, isValidator: flag, isSv: flag });

export type PartyListItem = z.infer<typeof partyListItem>;
export type PartyDetail = z.infer<typeof partyDetail>;
export type HoldingsSummary = z.infer<typeof holdingsSummary>;
