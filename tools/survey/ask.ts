import { setTimeout as delay } from "node:timers/promises";
import type { ExplorerConfig } from "../../src/config.js";
import { createBudget } from "../../src/explorer/budget.js";
import {
  addressOf,
  type EndpointName,
  endpoints,
  type Parameters,
  targetOf,
} from "../../src/explorer/endpoints.js";
import { ExplorerError, type ExplorerProblem } from "../../src/explorer/errors.js";
import { createHttp } from "../../src/explorer/http.js";

/** A request and its result. */
export interface Exchange {
  readonly endpoint: EndpointName;
  /** Path below /v1 with its query. It may contain ids. */
  readonly address: string;
  /** "answered", or the problem. */
  readonly outcome: "answered" | ExplorerProblem;
  readonly status: number | undefined;
  /** Cause of a missing answer. */
  readonly reason?: string;
  readonly ms: number;
  readonly bytes: number;
  /** The answer. `undefined` if there is none. */
  readonly json?: unknown;
  /** True if it asks for something that does not exist. */
  readonly isProbe: boolean;
  /** Number of times that it was sent. */
  readonly tries: number;
}

/** True if the explorer answered. */
export const isAnswered = ({ outcome }: Exchange): boolean => outcome === "answered";

/**
 * True if the result says something about the endpoint: an answer, or a rejected request. A rate limit or a
 * failure does not.
 */
export const isTelling = ({ outcome }: Exchange): boolean =>
  outcome === "answered" || outcome === "rejected" || outcome === "missing" || outcome === "withheld";

/** Sends one request within the budget. It never throws. */
export type Ask = <Name extends EndpointName>(
  endpoint: Name,
  parameters: Parameters<Name>,
  isProbe?: boolean,
) => Promise<Exchange>;

const TRY_MS = 20_000;
/**
 * Maximum pause that is granted once if the explorer asks for it, and delay before other failed requests are
 * retried, in ms.
 */
const MAX_PAUSE_MS = 60_000;
const AGAIN_MS = 1_000;

/** Returns an endpoint's path with placeholders for ids, such as `validators/{id}`. */
export function pathOf(endpoint: EndpointName): string {
  const id = "{id}";
  const parameters = { validatorId: id, partyId: id, contractId: id, eventId: id, updateId: id, id };
  // Each endpoint picks the parameters that it needs.
  const [path] = targetOf(endpoint, parameters as unknown as Parameters<typeof endpoint>);
  return decodeURIComponent(path);
}

/** True if an endpoint returns pages of rows. */
export const isList = (endpoint: EndpointName): boolean => "key" in endpoints[endpoint];

/**
 * Creates a function that sends requests to the explorer one after another.
 * @param onSent called before each request
 */
export function createAsk(
  config: ExplorerConfig,
  onSent: () => void,
  onExchange: (exchange: Exchange) => void,
): Ask {
  const get = createHttp(config);
  const budget = createBudget(config.requestsPerMinute, () => performance.now());

  const once = async <Name extends EndpointName>(endpoint: Name, parameters: Parameters<Name>) => {
    for (let wait = await budget.take("background"); wait > 0; wait = await budget.take("background"))
      await delay(wait);
    const [path, query = {}] = targetOf(endpoint, parameters);
    onSent();
    const startedAt = performance.now();
    const asked = { endpoint, address: addressOf(endpoint, parameters) };
    try {
      const { json, bytes } = await get(path, query, AbortSignal.timeout(TRY_MS));
      const ms = performance.now() - startedAt;
      return { ...asked, outcome: "answered" as const, status: 200, ms, bytes, json };
    } catch (error) {
      if (!(error instanceof ExplorerError)) throw error;
      const { problem: outcome, status, reason, retryAfterMs } = error;
      const ms = performance.now() - startedAt;
      return { ...asked, outcome, status, reason, ms, bytes: 0, retryAfterMs };
    }
  };

  return async (endpoint, parameters, isProbe = false) => {
    const first = await once(endpoint, parameters);
    const isPassing = first.outcome === "limited" || first.outcome === "failing" || first.outcome === "slow";
    if (isPassing) await delay(Math.min(first.retryAfterMs ?? AGAIN_MS, MAX_PAUSE_MS));
    const last = isPassing ? await once(endpoint, parameters) : first;
    const exchange = { ...last, isProbe, tries: isPassing ? 2 : 1 };
    onExchange(exchange);
    return exchange;
  };
}
