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

/**
 * By what the data is: a price ages in a minute, an event never changes. Whoever wants it newer presses Refresh
 * (REFRESH_MS), and every answer says how old it is.
 */
export const FRESHNESS: Readonly<Record<EndpointName, Freshness>> = {
  price: { fresh: MINUTE, stale: 5 * MINUTE },
  dashboard: { fresh: 2 * MINUTE, stale: 10 * MINUTE },
  // The watch reads it every minute: people's readings cost nothing.
  voteRequests: { fresh: 75 * SECOND, stale: 5 * MINUTE },
  voteRequest: { fresh: MINUTE, stale: 5 * MINUTE },
  votes: { fresh: 2 * MINUTE, stale: 10 * MINUTE },
  // A moderator asks whether a validator is down.
  validator: { fresh: 30 * SECOND, stale: 2 * MINUTE },
  validatorExists: { fresh: MINUTE, stale: 5 * MINUTE },
  validators: { fresh: 2 * MINUTE, stale: 10 * MINUTE },
  newValidators: { fresh: 5 * MINUTE, stale: 30 * MINUTE },
  parties: { fresh: 2 * MINUTE, stale: 10 * MINUTE },
  topParties: { fresh: 10 * MINUTE, stale: HOUR },
  party: { fresh: 2 * MINUTE, stale: 10 * MINUTE },
  partyTypes: { fresh: HOUR, stale: DAY },
  rewards: { fresh: 10 * MINUTE, stale: HOUR },
  transfers: { fresh: 2 * MINUTE, stale: 10 * MINUTE },
  contracts: { fresh: 2 * MINUTE, stale: 10 * MINUTE },
  events: { fresh: 2 * MINUTE, stale: 10 * MINUTE },
  updates: { fresh: 2 * MINUTE, stale: 10 * MINUTE },
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
