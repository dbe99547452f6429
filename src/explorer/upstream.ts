import { setTimeout as delay } from "node:timers/promises";
import {
  BrokenCircuitError,
  CircuitState,
  ConsecutiveBreaker,
  circuitBreaker,
  ExponentialBackoff,
  handleWhen,
} from "cockatiel";
import { createNotice } from "../util/notice.js";
import { withDeadline } from "../util/timeouts.js";
import { MINUTE, SECOND } from "../util/units.js";
import type { Priority } from "./budget.js";
import type { EndpointName } from "./endpoints.js";
import { ExplorerError } from "./errors.js";
import type { Body, Get, Query } from "./http.js";
import type { RequestQueue } from "./queue.js";
import type { Waiters } from "./waiters.js";

/** Timeouts of one attempt with its body and of a request with all attempts and waits, in ms. */
const TRY_MS = 10_000;
const TOTAL_MS: Readonly<Record<Priority, number>> = { people: 20_000, background: 120_000 };
const TRIES = 3;
/** Before the second try, in ms; twice that before the third; each half as long again or half as short by chance. */
const FIRST_PAUSE_MS = 400;
/** A Retry-After is honoured up to this, in ms; without one, or with a longer one, the queue goes on then. */
const MAX_PAUSE_MS = MINUTE;
const DEFAULT_PAUSE_MS = 2 * SECOND;
/** Number of failures in a row that open the circuit breaker. It tries again after this time, in ms. */
const FAILURES_IN_A_ROW = 5;
const REOPEN_MS = { initialDelay: 2_000, maxDelay: 30_000 };
const REFUSED_REOPEN_MS = { initialDelay: 15_000, maxDelay: 60_000 };

/** Called with each try, and its wait in the queue before it. */
export type OnRequest = (outcome: {
  readonly status: string;
  readonly ms: number;
  readonly waitedMs: number;
  readonly priority: Priority;
}) => void;

interface UpstreamOptions {
  readonly get: Get;
  readonly queue: RequestQueue;
  /** Called once when the explorer begins to fail, or to refuse the key, and once when it answers again. */
  readonly onDown: (error: ExplorerError) => void;
  readonly onRefused: (error: ExplorerError) => void;
  readonly onBack: (from: "failing" | "refused") => void;
  /** Called once when it begins to withhold an endpoint that others are given. */
  readonly onWithheld?: (error: ExplorerError, endpoint: EndpointName) => void;
  readonly onRequest?: OnRequest;
}

/** A request and the people it is for. */
export interface UpstreamRequest {
  readonly waiters: Waiters;
  /** One that fails, or is withheld, does not speak for the others. */
  readonly endpoint: EndpointName;
  readonly path: string;
  readonly query: Query;
  /** True if one of the waiting people may send another request. By default it may be sent. */
  readonly isAllowed?: () => boolean;
  /** Called as each try is sent. */
  readonly onSent?: () => void;
  /** True if the path always has an answer, so that a 404 is about the address and not about an id. */
  readonly isAlwaysThere?: boolean;
}

/** Sends a request: through the breakers, the queue and, if it may help, a second time. Throws ExplorerError. */
export type Upstream = (request: UpstreamRequest) => Promise<Body>;

const problemIs =
  (...problems: readonly ExplorerError["problem"][]) =>
  (error: unknown): boolean =>
    error instanceof ExplorerError && problems.includes(error.problem);

/**
 * Good manners towards the explorer in one place: one queue, retries that go through it again with jitter and only
 * where they may help, a breaker for an explorer that is down and one for a key that is refused.
 */
export function createUpstream({
  get,
  queue,
  onDown,
  onRefused,
  onBack,
  onWithheld = () => {},
  onRequest = () => {},
}: UpstreamOptions): Upstream {
  // While the circuit breaker is half open, only an answer closes it. A request that was not sent says nothing.
  const isAnswer = problemIs("missing", "rejected");
  /** Endpoints that have answered, and were not found to be restricted since. */
  const answering = new Set<EndpointName>();
  /**
   * Endpoints that were withheld since the last success although they had answered before, or none had. Several of them without a
   * success in between point to the key or the address. An endpoint that never answers this key says nothing about it.
   */
  const withheld = new Set<EndpointName>();
  const isRefused = (error: unknown): boolean =>
    problemIs("refused")(error) || (problemIs("withheld")(error) && withheld.size > 1);
  const reported = new Set<EndpointName>();
  const trialFails = (error: unknown) => error instanceof ExplorerError && !isAnswer(error);
  /** Endpoints that failed since the last success: one that fails alone does not speak for the others. */
  const failingEndpoints = new Set<EndpointName>();
  const isDown = (error: unknown): boolean =>
    problemIs("failing", "slow", "unreadable")(error) &&
    error instanceof ExplorerError &&
    !error.unsent &&
    ((error.problem === "failing" && error.status === undefined) || failingEndpoints.size > 1);
  const downBreaker = circuitBreaker(
    handleWhen((error) => (downBreaker.state === CircuitState.HalfOpen ? trialFails(error) : isDown(error))),
    { halfOpenAfter: new ExponentialBackoff(REOPEN_MS), breaker: new ConsecutiveBreaker(FAILURES_IN_A_ROW) },
  );
  const refusedBreaker = circuitBreaker(
    handleWhen((error) =>
      refusedBreaker.state === CircuitState.HalfOpen ? trialFails(error) : isRefused(error),
    ),
    { halfOpenAfter: new ExponentialBackoff(REFUSED_REOPEN_MS), breaker: new ConsecutiveBreaker(1) },
  );
  for (const [breaker, problem, onBreak] of [
    [downBreaker, "failing", onDown],
    [refusedBreaker, "refused", onRefused],
  ] as const) {
    const notice = createNotice(onBreak, () => onBack(problem));
    breaker.onBreak((reason) => {
      const error = "error" in reason && reason.error instanceof ExplorerError ? reason.error : undefined;
      queue.clear(
        new ExplorerError(problem, "The explorer is left alone for a while", { cause: error, unsent: true }),
      );
      if (error) notice.begins(error);
    });
    breaker.onReset(() => notice.ends());
  }

  const noteWithheld = (error: ExplorerError, endpoint: EndpointName) => {
    if (answering.size === 0 || answering.has(endpoint)) withheld.add(endpoint);
    if (withheld.size < 2 && !reported.has(endpoint)) {
      reported.add(endpoint);
      onWithheld(error, endpoint);
    }
  };

  const once = async (
    { waiters, endpoint, path, query, isAllowed, onSent = () => {}, isAlwaysThere = false }: UpstreamRequest,
    signal: AbortSignal,
  ): Promise<Body> => {
    const queuedAt = performance.now();
    const sendOnce = async () => {
      onSent();
      const startedAt = performance.now();
      let status = "200";
      try {
        const responseBody = await withDeadline(TRY_MS, signal, (either) => get(path, query, either));
        failingEndpoints.clear();
        // The key is accepted: what was withheld before is restricted for it.
        for (const restricted of withheld) answering.delete(restricted);
        withheld.clear();
        answering.add(endpoint);
        reported.delete(endpoint);
        return responseBody;
      } catch (thrown) {
        const error = isAlwaysThere ? asWithheld(thrown) : thrown;
        if (error instanceof ExplorerError) {
          if (error.problem === "withheld") noteWithheld(error, endpoint);
          status = error.status === undefined ? error.problem : String(error.status);
          if (error.retryable || error.problem === "unreadable") failingEndpoints.add(endpoint);
          const pauseMs = error.retryAfterMs ?? (error.problem === "limited" ? DEFAULT_PAUSE_MS : 0);
          if (pauseMs > 0) queue.pause(Math.min(pauseMs, MAX_PAUSE_MS));
        }
        throw error;
      } finally {
        const [ms, waitedMs] = [performance.now() - startedAt, startedAt - queuedAt];
        onRequest({ status, ms, waitedMs, priority: priorityOf(waiters) });
      }
    };
    try {
      return await refusedBreaker.execute(() =>
        downBreaker.execute(() => queue.run(waiters, sendOnce, signal, isAllowed)),
      );
    } catch (error) {
      if (!(error instanceof BrokenCircuitError)) throw error;
      const problem = refusedBreaker.state === CircuitState.Open ? "refused" : "failing";
      throw new ExplorerError(problem, `GET /${path}: not sent, the explorer is left alone for a while`, {
        unsent: true,
      });
    }
  };

  return async (request) => {
    const signal = AbortSignal.timeout(TOTAL_MS[request.waiters.background ? "background" : "people"]);
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await once(request, signal);
      } catch (error) {
        const isRepeated =
          error instanceof ExplorerError && error.retryable && !error.unsent && attempt < TRIES;
        if (!isRepeated || signal.aborted || downBreaker.state === CircuitState.Open) throw error;
        // After a 429 the queue itself waits as long as the explorer said.
        const pause = error.problem === "limited" ? 0 : FIRST_PAUSE_MS * 2 ** (attempt - 1);
        await delay(pause * (0.5 + Math.random()), undefined, { signal }).catch(() => {
          throw error;
        });
      }
    }
  };
}

const priorityOf = ({ people }: Waiters): Priority => (people.size > 0 ? "people" : "background");

/** A 404 where there always is something: it is no missing thing. */
const asWithheld = (error: unknown): unknown =>
  error instanceof ExplorerError && error.problem === "missing"
    ? new ExplorerError("withheld", error.message, { status: 404 })
    : error;
