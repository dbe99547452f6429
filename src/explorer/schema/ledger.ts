import * as z from "zod";
import { toCount, toDecimal } from "../values.js";
import {
  count,
  decimal,
  documented,
  field,
  flag,
  id,
  json,
  jsonText,
  name,
  partyRefs,
  text,
  time,
  undocumented,
  url,
} from "./fields.js";
import { coinPrice } from "./network.js";

const tokenFields = z.object({
  id: text,
  name: name,
  symbol: name,
  operator: id,
  provider: id,
  registrar: id,
  operators: partyRefs,
  providers: partyRefs,
  // The API's spelling. The correct one is accepted too.
  registars: partyRefs,
  registrars: undocumented((value) => value ?? null),
  contractId: id,
  templateId: name,
  domainId: text,
  createdEventBlob: text,
  tokenStandard: name,
  createdAt: time,
  imageUrl: url,
  additionalIdentifiersJson: json,
  issuerRequirementsJson: json,
  holderRequirementsJson: json,
});

export const token = documented(
  tokenFields.transform(({ registars, registrars, ...rest }) => {
    const rightlySpelled = partyRefs.parse(registrars);
    return { ...rest, registrars: rightlySpelled.length > 0 ? rightlySpelled : registars };
  }),
  { fields: tokenFields },
);

export const transfer = z.object({
  eventId: id,
  transferType: name,
  senders: partyRefs,
  receivers: partyRefs,
  amount: decimal,
  fee: decimal,
  amuletPrice: coinPrice,
  createdAt: time,
});

export const reward = z.object({
  eventId: id,
  partyId: id,
  inputAppRewardAmount: decimal,
  inputValidatorRewardAmount: decimal,
  inputSvRewardAmount: decimal,
  createdAt: time,
});

/** `signatories` is a count in the list, an array of parties in the detail, and text in events. */
export const contractListItem = z.object({
  contractId: id,
  templateId: name,
  templateName: name,
  signatories: field((value) => (Array.isArray(value) ? value.length : toCount(value)), "number"),
  eventData: jsonText,
  createdAt: time,
});

export const contractDetail = z.object({
  contractId: id,
  templateId: name,
  signatories: partyRefs,
  creatingEvent: id,
  creatingUpdate: id,
  createdAt: time,
  packageName: name,
  args: jsonText,
});

export const eventDetail = z.object({
  eventId: id,
  transactionId: id,
  eventType: name,
  contractId: id,
  templateId: name,
  packageName: name,
  templateName: name,
  templateHash: text,
  eventData: jsonText,
  createArguments: jsonText,
  createdAt: time,
  signatories: jsonText,
  observers: jsonText,
  choice: name,
  choiceArgument: jsonText,
  childEventIds: jsonText,
  exerciseResult: jsonText,
  consuming: flag,
  actingParties: jsonText,
  interfaceId: text,
});

/** `id` stays text because it can exceed 2^53. */
export const eventListItem = z.object({ id: field(toDecimal, "integer"), ...eventDetail.shape });

export const updateListItem = z.object({
  updateId: id,
  migrationId: count,
  workflowId: text,
  recordTime: time,
  synchronizerId: text,
  effectiveAt: time,
  rootEventIds: jsonText,
  eventsCount: count,
  synchronizerName: text,
  synchronizerImg: url,
});

/** The ledger's data of an update, as free-form JSON. */
export const updateDetails = documented(z.record(z.string(), z.unknown()), "object");

export type Reward = z.infer<typeof reward>;
export type Transfer = z.infer<typeof transfer>;
export type EventDetail = z.infer<typeof eventDetail>;
