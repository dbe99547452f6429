import { DAY, HOUR, MINUTE, SECOND } from "../util/units.js";
import type { EndpointName, Parameters } from "./endpoints.js";

/** Freshness of an answer, in ms. */
export interface Freshness {
  /** Maximum age at which the cached answer is returned without a request. */
  readonly fresh: number;
  /** Maximum age for stale-while-revalidate. If the cached answer is older, a person waits for a new one. */
  readonly stale: number;
}

/**
 * Freshness by kind of data. A price ages in a minute, an event never changes, and data that the ledger updates once a round is
 * fresh for part of its ten minutes. People can press Refresh (REFRESH_MS), and every answer shows its age.
 */
const FRESHNESS: Readonly<Record<EndpointName, Freshness>> = {
  price: { fresh: MINUTE, stale: 5 * MINUTE },
  dashboard: { fresh: 5 * MINUTE, stale: 15 * MINUTE },
  // The watch reads the first page every minute, so that people's readings of it are cache hits.
  voteRequests: { fresh: 75 * SECOND, stale: 5 * MINUTE },
  // The row in the list shows changes sooner (findVoteRequest).
  voteRequest: { fresh: 5 * MINUTE, stale: 10 * MINUTE },
  // The tally is at most about a minute old. Next to it, an older list of votes would look incomplete.
  votes: { fresh: MINUTE, stale: MINUTE },
  // Moderators ask if a validator is down, so older answers are never returned at once.
  validator: { fresh: 2 * MINUTE, stale: 2 * MINUTE },
  validatorExists: { fresh: MINUTE, stale: 5 * MINUTE },
  validators: { fresh: 2 * MINUTE, stale: 10 * MINUTE },
  newValidators: { fresh: 10 * MINUTE, stale: 30 * MINUTE },
  parties: { fresh: 5 * MINUTE, stale: 10 * MINUTE },
  topParties: { fresh: 10 * MINUTE, stale: HOUR },
  party: { fresh: 10 * MINUTE, stale: 10 * MINUTE },
  partyTypes: { fresh: 6 * HOUR, stale: DAY },
  rewards: { fresh: 10 * MINUTE, stale: HOUR },
  // New rows arrive every second. A list of the latest is outdated before it is read, no matter how often it is fetched.
  transfers: { fresh: 5 * MINUTE, stale: 10 * MINUTE },
  contracts: { fresh: 5 * MINUTE, stale: 10 * MINUTE },
  events: { fresh: 5 * MINUTE, stale: 10 * MINUTE },
  updates: { fresh: 5 * MINUTE, stale: 10 * MINUTE },
  token: { fresh: HOUR, stale: DAY },
  contract: { fresh: HOUR, stale: DAY },
  event: { fresh: DAY, stale: 7 * DAY },
  updateDetails: { fresh: DAY, stale: 7 * DAY },
};

/**
 * Freshness of the later pages of vote requests, which contain closed requests. The watch reads all of them every ten minutes.
 */
const LATER_PAGES: Freshness = { fresh: 12 * MINUTE, stale: 20 * MINUTE };

/** Returns the freshness of an answer. */
export const freshnessOf = <Name extends EndpointName>(
  name: Name,
  parameters: Parameters<Name>,
): Freshness =>
  name === "voteRequests" && "page" in parameters && Number(parameters.page) > 0
    ? LATER_PAGES
    : FRESHNESS[name];

/** Time for which the last good answer is kept while the explorer fails, in ms. */
export const KEPT_MS = DAY;
/** Time for which a "missing" answer is cached, in ms. */
export const MISSING_MS = 30 * SECOND;
/** Refresh fetches only answers that are older than this, in ms. */
export const REFRESH_MS = 10 * SECOND;
/**
 * Maximum time that a person waits for a new answer in place of a stale one, in ms. Two commands in a row should not show two
 * different networks.
 */
export const STALE_WAIT_MS = SECOND;
/** Maximum time that a person waits for the explorer, in ms. */
export const PATIENCE_MS = 10 * SECOND;
/** Maximum number of requests per person and minute. */
export const REQUESTS_PER_PERSON = 20;
