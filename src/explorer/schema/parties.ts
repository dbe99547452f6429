import * as z from "zod";
import {
  count,
  decimal,
  decimalText,
  field,
  flag,
  id,
  inner,
  name,
  partyRef,
  rowsOf,
  text,
  time,
  timeText,
  url,
} from "./fields.js";

const holdingsSummary = z.object({
  party_id: id,
  total_unlocked_coin: decimalText,
  total_locked_coin: decimalText,
  total_coin_holdings: decimalText,
  accumulated_holding_fees_unlocked: decimalText,
  accumulated_holding_fees_locked: decimalText,
  accumulated_holding_fees_total: decimalText,
  total_available_coin: decimalText,
  record_time: timeText,
  migration_id: count,
  computed_as_of_round: count,
});

const holdings = z.object({
  record_time: timeText,
  migration_id: count,
  computed_as_of_round: count,
  summaries: rowsOf(holdingsSummary),
});

export const partyDetail = z.object({
  partyId: id,
  accountName: name,
  imageUrl: url,
  website: text,
  creator: field((value) => partyRef.safeParse(value).data ?? null, { fields: partyRef }),
  createdAt: time,
  lastSeenRound: count,
  lastSeenRoundTimestamp: time,
  holdingsSummaryResponse: inner(holdings),
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
export type HoldingsSummary = z.infer<typeof holdingsSummary>;
