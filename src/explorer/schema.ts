import * as z from "zod";
import { toCount, toDecimal, toFlag, toId, toJson, toRecord, toText, toTime, toUrl } from "./values.js";

/**
 * What each endpoint answers (explorer-api.md), read leniently: every field may be missing, null or of another type,
 * and is then null here. The readers in values.ts are idempotent, so a cached answer passes through its schema again.
 */

const field = <T>(read: (value: unknown) => T) => z.unknown().optional().transform(read);

const text = field(toText);
const id = field(toId);
const time = field(toTime);
const count = field(toCount);
const decimal = field(toDecimal);
const flag = field(toFlag);
const url = field(toUrl);
const json = field(toJson);

/** The rows of an array that parse, one by one, so that one bad row costs one row. */
function readRows<T extends z.ZodType>(item: T, values: readonly unknown[]): z.infer<T>[] {
  const rows: z.infer<T>[] = [];
  for (const value of values) {
    const row = item.safeParse(value);
    if (row.success) rows.push(row.data);
  }
  return rows;
}

const rowsOf = <T extends z.ZodType>(item: T) =>
  field((value) => (Array.isArray(value) ? readRows(item, value) : []));

const partyRef = z.object({ partyId: id, accountName: text, imageUrl: url });
const partyRefs = rowsOf(partyRef);

/** A party as another resource refers to it. */
export type PartyRef = z.infer<typeof partyRef>;

/** A page of a list, as read: the rows that parsed, and what the explorer says of the whole. */
export interface Page<T> {
  readonly content: readonly T[];
  /** Rows in the whole list, as the explorer counts them. */
  readonly totalElements: number | null;
  readonly last: boolean | null;
  /** Rows as they were sent, before those that could not be read and those that came twice were dropped. */
  readonly sent: number;
  /** Rows that could not be read. Above zero, the page is not the whole truth. */
  readonly unreadable: number;
}

const pageOf = <T extends z.ZodType>(item: T, keyOf?: (row: z.infer<T>) => string | null) =>
  z
    .union([
      z.array(z.unknown()).transform((content) => ({ content })),
      // An empty page may come without its array.
      z.object({ content: z.null(), empty: z.literal(true) }).transform(() => ({
        content: [],
        last: true,
        sent: 0,
        unreadable: 0,
        totalElements: 0,
        totalCount: 0,
      })),
      z.object({
        content: z.array(z.unknown()),
        totalElements: z.unknown().optional(),
        totalCount: z.unknown().optional(),
        last: flag,
        // Only a page from the cache holds these two.
        sent: count,
        unreadable: count,
      }),
    ])
    .transform((page): Page<z.infer<T>> => {
      const read = readRows(item, page.content);
      const wrapper = "last" in page ? page : null;
      return {
        content: keyOf ? distinct(read, keyOf) : read,
        // The two may differ.
        totalElements: larger(toCount(wrapper?.totalElements), toCount(wrapper?.totalCount)),
        last: wrapper?.last ?? null,
        sent: wrapper?.sent ?? page.content.length,
        unreadable: (wrapper?.unreadable ?? 0) + page.content.length - read.length,
      };
    });

const larger = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.max(a, b);

/** The first of the rows with each key; rows without one stay. */
export function distinct<T>(rows: readonly T[], keyOf: (row: T) => string | null): T[] {
  const seen = new Set<string>();
  return rows.filter((row) => {
    const key = keyOf(row);
    if (key === null) return true;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

const validatorSummary = z.object({
  validator: id,
  contractId: id,
  templateId: text,
  dso: text,
  sponsor: id,
  sponsorName: text,
  sponsorImg: url,
  lastActiveAt: time,
  lastUpdatedAt: time,
  version: text,
  contactPoint: text,
  active: flag,
  validatorName: text,
  validatorImg: url,
  totalRewards: decimal,
});

const validatorDetail = z.object({
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

/** The validators list, one row a validator: its licence's contract id changes with each report. */
const validatorPage = pageOf(validatorSummary, (row) => row.validator);
const newValidators = z.array(z.unknown()).transform((rows) => {
  return distinct(readRows(validatorSummary, rows), (row) => row.validator);
});

const token = z
  .object({
    id: text,
    name: text,
    symbol: text,
    operator: id,
    provider: id,
    registrar: id,
    operators: partyRefs,
    providers: partyRefs,
    // The API's spelling; the usual one is tolerated.
    registars: z.unknown().optional(),
    registrars: z.unknown().optional(),
    contractId: id,
    templateId: text,
    domainId: text,
    createdEventBlob: text,
    tokenStandard: text,
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

const partyDetail = z.object({
  partyId: id,
  accountName: text,
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

const partyListItem = z.object({
  partyAddress: id,
  partyName: text,
  partyImg: url,
  balance: decimal,
  firstSeen: time,
  lastSeen: time,
  totalRewards: decimal,
});
const partyPage = pageOf(partyListItem, (row) => row.partyAddress);

const partyTypes = z.object({ isAccount: flag, isValidator: flag, isSv: flag });

const transfer = z.object({
  eventId: id,
  transferType: text,
  senders: partyRefs,
  receivers: partyRefs,
  amount: decimal,
  fee: decimal,
  amuletPrice: decimal,
  createdAt: time,
});

const reward = z.object({
  eventId: id,
  partyId: id,
  inputAppRewardAmount: decimal,
  inputValidatorRewardAmount: decimal,
  inputSvRewardAmount: decimal,
  createdAt: time,
});

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

const voteRequestListItem = z.object({ ...voteRequestFields, title: text });
const voteRequestPage = pageOf(voteRequestListItem, (row) => row.contractId);

const voteRequestDetail = z.object({
  ...voteRequestFields,
  createdEventBlob: text,
  dso: text,
  reasonUrl: text,
  reasonBody: text,
  actionConfig: json,
  actionProvider: text,
  rawPayload: json,
});

const vote = z.object({
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

const dashboard = z.object({
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

/** `signatories`: a count in the list, parties in the detail, text in events. */
const contractListItem = z.object({
  contractId: id,
  templateId: text,
  templateName: text,
  signatories: field((value) => (Array.isArray(value) ? value.length : toCount(value))),
  eventData: json,
  createdAt: time,
});

const contractDetail = z.object({
  contractId: id,
  templateId: text,
  signatories: partyRefs,
  creatingEvent: id,
  creatingUpdate: id,
  createdAt: time,
  packageName: text,
  args: json,
});

const eventDetail = z.object({
  eventId: id,
  transactionId: id,
  eventType: text,
  contractId: id,
  templateId: text,
  packageName: text,
  templateName: text,
  templateHash: text,
  eventData: json,
  createArguments: json,
  createdAt: time,
  signatories: json,
  observers: json,
  choice: text,
  choiceArgument: json,
  childEventIds: json,
  exerciseResult: json,
  consuming: flag,
  actingParties: json,
  interfaceId: text,
});

/** `id` stays text: it passes 2^53. */
const eventListItem = z.object({ id: decimal, ...eventDetail.shape });

const updateListItem = z.object({
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

const marketPrice = z.object({
  /** USD for one CC; a zero means that there is no data, and is null here. */
  price: field((value) => {
    const price = toDecimal(value);
    return price === null || Number(price) <= 0 ? null : price;
  }),
  change24h: decimal,
  updateTimestamp: time,
});

/** The schemas by endpoint. Each takes a parsed JSON body; those of lists give a Page or an array. */
export const schemas = {
  validators: validatorPage,
  newValidators,
  validator: validatorDetail,
  // Anything but a literal true or false is an error here, not a "no".
  validatorExists: z.boolean(),
  token,
  parties: partyPage,
  topParties: partyPage,
  party: partyDetail,
  partyTypes,
  transfers: pageOf(transfer, (row) => row.eventId),
  rewards: pageOf(reward),
  voteRequests: voteRequestPage,
  votes: pageOf(vote),
  voteRequest: voteRequestDetail,
  dashboard,
  contracts: pageOf(contractListItem, (row) => row.contractId),
  contract: contractDetail,
  events: pageOf(eventListItem, (row) => row.eventId),
  event: eventDetail,
  updates: pageOf(updateListItem, (row) => row.updateId),
  updateDetails: z.record(z.string(), z.unknown()),
  price: marketPrice,
} as const satisfies Record<string, z.ZodType>;

/** The name of an endpoint. */
export type EndpointName = keyof typeof schemas;
/** What an endpoint answers, parsed. */
export type Answer<Name extends EndpointName> = z.infer<(typeof schemas)[Name]>;

export type ValidatorSummary = z.infer<typeof validatorSummary>;
export type ValidatorDetail = z.infer<typeof validatorDetail>;
export type PartyListItem = z.infer<typeof partyListItem>;
export type PartyDetail = z.infer<typeof partyDetail>;
export type VoteRequestListItem = z.infer<typeof voteRequestListItem>;
export type VoteRequestDetail = z.infer<typeof voteRequestDetail>;
export type Vote = z.infer<typeof vote>;
export type Reward = z.infer<typeof reward>;
export type Transfer = z.infer<typeof transfer>;
export type EventDetail = z.infer<typeof eventDetail>;
