import { setTimeout as delay } from "node:timers/promises";
import {
  BrokenCircuitError,
  CircuitState,
  ConsecutiveBreaker,
  circuitBreaker,
  ExponentialBackoff,
  handleWhen,
  type IBackoffFactory,
} from "cockatiel";
import { createNotice } from "../util/notice.js";
import { withDeadline } from "../util/timeouts.js";
import { SECOND } from "../util/units.js";
import type { Priority } from "./budget.js";
import type { EndpointName } from "./endpoints.js";
import { ExplorerError } from "./errors.js";
import type { Body, Get } from "./http.js";
import { createPauses } from "./pauses.js";
import type { RequestQueue } from "./queue.js";
import { type Asked, createVerdicts, type OnRequest, statusOf, TRY_MS } from "./verdicts.js";
import type { Waiters } from "./waiters.js";

/** Timeout in ms for a request with all attempts and waits. */
const TOTAL_MS: Readonly<Record<Priority, number>> = { people: 20_000, background: 120_000 };
/** Timeout in the queue, in ms. A person does not wait for an answer to a request that is sent later (freshness.ts). */
const QUEUED_MS: Readonly<Record<Priority, number>> = { people: 8_000, background: 120_000 };
const TRIES = 3;
/** Delay before the second attempt, in ms. It doubles for the third one. Jitter changes each delay by up to 50%. */
const FIRST_PAUSE_MS = 400;
/** Maximum pause of an endpoint that its requests wait for, in ms. A longer one fails them at once. */
const MAX_WAIT_MS = 8 * SECOND;
/** Number of consecutive failures that open the circuit breaker, and the delays before it tries again, in ms. */
const FAILURES_IN_A_ROW = 5;
const REOPEN_MS = { initialDelay: 2_000, maxDelay: 30_000 };
const REFUSED_REOPEN_MS = { initialDelay: 15_000, maxDelay: 60_000 };

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
export interface UpstreamRequest extends Asked {
  readonly waiters: Waiters;
  /** Called when each attempt is sent, and when the explorer refuses it because of a limit. */
  readonly onSent?: () => void;
  readonly onLimited?: () => void;
}

/** Sends a request through the circuit breakers and the queue, and retries it if that may help. Throws ExplorerError. */
export type Upstream = (request: UpstreamRequest) => Promise<Body>;

/** A backoff on the steady clock. cockatiel compares its duration with the wall clock, which may be set back. */
const onSteadyClock = (backoff: IBackoffFactory<unknown>): IBackoffFactory<unknown> => ({
  next(context) {
    const nextBackoff = backoff.next(context);
    const endsAt = performance.now() + nextBackoff.duration;
    return {
      get duration() {
        return performance.now() < endsAt ? Infinity : -Infinity;
      },
      next: onSteadyClock(nextBackoff).next,
    };
  },
});

/** Creates the circuit breakers: one for an explorer that is down, another for a refused key. */
function createBreakers(
  { isRefused, isDown, failsTrial }: ReturnType<typeof createVerdicts>,
  { queue, onDown, onRefused, onBack }: UpstreamOptions,
) {
  const downBreaker = circuitBreaker(
    // A refusal is an answer.
    handleWhen((error) =>
      downBreaker.state === CircuitState.HalfOpen ? failsTrial(error) && !isRefused(error) : isDown(error),
    ),
    {
      halfOpenAfter: onSteadyClock(new ExponentialBackoff(REOPEN_MS)),
      breaker: new ConsecutiveBreaker(FAILURES_IN_A_ROW),
    },
  );
  const refusedBreaker = circuitBreaker(
    handleWhen((error) =>
      refusedBreaker.state === CircuitState.HalfOpen ? failsTrial(error) : isRefused(error),
    ),
    {
      halfOpenAfter: onSteadyClock(new ExponentialBackoff(REFUSED_REOPEN_MS)),
      breaker: new ConsecutiveBreaker(1),
    },
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

  return {
    /** The circuit breakers that let one request through, to find out if it still fails. */
    trials: () => ({
      ofKey: refusedBreaker.state === CircuitState.HalfOpen,
      ofExplorer: downBreaker.state === CircuitState.HalfOpen,
    }),
    /** True if the explorer counts as down, so that the next request may be a trial, for which all others wait. */
    isTrying: () => downBreaker.state !== CircuitState.Closed,
    isDown: () => downBreaker.state === CircuitState.Open,
    /** Does the work, unless a circuit breaker is open. @throws {ExplorerError} */
    async run<T>(path: string, work: () => Promise<T>): Promise<T> {
      try {
        return await refusedBreaker.execute(() => downBreaker.execute(work));
      } catch (error) {
        if (!(error instanceof BrokenCircuitError)) throw error;
        const problem = refusedBreaker.state === CircuitState.Open ? keyProblem : "failing";
        throw new ExplorerError(problem, `GET /${path}: not sent, the circuit breaker is open`, {
          unsent: true,
        });
      }
    },
  };
}

/**
 * Creates the function through which all requests to the explorer go. They share one queue. Retries have jitter, queue again, and
 * happen only if they may help.
 */
export function createUpstream(options: UpstreamOptions): Upstream {
  const { get, queue, onWithheld = () => {}, onRequest = () => {} } = options;
  const pauses = createPauses(queue);
  const verdicts = createVerdicts({ get, queue, onWithheld, onRequest });
  const breakers = createBreakers(verdicts, options);

  const once = async (request: UpstreamRequest, signal: AbortSignal): Promise<Body> => {
    const { waiters, endpoint, path, query, onSent = () => {}, onLimited = () => {} } = request;
    const pauseMs = pauses.of(endpoint);
    if (pauseMs > MAX_WAIT_MS)
      throw new ExplorerError("failing", `GET /${path}: not sent, its pause is not over`, { unsent: true });
    if (pauseMs > 0) await delay(pauseMs, undefined, { signal }).catch(() => {});
    // A request that cannot be sent now must not be the trial of a circuit breaker.
    const refusal = breakers.isTrying() ? queue.refusal(waiters) : undefined;
    if (refusal) throw refusal;
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
        verdicts.noteSuccess(request);
        pauses.noteSuccess();
        return responseBody;
      } catch (thrown) {
        const error = await verdicts.judge(thrown, request, breakers.trials());
        if (error instanceof ExplorerError) {
          status = statusOf(error);
          if (error.problem === "limited") onLimited();
          pauses.after(error, endpoint);
        }
        throw error;
      } finally {
        onRequest({ status, ms, waitedMs: startedAt - queuedAt, priority: priorityOf(waiters) });
      }
    };
    const queuedMs = QUEUED_MS[waiters.background ? "background" : "people"];
    return breakers.run(path, () =>
      withDeadline(queuedMs, signal, (either) => queue.run(waiters, sendOnce, either)),
    );
  };

  return async (request) => {
    const signal = AbortSignal.timeout(TOTAL_MS[request.waiters.background ? "background" : "people"]);
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await once(request, signal);
      } catch (error) {
        const isRepeated =
          error instanceof ExplorerError && error.retryable && !error.unsent && attempt < TRIES;
        if (!isRepeated || signal.aborted || breakers.isDown()) throw error;
        // After a 429, the queue itself pauses for as long as the explorer asked.
        const pause = error.problem === "limited" ? 0 : FIRST_PAUSE_MS * 2 ** (attempt - 1);
        await delay(pause * (0.5 + Math.random()), undefined, { signal }).catch(() => {
          throw error;
        });
      }
    }
  };
}

const priorityOf = ({ people }: Waiters): Priority => (people.size > 0 ? "people" : "background");
