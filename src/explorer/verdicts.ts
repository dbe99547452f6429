import { LRUCache } from "lru-cache";
import { joinedRun, singleFlight } from "../util/single-flight.js";
import { withDeadline } from "../util/timeouts.js";
import { SECOND } from "../util/units.js";
import type { Priority } from "./budget.js";
import { type EndpointName, type Parameters, targetOf } from "./endpoints.js";
import { ExplorerError, isUnknown, problemIs } from "./errors.js";
import type { Get, Query } from "./http.js";
import type { RequestQueue } from "./queue.js";

/** Timeout for one attempt including its body, in ms. */
export const TRY_MS = 10_000;
/** Timeout in ms for the question whether another endpoint answers. */
const CHECK_MS = 3_000;
/** Time for which the bot remembers that another endpoint answers while some fail, in ms. */
const CHECKED_MS = 10 * SECOND;

/** Time after an answer within which the explorer counts as up while it can't be asked, in ms. */
const RECENT_MS = 30 * SECOND;
/** Time for which a trial waits for the budget to ask another endpoint, in ms. */
const TRIAL_PATIENCE_MS = 5 * SECOND;

/** Called after each attempt with its status, its duration and its wait in the queue before it. */
export type OnRequest = (outcome: {
  readonly status: string;
  readonly ms: number;
  readonly waitedMs: number;
  readonly priority: Priority;
}) => void;

/** A request that can be repeated. */
export interface Asked {
  /** Endpoint name. A single endpoint that fails or is restricted does not count as a problem of the whole explorer. */
  readonly endpoint: EndpointName;
  readonly path: string;
  readonly query: Query;
  /** True if the path always has an answer, so that a 404 means that the endpoint is restricted or the address is wrong. */
  readonly isAlwaysThere?: boolean;
}

/** Returns a request without an id, which always has an answer. */
function always<Name extends EndpointName>(endpoint: Name, parameters: Parameters<Name>): Asked {
  const [path, query = {}] = targetOf(endpoint, parameters);
  return { endpoint, path, query, isAlwaysThere: true };
}
const DASHBOARD = always("dashboard", {});
const FIRST_ROW = { page: 0, size: 1 };
/** The endpoints that a bot needs most. They are asked before a key counts as refused. */
const NEEDED = [DASHBOARD, always("validators", FIRST_ROW), always("voteRequests", FIRST_ROW)];

/** Returns the status of a failed request for the metrics: the HTTP status, or the problem if there was no answer. */
export const statusOf = ({ status, problem }: ExplorerError): string =>
  status === undefined ? problem : String(status);

/**
 * Turns a 404 or another 4xx, such as 402, into `withheld`. For paths that always have an answer, it cannot mean that an id does not
 * exist, and there was nothing to type. A 400 may be about a parameter.
 */
const asWithheld = (error: unknown): unknown =>
  error instanceof ExplorerError && isUnknown(error) && error.status !== 400
    ? new ExplorerError("withheld", error.message, { status: error.status ?? 404 })
    : error;

interface VerdictOptions {
  readonly get: Get;
  readonly queue: Pick<RequestQueue, "mayCheck">;
  /** Called once when the explorer begins to restrict an endpoint for this key. */
  readonly onWithheld: (error: ExplorerError, endpoint: EndpointName) => void;
  readonly onRequest: OnRequest;
}

/** The circuit breakers that let one request through, to find out if the key is accepted or the explorer answers again. */
interface Trials {
  readonly ofKey: boolean;
  readonly ofExplorer: boolean;
}

/**
 * Creates the judgement of failed requests: whether they concern one endpoint, the key, or the whole explorer. In doubt, other
 * endpoints are asked.
 */
export function createVerdicts({ get, queue, onWithheld, onRequest }: VerdictOptions) {
  /** Last requests that were answered, by endpoint, the latest last. Endpoints that turn out to be restricted are removed. */
  const answered = new Map<EndpointName, Asked>();
  /**
   * Endpoints that were withheld since the last success, if they had answered before or if none had. Two or more of them may point
   * to a wrong key or address. An endpoint that has never answered with this key, while others have, does not count.
   */
  const withheld = new Set<EndpointName>();
  /** Errors of withheld endpoints after which an endpoint that usually answers was refused, too. */
  const refusals = new WeakSet<Error>();
  const reported = new Set<EndpointName>();
  /** Time of the last answer (monotonic clock, ms). */
  let answeredAt = Number.NEGATIVE_INFINITY;
  /** Endpoints that failed since the last success. A single failing endpoint does not mean that the explorer is down. */
  const failingEndpoints = new Set<EndpointName>();
  /** Errors of endpoints that fail while others answer. */
  const endpointErrors = new WeakSet<Error>();

  // While a circuit breaker is half open, only an answer closes it. A request that was not sent says nothing.
  const isRefused = (error: unknown): boolean =>
    problemIs("refused")(error) || (error instanceof Error && refusals.has(error));
  const isFailure = (error: unknown): error is ExplorerError =>
    problemIs("failing", "slow", "unreadable")(error) && error instanceof ExplorerError && !error.unsent;
  const isUnreachable = ({ problem, status }: ExplorerError) => problem === "failing" && status === undefined;

  const noteAnswer = (asked: Asked) => {
    answeredAt = performance.now();
    // The key is accepted, so the endpoints that were withheld before are restricted for it.
    for (const restricted of withheld) answered.delete(restricted);
    withheld.clear();
    answered.delete(asked.endpoint);
    answered.set(asked.endpoint, asked);
  };

  /** Asks an endpoint again because another one is in doubt. It uses the doubted request's place in the queue. */
  const check = async ({ path, query }: Asked, ms: number, patienceMs = 0): Promise<void> => {
    if (!(await queue.mayCheck(patienceMs)))
      throw new ExplorerError("busy", "No request is left for a check", { unsent: true });
    const startedAt = performance.now();
    let status = "200";
    try {
      await withDeadline(ms, undefined, (signal) => get(path, query, signal));
      answeredAt = performance.now();
    } catch (error) {
      if (error instanceof ExplorerError) status = statusOf(error);
      throw error;
    } finally {
      onRequest({ status, ms: performance.now() - startedAt, waitedMs: 0, priority: "background" });
    }
  };

  /**
   * Asks the endpoints that answered before and those that a bot needs most: one of them answers, or all refuse the key, too. A key
   * may not be for all of them. Those that refuse it are not asked again until they answer. If one does not answer at all, nothing is
   * concluded.
   */
  const probeKey = joinedRun(async (doubted?: EndpointName): Promise<"answered" | "refused" | "unknown"> => {
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
        if (!isUnknown(error)) return "unknown";
      }
      noteAnswer(usual);
      return "answered";
    }
    return "refused";
  });

  /** True if an endpoint answers now. `undefined` if no request is left to find out. */
  const isAnswering = async (asked: Asked, patienceMs: number): Promise<boolean | undefined> => {
    try {
      await check(asked, CHECK_MS, patienceMs);
      return true;
    } catch (error) {
      if (isUnknown(error)) return true;
      if (problemIs("busy")(error)) return undefined;
      failingEndpoints.add(asked.endpoint);
      return false;
    }
  };
  const healthChecks = new LRUCache<"another", Promise<boolean | undefined>>({ max: 1, ttl: CHECKED_MS });
  /**
   * True if the endpoint that answered last, apart from the failing ones, or the dashboard answers now. `undefined` if no request is
   * left to find out.
   */
  const isAnotherAnswering = async (patienceMs: number): Promise<boolean | undefined> => {
    const mayAnswer = ({ endpoint }: Asked) => !failingEndpoints.has(endpoint) && !withheld.has(endpoint);
    const isAnswered = await singleFlight(
      healthChecks,
      "another",
      async () => {
        const latest = [...answered.values()].findLast(mayAnswer);
        const others = [latest ?? DASHBOARD, DASHBOARD].filter(mayAnswer);
        const answers = await Promise.all([...new Set(others)].map((each) => isAnswering(each, patienceMs)));
        return answers.includes(true) || (answers.includes(undefined) ? undefined : false);
      },
      true,
    );
    if (!isAnswered) healthChecks.delete("another");
    return isAnswered;
  };

  /** Notes a withheld endpoint, and finds out if the key is refused if that may be the reason. */
  const noteWithheld = async (error: ExplorerError, endpoint: EndpointName, isTrial: boolean) => {
    // A trial starts over: a new key may be restricted to other endpoints than the old one.
    if (isTrial) withheld.clear();
    if (isTrial || answered.size === 0 || answered.has(endpoint)) withheld.add(endpoint);
    if ((withheld.size > 1 || isTrial) && (await probeKey()) === "refused") refusals.add(error);
    else if (!reported.has(endpoint)) {
      reported.add(endpoint);
      onWithheld(error, endpoint);
    }
  };

  /**
   * Turns a redirect into `withheld` if others are not refused. Without an endpoint that has answered before, only a trial asks others,
   * and one of them must answer.
   */
  const ofEndpoint = async (error: unknown, endpoint: EndpointName, isTrial: boolean): Promise<unknown> => {
    if (!(error instanceof ExplorerError) || error.problem !== "refused" || error.status === undefined)
      return error;
    const { message, status } = error;
    const hasOthers = [...answered.keys()].some((each) => each !== endpoint && !withheld.has(each));
    const probe = status < 400 && (hasOthers || isTrial) ? await probeKey(endpoint) : "refused";
    const isOnlyHere = hasOthers ? probe !== "refused" : probe === "answered";
    return isOnlyHere ? new ExplorerError("withheld", message, { status }) : error;
  };

  return {
    /** True if an error means that the explorer refuses the key. */
    isRefused,
    /** True if an error means that the explorer is down, or that it may be. */
    isDown: (error: unknown): boolean =>
      isFailure(error) && !endpointErrors.has(error) && (isUnreachable(error) || failingEndpoints.size > 1),
    /** True if a trial with this error does not close a circuit breaker. */
    failsTrial: (error: unknown): boolean =>
      error instanceof ExplorerError &&
      !isUnknown(error) &&
      !endpointErrors.has(error) &&
      (!problemIs("withheld")(error) || isRefused(error)),
    /** Notes a request that was answered. */
    noteSuccess({ endpoint, path, query, isAlwaysThere = false }: Asked): void {
      failingEndpoints.clear();
      noteAnswer({ endpoint, path, query, isAlwaysThere });
      reported.delete(endpoint);
    },
    /** Notes a failed request, and returns the error to throw. */
    async judge(thrown: unknown, { endpoint, isAlwaysThere }: Asked, trials: Trials): Promise<unknown> {
      const error = await ofEndpoint(isAlwaysThere ? asWithheld(thrown) : thrown, endpoint, trials.ofKey);
      if (!(error instanceof ExplorerError)) return error;
      if (error.problem === "withheld") await noteWithheld(error, endpoint, trials.ofKey);
      // All endpoints have failed in an outage. A trial asks them again, because its own one may stay broken.
      if (trials.ofExplorer) failingEndpoints.clear();
      if (error.retryable || error.problem === "unreadable") failingEndpoints.add(endpoint);
      const isInDoubt =
        isFailure(error) && (isUnreachable(error) || failingEndpoints.size > 1 || trials.ofExplorer);
      // All others wait for a trial, so that it may wait for the budget.
      const patienceMs = trials.ofExplorer ? TRIAL_PATIENCE_MS : 0;
      // If no request is left to ask another endpoint, one that answered lately will do.
      const isException = !isUnreachable(error) && performance.now() - answeredAt < RECENT_MS;
      if (isInDoubt && ((await isAnotherAnswering(patienceMs)) ?? isException)) endpointErrors.add(error);
      return error;
    },
  };
}
