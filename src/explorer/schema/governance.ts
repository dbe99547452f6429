import * as z from "zod";
import { count, decimal, decisionDate, flag, id, json, name, text, time, url } from "./fields.js";

const voteRequestFields = {
  contractId: id,
  templateId: text,
  trackingCid: id,
  status: name,
  requester: id,
  requesterName: name,
  requesterImg: url,
  createdAt: time,
  voteBefore: time,
  targetEffectiveAt: decisionDate,
  yesCount: count,
  noCount: count,
  /** Number of super validators that have not voted yet. The ledger has no abstentions. */
  abstainCount: count,
  totalWeightYes: decimal,
  totalWeightNo: decimal,
  totalWeightAbstain: decimal,
};

export const voteRequestListItem = z.object({ ...voteRequestFields, title: name });

export const voteRequestDetail = z.object({
  ...voteRequestFields,
  createdEventBlob: text,
  dso: text,
  reasonUrl: text,
  reasonBody: text,
  actionConfig: json,
  actionProvider: text,
  rawPayload: json,
});

export const vote = z.object({
  company: name,
  identifier: id,
  accept: flag,
  trackingCid: id,
  title: name,
  reasonUrl: text,
  reason: text,
  voteBefore: time,
  accountName: name,
  accountImg: url,
});

export type VoteRequestListItem = z.infer<typeof voteRequestListItem>;
export type VoteRequestDetail = z.infer<typeof voteRequestDetail>;
export type Vote = z.infer<typeof vote>;
