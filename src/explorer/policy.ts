import type { EndpointName } from "./schema.js";

/** How long an answer is good for, in ms. */
export interface Freshness {
  /** Answered as it is. */
  readonly fresh: number;
  /** Answered at once, and renewed behind; past this, a person waits for a new one. */
  readonly stale: number;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** By what the data is: a price ages in seconds, an event never changes. */
export const FRESHNESS: Readonly<Record<EndpointName, Freshness>> = {
  price: { fresh: 20 * SECOND, stale: 2 * MINUTE },
  dashboard: { fresh: MINUTE, stale: 10 * MINUTE },
  voteRequests: { fresh: 30 * SECOND, stale: 5 * MINUTE },
  voteRequest: { fresh: 30 * SECOND, stale: 5 * MINUTE },
  votes: { fresh: MINUTE, stale: 10 * MINUTE },
  // A moderator asks whether a validator is down.
  validator: { fresh: 30 * SECOND, stale: 2 * MINUTE },
  validatorExists: { fresh: MINUTE, stale: 5 * MINUTE },
  validators: { fresh: MINUTE, stale: 10 * MINUTE },
  newValidators: { fresh: 2 * MINUTE, stale: 20 * MINUTE },
  parties: { fresh: MINUTE, stale: 10 * MINUTE },
  topParties: { fresh: 5 * MINUTE, stale: 30 * MINUTE },
  party: { fresh: MINUTE, stale: 10 * MINUTE },
  partyTypes: { fresh: HOUR, stale: DAY },
  rewards: { fresh: 5 * MINUTE, stale: 30 * MINUTE },
  transfers: { fresh: 30 * SECOND, stale: 5 * MINUTE },
  contracts: { fresh: 30 * SECOND, stale: 5 * MINUTE },
  events: { fresh: 30 * SECOND, stale: 5 * MINUTE },
  updates: { fresh: 30 * SECOND, stale: 5 * MINUTE },
  token: { fresh: HOUR, stale: DAY },
  contract: { fresh: HOUR, stale: DAY },
  event: { fresh: DAY, stale: 7 * DAY },
  updateDetails: { fresh: DAY, stale: 7 * DAY },
};

/** How long the last good answer is kept for when the explorer fails, in ms. */
export const KEPT_MS = DAY;
/** How long a "no such thing" is believed, in ms. */
export const MISSING_MS = 30 * SECOND;
/** A refresh asks upstream only for what is older than this, in ms. */
export const REFRESH_MS = 10 * SECOND;
/** The longest that a person waits for the explorer, in ms. */
export const PATIENCE_MS = 10 * SECOND;
/** The requests that one person may cause in a minute. */
export const REQUESTS_PER_PERSON = 20;
