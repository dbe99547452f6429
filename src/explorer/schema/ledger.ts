import * as z from "zod";
import { toCount } from "../values.js";
import { count, decimal, field, flag, id, json, name, partyRefs, text, time, url } from "./fields.js";

export const token = z
  .object({
    id: text,
    name: name,
    symbol: name,
    operator: id,
    provider: id,
    registrar: id,
    operators: partyRefs,
    providers: partyRefs,
    // The API's spelling; the usual one is tolerated.
    registars: z.unknown().optional(),
    registrars: z.unknown().optional(),
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
  })
  .transform(({ registars, registrars, ...rest }) => ({
    ...rest,
    registrars: partyRefs.parse(registars ?? registrars),
  }));

export const transfer = z.object({
  eventId: id,
  transferType: name,
  senders: partyRefs,
  receivers: partyRefs,
  amount: decimal,
  fee: decimal,
  amuletPrice: decimal,
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

/** `signatories`: a count in the list, parties in the detail, text in events. */
export const contractListItem = z.object({
  contractId: id,
  templateId: name,
  templateName: name,
  signatories: field((value) => (Array.isArray(value) ? value.length : toCount(value))),
  eventData: json,
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
  args: json,
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
  eventData: json,
  createArguments: json,
  createdAt: time,
  signatories: json,
  observers: json,
  choice: name,
  choiceArgument: json,
  childEventIds: json,
  exerciseResult: json,
  consuming: flag,
  actingParties: json,
  interfaceId: text,
});

/** `id` stays text: it passes 2^53. */
export const eventListItem = z.object({ id: decimal, ...eventDetail.shape });

export const updateListItem = z.object({
  updateId: id,
  migrationId: count,
  workflowId: text,
  recordTime: time,
  synchronizerId: text,
  effectiveAt: time,
  rootEventIds: json,
  eventsCount: count,
  synchronizerName: text,
  synchronizerImg: url,
});

/** Whatever the ledger holds of an update, free-form. */
export const updateDetails = z.record(z.string(), z.unknown());

export type Reward = z.infer<typeof reward>;
export type Transfer = z.infer<typeof transfer>;
export type EventDetail = z.infer<typeof eventDetail>;
