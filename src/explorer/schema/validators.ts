import * as z from "zod";
import { toDecimal, toRecord } from "../values.js";
import { decimal, field, flag, id, name, readRows, text, time, url } from "./fields.js";
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
  /** Bytes of extra traffic. */
  trafficStatus: field((value) => {
    const traffic = toRecord(value);
    const actual = toRecord(traffic?.actual);
    const target = toRecord(traffic?.target);
    return {
      actual: {
        total_consumed: toDecimal(actual?.total_consumed),
        total_limit: toDecimal(actual?.total_limit),
      },
      target: { total_purchased: toDecimal(target?.total_purchased) },
      availableTraffic: toDecimal(traffic?.availableTraffic),
    };
  }),
});

/** The newest validators, an array and no page; one row a validator. */
export const newValidators = z
  .array(z.unknown())
  .transform((rows) => distinct(readRows(validatorSummary, rows), (row) => row.validator));

/** Anything but a literal true or false is an error here, not a "no". */
export const validatorExists = z.boolean();

export type ValidatorSummary = z.infer<typeof validatorSummary>;
export type ValidatorDetail = z.infer<typeof validatorDetail>;
