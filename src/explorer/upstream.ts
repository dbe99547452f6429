import { setTimeout as delay } from "node:timers/promises";
import {
  BrokenCircuitError,
  CircuitState,
  ConsecutiveBreaker,
  circuitBreaker,
  ExponentialBackoff,
  handleWhen,
} from "cockatiel";
import { LRUCache } from "lru-cache";
import { createNotice } from "../util/notice.js";
import { singleFlight } from "../util/single-flight.js";
import { withDeadline } from "../util/timeouts.js";
import { MINUTE, SECOND } from "../util/units.js";
import type { Priority } from "./budget.js";
import { type EndpointName, type Parameters, targetOf } from "./endpoints.js";
import { ExplorerError } from "./errors.js";
import type { Body, Get, Query } from "./http.js";
import type { RequestQueue } from "./queue.js";
import type { Waiters } from "./waiters.js";

/** Timeouts in ms: for one attempt including its body, and for a request with all attempts and waits. */
const TRY_MS = 10_000;
const TOTAL_MS: Readonly<Record<Priority, number>> = { people: 20_000, background: 120_000 };
const TRIES = 3;
/** Timeout in ms for the question whether another endpoint answers. */
const CHECK_MS = 3_000;
/** Delay before the second attempt, in ms. It doubles for the third one. Jitter changes each delay by up to 50%. */
const FIRST_PAUSE_MS = 400;
/** Time for which the bot remembers that another endpoint answers while some fail, in ms. */
const CHECKED_MS = 10 * SECOND;
/** Maximum pause for a Retry-After, and the first pause for a 429 without one, in ms. It doubles with each further one. */
const MAX_PAUSE_MS = MINUTE;
const DEFAULT_PAUSE_MS = 2 * SECOND;
/** Maximum pause of an endpoint that its requests wait for, in ms. A longer one fails them at once. */
const MAX_WAIT_MS = 8 * SECOND;
/** Number of consecutive failures that open the circuit breaker, and the delays before it tries again, in ms. */
const FAILURES_IN_A_ROW = 5;
const REOPEN_MS = { initialDelay: 2_000, maxDelay: 30_000 };
const REFUSED_REOPEN_MS = { initialDelay: 15_000, maxDelay: 60_000 };

/** Called after each attempt with its status, its duration and its wait in the queue before it. */
export type OnRequest = (outcome: {
  readonly status: string;
  readonly ms: number;
  readonly waitedMs: number;
  readonly priority: Priority;
}) => void;

interface UpstreamOptions {
  readonly get: Get;
  readonly queue: RequestQueue;
  /** Called once when the explorer begins to fail or to refuse the key, and once when it answers again. */
  readonly onDown: (error: ExplorerError) => void;
  readonly onRefused: (error: ExplorerError) => void;
  readonly onBack: (from: "failing" | "refused") => void;
  /** Called once when the explorer begins to restrict an endpoint for this key. */
  readonly onWithheld?: (error: ExplorerError, endpoint: EndpointName) => void;
  readonly onRequest?: OnRequest;
}

/** A request and the callers that wait for it. */
export interface UpstreamRequest {
  readonly waiters: Waiters;
  /** Endpoint name. A single endpoint that fails or is restricted does not count as a problem of the whole explorer. */
  readonly endpoint: EndpointName;
  readonly path: string;
  readonly query: Query;
  /** True if one of the waiting people may send another request. By default it may be sent. */
  readonly isAllowed?: () => boolean;
  /** Called when each attempt is sent, and when the explorer refuses it because of a limit. */
  readonly onSent?: () => void;
  readonly onLimited?: () => void;
  /** True if the path always has an answer, so that a 404 means that the endpoint is restricted or the address is wrong. */
  readonly isAlwaysThere?: boolean;
}

/** A request that can be repeated. */
type Asked = Pick<UpstreamRequest, "endpoint" | "path" | "query" | "isAlwaysThere">;

/** Returns a request without an id, which always has an answer. */
function always<Name extends EndpointName>(endpoint: Name, parameters: Parameters<Name>): Asked {
  const [path, query = {}] = targetOf(endpoint, parameters);
  return { endpoint, path, query, isAlwaysThere: true };
}
const DASHBOARD = always("dashboard", {});
const FIRST_ROW = { page: 0, size: 1 };
/** The endpoints that a bot needs most. They are asked before a key counts as refused. */
const NEEDED = [DASHBOARD, always("validators", FIRST_ROW), always("voteRequests", FIRST_ROW)];

/** Sends a request through the circuit breakers and the queue, and retries it if that may help. Throws ExplorerError. */
export type Upstream = (request: UpstreamRequest) => Promise<Body>;

const problemIs =
  (...problems: readonly ExplorerError["problem"][]) =>
  (error: unknown): boolean =>
    error instanceof ExplorerError && problems.includes(error.problem);

/**
 * Creates the function through which all requests to the explorer go. They share one queue. Retries have jitter, queue again, and
 * happen only if they may help. One circuit breaker is for an explorer that is down, another for a refused key.
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
  /** Last requests that were answered, by endpoint, the latest last. Endpoints that turn out to be restricted are removed. */
  const answered = new Map<EndpointName, Asked>();
  /**
   * Endpoints that were withheld since the last success, if they had answered before or if none had. Two or more of them may point
   * to a wrong key or address. An endpoint that has never answered with this key, while others have, does not count.
   */
  const withheld = new Set<EndpointName>();
  /** Errors of withheld endpoints after which an endpoint that usually answers was refused, too. */
  const refusals = new WeakSet<Error>();
  const isRefused = (error: unknown): boolean =>
    problemIs("refused")(error) || (error instanceof Error && refusals.has(error));
  const reported = new Set<EndpointName>();
  const trialFails = (error: unknown) =>
    error instanceof ExplorerError &&
    !isAnswer(error) &&
    !endpointErrors.has(error) &&
    (!problemIs("withheld")(error) || isRefused(error));
  /** Endpoints that failed since the last success. A single failing endpoint does not mean that the explorer is down. */
  const failingEndpoints = new Set<EndpointName>();
  /** Errors of endpoints that fail while others answer. */
  const endpointErrors = new WeakSet<Error>();
  const isFailure = (error: unknown): error is ExplorerError =>
    problemIs("failing", "slow", "unreadable")(error) && error instanceof ExplorerError && !error.unsent;
  const isDown = (error: unknown): boolean =>
    isFailure(error) &&
    !endpointErrors.has(error) &&
    ((error.problem === "failing" && error.status === undefined) || failingEndpoints.size > 1);
  /** True if an error may mean that the explorer is down, or only concern its endpoint. */
  const isInDoubt = (error: ExplorerError): boolean =>
    isFailure(error) &&
    !(error.problem === "failing" && error.status === undefined) &&
    (failingEndpoints.size > 1 || downBreaker.state === CircuitState.HalfOpen);
  const downBreaker = circuitBreaker(
    // A refusal is an answer.
    handleWhen((error) =>
      downBreaker.state === CircuitState.HalfOpen ? trialFails(error) && !isRefused(error) : isDown(error),
    ),
    { halfOpenAfter: new ExponentialBackoff(REOPEN_MS), breaker: new ConsecutiveBreaker(FAILURES_IN_A_ROW) },
  );
  const refusedBreaker = circuitBreaker(
    handleWhen((error) =>
      refusedBreaker.state === CircuitState.HalfOpen ? trialFails(error) : isRefused(error),
    ),
    { halfOpenAfter: new ExponentialBackoff(REFUSED_REOPEN_MS), breaker: new ConsecutiveBreaker(1) },
  );
  /** Problem with which requests are refused while the breaker for the key is open: that of its last trial. */
  let keyProblem: "refused" | "failing" = "refused";
  for (const [breaker, problem, onBreak] of [
    [downBreaker, "failing", onDown],
    [refusedBreaker, "refused", onRefused],
  ] as const) {
    const notice = createNotice(onBreak, () => onBack(problem));
    breaker.onBreak((reason) => {
      const error = "error" in reason && reason.error instanceof ExplorerError ? reason.error : undefined;
      if (problem === "refused") keyProblem = isRefused(error) ? "refused" : "failing";
      const shown = problem === "refused" ? keyProblem : problem;
      queue.clear(new ExplorerError(shown, "The circuit breaker is open", { cause: error, unsent: true }));
      if (error) notice.begins(error);
    });
    breaker.onReset(() => notice.ends());
  }

  const noteAnswer = (asked: Asked) => {
    // The key is accepted, so the endpoints that were withheld before are restricted for it.
    for (const restricted of withheld) answered.delete(restricted);
    withheld.clear();
    answered.delete(asked.endpoint);
    answered.set(asked.endpoint, asked);
  };

  /** Asks an endpoint again because another one is in doubt. It uses the doubted request's place in the queue. */
  const check = async ({ path, query }: Asked, ms: number): Promise<void> => {
    if (!(await queue.mayCheck()))
      throw new ExplorerError("busy", "No request is left for a check", { unsent: true });
    const startedAt = performance.now();
    let status = "200";
    try {
      await withDeadline(ms, undefined, (signal) => get(path, query, signal));
    } catch (error) {
      if (error instanceof ExplorerError) status = statusOf(error);
      throw error;
    } finally {
      onRequest({ status, ms: performance.now() - startedAt, waitedMs: 0, priority: "background" });
    }
  };

  /**
   * True if the endpoints that answered before and those that a bot needs most refuse the key, too. A key may not be for all of
   * them. Those that refuse it are not asked again until they answer. If one does not answer at all, nothing is concluded.
   */
  const probeUsualEndpoints = async (doubted?: EndpointName): Promise<boolean> => {
    const isUsual = ({ endpoint }: Asked) => !withheld.has(endpoint) && endpoint !== doubted;
    const latest = [...answered.values()].filter(isUsual).reverse();
    const others = NEEDED.filter((each) => isUsual(each) && !answered.has(each.endpoint));
    for (const usual of [...latest, ...others]) {
      try {
        await check(usual, TRY_MS);
      } catch (thrown) {
        const error = usual.isAlwaysThere ? asWithheld(thrown) : thrown;
        // Behind a wrong address, each thing is missing.
        if (problemIs("missing")(error)) continue;
        if (problemIs("refused", "withheld")(error)) {
          answered.delete(usual.endpoint);
          continue;
        }
        if (!isAnswer(error)) return false;
      }
      noteAnswer(usual);
      return false;
    }
    return true;
  };
  const checks = new Map<"key", Promise<boolean>>();
  const isKeyRefused = (doubted?: EndpointName) =>
    singleFlight(checks, "key", () => probeUsualEndpoints(doubted), false);

  /** True if an endpoint answers now, or if no request is left to find out. */
  const isAnswering = async (asked: Asked): Promise<boolean> => {
    try {
      await check(asked, CHECK_MS);
      return true;
    } catch (error) {
      if (isAnswer(error) || problemIs("busy")(error)) return true;
      failingEndpoints.add(asked.endpoint);
      return false;
    }
  };
  const healthChecks = new LRUCache<"another", Promise<boolean>>({ max: 1, ttl: CHECKED_MS });
  /** True if the endpoint that answered last, apart from the failing ones, or the dashboard answers now. */
  const isAnotherAnswering = async (): Promise<boolean> => {
    const mayAnswer = ({ endpoint }: Asked) => !failingEndpoints.has(endpoint) && !withheld.has(endpoint);
    const isAnswered = await singleFlight(
      healthChecks,
      "another",
      async () => {
        const latest = [...answered.values()].findLast(mayAnswer);
        const others = [latest ?? DASHBOARD, DASHBOARD].filter(mayAnswer);
        return (await Promise.all([...new Set(others)].map(isAnswering))).includes(true);
      },
      true,
    );
    if (!isAnswered) healthChecks.delete("another");
    return isAnswered;
  };

  const noteWithheld = async (error: ExplorerError, endpoint: EndpointName) => {
    if (answered.size === 0 || answered.has(endpoint)) withheld.add(endpoint);
    const isSuspicious = withheld.size > 1 || refusedBreaker.state === CircuitState.HalfOpen;
    if (isSuspicious && (await isKeyRefused())) refusals.add(error);
    else if (!reported.has(endpoint)) {
      reported.add(endpoint);
      onWithheld(error, endpoint);
    }
  };

  /** Turns a redirect into `withheld` if another endpoint, which has answered before, still answers. */
  const ofEndpoint = async (error: unknown, endpoint: EndpointName): Promise<unknown> => {
    if (!(error instanceof ExplorerError) || error.problem !== "refused" || error.status === undefined)
      return error;
    const { message, status } = error;
    const hasOthers = [...answered.keys()].some((each) => each !== endpoint && !withheld.has(each));
    const isOnlyHere = status < 400 && hasOthers && !(await isKeyRefused(endpoint));
    return isOnlyHere ? new ExplorerError("withheld", message, { status }) : error;
  };

  /** Number of consecutive pauses, and the end of the latest one (monotonic clock, ms). */
  let [limitedInARow, pausedUntil] = [0, 0];
  /** Ends of the pauses of endpoints that failed with a Retry-After (monotonic clock, ms). */
  const endpointPauses = new Map<EndpointName, number>();
  /**
   * Pauses the queue after a 429 for as long as the explorer asks, and if it does not say how long, for longer each time. Another
   * failure only pauses its endpoint.
   */
  const pauseAfter = ({ problem, retryAfterMs }: ExplorerError, endpoint: EndpointName): void => {
    if (problem === "failing" && retryAfterMs)
      endpointPauses.set(endpoint, performance.now() + Math.min(retryAfterMs, MAX_PAUSE_MS));
    if (problem !== "limited") return;
    // Requests that were refused together are one refusal.
    if (pausedUntil <= performance.now()) limitedInARow += 1;
    const growingMs = DEFAULT_PAUSE_MS * 2 ** (limitedInARow - 1) * (0.5 + Math.random());
    // A wait of zero would send the retries at once.
    const pauseMs = Math.min(retryAfterMs || growingMs, MAX_PAUSE_MS);
    pausedUntil = Math.max(pausedUntil, performance.now() + pauseMs);
    queue.pause(pauseMs);
  };

  /** Time until an endpoint's pause ends, in ms. */
  const pauseOf = (endpoint: EndpointName): number =>
    Math.max(0, (endpointPauses.get(endpoint) ?? 0) - performance.now());

  const once = async (request: UpstreamRequest, signal: AbortSignal): Promise<Body> => {
    const { waiters, endpoint, path, query, isAllowed, isAlwaysThere = false } = request;
    const pauseMs = pauseOf(endpoint);
    if (pauseMs > MAX_WAIT_MS)
      throw new ExplorerError("failing", `GET /${path}: not sent, its pause is not over`, { unsent: true });
    if (pauseMs > 0) await delay(pauseMs, undefined, { signal }).catch(() => {});
    const { onSent = () => {}, onLimited = () => {} } = request;
    const queuedAt = performance.now();
    const sendOnce = async () => {
      onSent();
      const startedAt = performance.now();
      let [status, ms] = ["200", 0];
      try {
        const responseBody = await withDeadline(TRY_MS, signal, (either) => get(path, query, either)).finally(
          () => {
            ms = performance.now() - startedAt;
          },
        );
        failingEndpoints.clear();
        limitedInARow = 0;
        noteAnswer({ endpoint, path, query, isAlwaysThere });
        reported.delete(endpoint);
        return responseBody;
      } catch (thrown) {
        const error = await ofEndpoint(isAlwaysThere ? asWithheld(thrown) : thrown, endpoint);
        if (error instanceof ExplorerError) {
          if (error.problem === "withheld") await noteWithheld(error, endpoint);
          status = statusOf(error);
          if (error.retryable || error.problem === "unreadable") failingEndpoints.add(endpoint);
          if (isInDoubt(error) && (await isAnotherAnswering())) endpointErrors.add(error);
          if (error.problem === "limited") onLimited();
          pauseAfter(error, endpoint);
        }
        throw error;
      } finally {
        onRequest({ status, ms, waitedMs: startedAt - queuedAt, priority: priorityOf(waiters) });
      }
    };
    try {
      return await refusedBreaker.execute(() =>
        downBreaker.execute(() => queue.run(waiters, sendOnce, signal, isAllowed)),
      );
    } catch (error) {
      if (!(error instanceof BrokenCircuitError)) throw error;
      const problem = refusedBreaker.state === CircuitState.Open ? keyProblem : "failing";
      throw new ExplorerError(problem, `GET /${path}: not sent, the circuit breaker is open`, {
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
        // After a 429, the queue itself pauses for as long as the explorer asked.
        const pause = error.problem === "limited" ? 0 : FIRST_PAUSE_MS * 2 ** (attempt - 1);
        await delay(pause * (0.5 + Math.random()), undefined, { signal }).catch(() => {
          throw error;
        });
      }
    }
  };
}

const statusOf = ({ status, problem }: ExplorerError): string =>
  status === undefined ? problem : String(status);

const priorityOf = ({ people }: Waiters): Priority => (people.size > 0 ? "people" : "background");

/** Turns a 404 into `withheld`. For paths that always have an answer, it cannot mean that an id does not exist. */
const asWithheld = (error: unknown): unknown =>
  error instanceof ExplorerError && error.problem === "missing"
    ? new ExplorerError("withheld", error.message, { status: 404 })
    : error;
