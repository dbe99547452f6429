import * as z from "zod";
import { amount, decimal, documented, flag, id, inner, name, readRows, text, time, url } from "./fields.js";
import { distinct } from "./page.js";

export const validatorSummary = z.object({
  validator: id,
  contractId: id,
  templateId: text,
  dso: text,
  sponsor: id,
  sponsorName: name,
  sponsorImg: url,
  lastActiveAt: time,
  lastUpdatedAt: time,
  version: name,
  contactPoint: name,
  active: flag,
  validatorName: name,
  validatorImg: url,
  totalRewards: decimal,
});

/** Bytes of extra traffic. */
const traffic = z.object({
  actual: inner(z.object({ total_consumed: amount, total_limit: amount })),
  target: inner(z.object({ total_purchased: amount })),
  availableTraffic: amount,
});

export const validatorDetail = z.object({
  ...validatorSummary.omit({ totalRewards: true }).shape,
  createdAt: time,
  isVerified: flag,
  validatorFee: decimal,
  terms: text,
  additionalTerms: text,
  website: text,
  discordContact: text,
  discord: text,
  twitter: text,
  email: text,
  github: text,
  telegram: text,
  description: text,
  isSv: flag,
  trafficStatus: inner(traffic),
});

/** The newest validators. The answer is an array instead of a page, and each validator is kept once. */
export const newValidators = documented(
  z
    .array(z.unknown())
    .transform((rows) => distinct(readRows(validatorSummary, rows), (row) => row.validator)),
  { rows: validatorSummary },
);

/** Anything other than true or false is an error here, and does not mean "no". */
export const validatorExists = documented(z.boolean(), "boolean");

export type ValidatorSummary = z.infer<typeof validatorSummary>;
export type ValidatorDetail = z.infer<typeof validatorDetail>;
