import { ExplorerError } from "./errors.js";
import type { Body, Query } from "./http.js";
import { type Answer, type EndpointName, schemas } from "./schema.js";

/** ASC puts the lowest element first. */
export type Order = "ASC" | "DESC";

/** A page of a list: `page` 0 to 50, `size` 1 to 100 (explorer-api.md). */
interface PageQuery {
  readonly page: number;
  readonly size: number;
}

interface SortedQuery extends PageQuery {
  readonly orderBy?: Order | undefined;
}

/** Each endpoint's parameters, where it has any. */
export interface Parameters {
  validators: SortedQuery & { readonly status?: "ALL" | "ACTIVE" | "INACTIVE" | undefined };
  newValidators: { readonly size: number };
  validator: { readonly validatorId: string };
  validatorExists: { readonly validatorId: string };
  token: { readonly contractId: string };
  parties: SortedQuery & { readonly sortBy?: "LAST_ACTIVITY_AT" | "FIRST_SEEN_AT" | undefined };
  topParties: SortedQuery;
  party: { readonly partyId: string };
  partyTypes: { readonly partyId: string };
  transfers: SortedQuery;
  rewards: { readonly partyId: string } & PageQuery;
  voteRequests: PageQuery;
  votes: PageQuery;
  voteRequest: { readonly id: string };
  dashboard: Record<never, never>;
  contracts: SortedQuery;
  contract: { readonly contractId: string };
  events: SortedQuery;
  event: { readonly eventId: string };
  updates: SortedQuery;
  updateDetails: { readonly updateId: string };
  price: Record<never, never>;
}

const id = encodeURIComponent;

/** Each endpoint's path, and the query that goes with its parameters. */
const endpoints: { readonly [Name in EndpointName]: (p: Parameters[Name]) => readonly [string, Query?] } = {
  validators: (p) => ["validators", { sortBy: "LAST_ACTIVE", orderBy: "DESC", status: "ALL", ...p }],
  newValidators: (p) => ["validators/new", { ...p }],
  validator: (p) => [`validators/${id(p.validatorId)}`],
  validatorExists: (p) => [`validators/${id(p.validatorId)}/exist`],
  token: (p) => [`tokens/${id(p.contractId)}`],
  parties: (p) => ["parties", { ...p }],
  topParties: (p) => ["parties/top", { sortBy: "BALANCE", ...p }],
  party: (p) => [`parties/${id(p.partyId)}`],
  partyTypes: (p) => [`parties/${id(p.partyId)}/types`],
  transfers: (p) => ["transfers", { sortBy: "CREATED_AT", ...p }],
  rewards: ({ partyId, ...page }) => [`rewards/${id(partyId)}`, page],
  voteRequests: (p) => ["governance/vote-requests", { ...p }],
  votes: (p) => ["governance/vote-requests/votes", { ...p }],
  voteRequest: (p) => [`governance/vote-requests/${id(p.id)}/details`],
  dashboard: () => ["dashboard"],
  contracts: (p) => ["contracts", { sortBy: "AGE", ...p }],
  contract: (p) => [`contracts/${id(p.contractId)}`],
  events: (p) => ["events", { sortBy: "AGE", ...p }],
  event: (p) => [`events/${id(p.eventId)}`],
  updates: (p) => ["updates", { sortBy: "AGE", ...p }],
  updateDetails: (p) => [`updates/${id(p.updateId)}/raw-details`],
  price: () => ["market/get-price"],
};

/** An endpoint's path with its query, without the base address: what identifies an answer in the cache. */
export function addressOf<Name extends EndpointName>(name: Name, parameters: Parameters[Name]): string {
  const [path, query = {}] = endpoints[name](parameters);
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined);
  return pairs.length === 0 ? path : `${path}?${pairs.map(([key, value]) => `${key}=${value}`).join("&")}`;
}

/** An answer, and the size of its body in bytes. */
export interface Fetched<Name extends EndpointName> {
  readonly data: Answer<Name>;
  readonly bytes: number;
}

/** How a client's requests are sent. */
export type Request = (path: string, query: Query) => Promise<Body>;

/** One function per endpoint; each throws ExplorerError. */
export type ExplorerClient = {
  readonly [Name in EndpointName]: (
    parameters: Parameters[Name],
    request?: Request,
  ) => Promise<Fetched<Name>>;
};

/** Reads an endpoint's answer from a JSON body. @throws {ExplorerError} "unreadable" for another shape */
export function parseAnswer<Name extends EndpointName>(name: Name, json: unknown): Answer<Name> {
  const result = schemas[name].safeParse(json);
  if (!result.success) throw new ExplorerError("unreadable", `The answer of "${name}" has another shape`);
  // TypeScript does not see that schemas[name] is the schema of Name.
  return result.data as Answer<Name>;
}

/** The explorer's 22 endpoints over a way to send a request, which a call may replace by its own. */
export function createClient(send: Request): ExplorerClient {
  const call =
    <Name extends EndpointName>(name: Name) =>
    async (parameters: Parameters[Name], request = send): Promise<Fetched<Name>> => {
      const [path, query = {}] = endpoints[name](parameters);
      const { json, bytes } = await request(path, query);
      return { data: parseAnswer(name, json), bytes };
    };
  return {
    validators: call("validators"),
    newValidators: call("newValidators"),
    validator: call("validator"),
    validatorExists: call("validatorExists"),
    token: call("token"),
    parties: call("parties"),
    topParties: call("topParties"),
    party: call("party"),
    partyTypes: call("partyTypes"),
    transfers: call("transfers"),
    rewards: call("rewards"),
    voteRequests: call("voteRequests"),
    votes: call("votes"),
    voteRequest: call("voteRequest"),
    dashboard: call("dashboard"),
    contracts: call("contracts"),
    contract: call("contract"),
    events: call("events"),
    event: call("event"),
    updates: call("updates"),
    updateDetails: call("updateDetails"),
    price: call("price"),
  };
}
