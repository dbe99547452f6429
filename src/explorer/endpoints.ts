import type * as z from "zod";
import type { Query } from "./http.js";
import { documented } from "./schema/fields.js";
import {
  type Vote,
  type VoteRequestListItem,
  vote,
  voteRequestDetail,
  voteRequestListItem,
} from "./schema/governance.js";
import {
  contractDetail,
  contractListItem,
  eventDetail,
  eventListItem,
  reward,
  token,
  transfer,
  updateDetails,
  updateListItem,
} from "./schema/ledger.js";
import { dashboard, marketPrice } from "./schema/network.js";
import { documentedPage, type Newer, type Page, pageOf } from "./schema/page.js";
import { partyDetail, partyListItem, partyTypes } from "./schema/parties.js";
import { newValidators, validatorDetail, validatorExists, validatorSummary } from "./schema/validators.js";

/** ASC puts the lowest element first. */
export type ListOrder = "ASC" | "DESC";

/** A page of a list: `page` 0 to 50, `size` 1 to 100 (docs/explorer-api.md). */
export interface PageQuery {
  readonly page: number;
  readonly size: number;
}

interface SortedQuery extends PageQuery {
  readonly orderBy?: ListOrder | undefined;
}

/** A path below /v1 and its query. */
type RequestTarget = readonly [path: string, query?: Query];

const id = encodeURIComponent;

/**
 * Returns a number that grows with each version of a request. It is ordered by the number of votes, then by the creation time.
 * Among equals, the first version (without a tracking id) is the oldest.
 */
function versionRank({ yesCount, noCount, createdAt, trackingCid }: VoteRequestListItem): number {
  const castCount = (yesCount ?? 0) + (noCount ?? 0);
  return castCount * 1e13 + (createdAt ?? 0) + (trackingCid === null ? 0 : 0.5);
}

/** Defines an endpoint that does not return pages. */
const oneThing = <P, Schema extends z.ZodType>(target: (parameters: P) => RequestTarget, schema: Schema) => ({
  target,
  schema,
});

interface ListOptions<Row> {
  /** Returns the key that identifies a row and does not change with it; null if the row has none. */
  readonly key: (row: Row) => string | null;
  /** Selects between two rows with the same key. By default, the first one is kept. */
  readonly newer?: Newer<Row>;
  /** False if rows of a page with the same key are kept. By default, only one of them is. */
  readonly distinct?: boolean;
  /** True if equal rows of a page are different things. */
  readonly hasTwins?: boolean;
}

/** Defines an endpoint that returns a page of rows. */
const list = <P extends PageQuery, Row extends z.ZodObject>(
  target: (parameters: P) => RequestTarget,
  row: Row,
  { key, newer, distinct = true, hasTwins = false }: ListOptions<z.infer<Row>>,
) => ({
  target,
  schema: documented(pageOf(row, distinct ? key : undefined, newer), { fields: documentedPage(row) }),
  key,
  newer,
  hasTwins,
});

/** All endpoints: path and query, schema of the answer, and for lists the key that identifies a row. */
export const endpoints = {
  validators: list(
    (p: SortedQuery & { readonly status?: "ALL" | "ACTIVE" | "INACTIVE" | undefined }) => [
      "validators",
      { sortBy: "LAST_ACTIVE", orderBy: "DESC", status: "ALL", ...p },
    ],
    validatorSummary,
    // The contract id of a validator's license changes with each report, so it cannot be the key.
    { key: (row) => row.validator },
  ),
  newValidators: oneThing((p: { readonly size: number }) => ["validators/new", { ...p }], newValidators),
  validator: oneThing(
    (p: { readonly validatorId: string }) => [`validators/${id(p.validatorId)}`],
    validatorDetail,
  ),
  validatorExists: oneThing(
    (p: { readonly validatorId: string }) => [`validators/${id(p.validatorId)}/exist`],
    validatorExists,
  ),
  token: oneThing((p: { readonly contractId: string }) => [`tokens/${id(p.contractId)}`], token),
  parties: list(
    (p: SortedQuery & { readonly sortBy?: "LAST_ACTIVITY_AT" | "FIRST_SEEN_AT" | undefined }) => [
      "parties",
      { ...p },
    ],
    partyListItem,
    { key: (row) => row.partyAddress },
  ),
  topParties: list((p: SortedQuery) => ["parties/top", { sortBy: "BALANCE", ...p }], partyListItem, {
    key: (row) => row.partyAddress,
  }),
  party: oneThing((p: { readonly partyId: string }) => [`parties/${id(p.partyId)}`], partyDetail),
  partyTypes: oneThing((p: { readonly partyId: string }) => [`parties/${id(p.partyId)}/types`], partyTypes),
  transfers: list((p: SortedQuery) => ["transfers", { sortBy: "CREATED_AT", ...p }], transfer, {
    key: (row) => row.eventId,
  }),
  rewards: list(
    ({ partyId, ...page }: { readonly partyId: string } & PageQuery) => [`rewards/${id(partyId)}`, page],
    reward,
    // One event may have several rewards, at the same time.
    { key: (row) => JSON.stringify(row), distinct: false, hasTwins: true },
  ),
  voteRequests: list((p: PageQuery) => ["governance/vote-requests", { ...p }], voteRequestListItem, {
    key: (row) => row.trackingCid ?? row.contractId,
    // Each vote recreates the request, and votes cannot be withdrawn. More votes therefore mean a newer row.
    newer: (row, than) => versionRank(row) > versionRank(than),
  }),
  votes: list((p: PageQuery) => ["governance/vote-requests/votes", { ...p }], vote, {
    key: (row: Vote) => {
      const voter = row.identifier ?? row.accountName ?? row.company;
      return row.trackingCid === null || voter === null ? null : `${row.trackingCid} ${voter}`;
    },
    distinct: false,
  }),
  voteRequest: oneThing(
    (p: { readonly id: string }) => [`governance/vote-requests/${id(p.id)}/details`],
    voteRequestDetail,
  ),
  dashboard: oneThing((_: Record<never, never>) => ["dashboard"], dashboard),
  contracts: list((p: SortedQuery) => ["contracts", { sortBy: "AGE", ...p }], contractListItem, {
    key: (row) => row.contractId,
  }),
  contract: oneThing(
    (p: { readonly contractId: string }) => [`contracts/${id(p.contractId)}`],
    contractDetail,
  ),
  events: list((p: SortedQuery) => ["events", { sortBy: "AGE", ...p }], eventListItem, {
    key: (row) => row.eventId,
  }),
  event: oneThing((p: { readonly eventId: string }) => [`events/${id(p.eventId)}`], eventDetail),
  updates: list((p: SortedQuery) => ["updates", { sortBy: "AGE", ...p }], updateListItem, {
    key: (row) => row.updateId,
  }),
  updateDetails: oneThing(
    (p: { readonly updateId: string }) => [`updates/${id(p.updateId)}/raw-details`],
    updateDetails,
  ),
  price: oneThing((_: Record<never, never>) => ["market/get-price"], marketPrice),
} as const;

type Endpoints = typeof endpoints;

/** The name of an endpoint. */
export type EndpointName = keyof Endpoints;
/** Parameters of an endpoint. */
export type Parameters<Name extends EndpointName> = Endpoints[Name]["target"] extends (
  parameters: infer P extends object,
) => RequestTarget
  ? P
  : never;
/** Parsed answer of an endpoint. */
export type Answer<Name extends EndpointName> = z.infer<Endpoints[Name]["schema"]>;

/** Names of the endpoints that return pages. */
export type ListName = {
  [Name in EndpointName]: Endpoints[Name] extends { readonly key: unknown } ? Name : never;
}[EndpointName];
/** A row of a list. */
export type ListRow<Name extends ListName> = Answer<Name> extends Page<infer R> ? R : never;

/** Returns the function that reads a row's key. */
export const keyOf = <Name extends ListName>(name: Name): ((row: ListRow<Name>) => string | null) =>
  // TypeScript cannot infer that a list's key function takes the list's own rows.
  endpoints[name].key as (row: ListRow<Name>) => string | null;

/** Returns the function that selects between two rows with the same key; `undefined` keeps the first. */
export const newerIn = <Name extends ListName>(name: Name): Newer<ListRow<Name>> | undefined =>
  endpoints[name].newer as Newer<ListRow<Name>> | undefined;

/** True if equal rows of a page of the list are different things. */
export const hasTwins = (name: ListName): boolean => endpoints[name].hasTwins;

/** Returns the path and query of a request. */
export const targetOf = <Name extends EndpointName>(
  name: Name,
  parameters: Parameters<Name>,
): RequestTarget => (endpoints[name].target as (parameters: Parameters<Name>) => RequestTarget)(parameters);

/** Returns an endpoint's path and query without the base URL. It identifies the answer in the cache. */
export function addressOf<Name extends EndpointName>(name: Name, parameters: Parameters<Name>): string {
  const [path, query = {}] = targetOf(name, parameters);
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined);
  return pairs.length === 0 ? path : `${path}?${pairs.map(([key, value]) => `${key}=${value}`).join("&")}`;
}

/** True if the parameters contain an id, which may not exist. Without an id, there is always an answer. */
export const takesId = (parameters: object): boolean =>
  Object.keys(parameters).some((name) => /id$/i.test(name));

/** Names of all endpoints. */
export const endpointNames = Object.keys(endpoints) as EndpointName[];
