import * as z from "zod";
import { count, decimal, flag, id, json, text, time, url } from "./fields.js";

const voteRequestFields = {
  contractId: id,
  templateId: text,
  trackingCid: id,
  status: text,
  requester: text,
  requesterName: text,
  requesterImg: url,
  createdAt: time,
  voteBefore: time,
  targetEffectiveAt: time,
  yesCount: count,
  noCount: count,
  /** Those who have not voted yet: the ledger knows no abstention. */
  abstainCount: count,
  totalWeightYes: decimal,
  totalWeightNo: decimal,
  totalWeightAbstain: decimal,
};

export const voteRequestListItem = z.object({ ...voteRequestFields, title: text });

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
  company: text,
  identifier: text,
  accept: flag,
  trackingCid: id,
  title: text,
  reasonUrl: text,
  reason: text,
  voteBefore: time,
  accountName: text,
  accountImg: url,
});

export type VoteRequestListItem = z.infer<typeof voteRequestListItem>;
export type VoteRequestDetail = z.infer<typeof voteRequestDetail>;
export type Vote = z.infer<typeof vote>;
