import type { ExplorerConfig } from "../config.js";
import type { Log } from "../log.js";
import { type Cache, REDIS_PREFIX } from "../storage/cache.js";
import type { Redis } from "../storage/redis.js";
import { digest } from "../util/digest.js";
import { createBudget } from "./budget.js";
import type { OnAnswer } from "./client.js";
import type { OnFetched } from "./flights.js";
import { createHttp } from "./http.js";
import { createQueue } from "./queue.js";
import { createExplorerService, type ExplorerService, type OnRead } from "./service.js";
import { createSharedBudget } from "./shared-budget.js";
import { createUpstream } from "./upstream.js";
import type { OnRequest } from "./verdicts.js";

/** Problem of an explorer as a whole: it does not answer, or it refuses the key. */
export type ExplorerTrouble = "failing" | "refused";

/** An explorer that reports its problems. */
export interface WatchedExplorer extends ExplorerService {
  /** Returns its current problems with their start (steady clock, ms); `undefined` before the first answer. */
  troubles(): ReadonlyMap<ExplorerTrouble, number> | undefined;
}

interface ExplorerDeps {
  readonly cache: Cache;
  /** Present if processes share one budget. */
  readonly redis?: Redis | undefined;
  readonly log: Log;
  /** Separates explorers that share a cache or a Redis, even if their URLs are the same. */
  readonly scope?: string | undefined;
  readonly now?: () => number;
  readonly onRead?: OnRead;
  readonly onAnswer?: OnAnswer;
  readonly onFetched?: OnFetched;
  readonly onRequest?: OnRequest;
  /** Called when the explorer begins to refuse the API key, and when it accepts it again. */
  readonly onKeyRefused?: (isRefused: boolean) => void;
}

/** Creates an explorer with a cache, budget, queue, retries and circuit breakers. */
export function createExplorer(
  config: ExplorerConfig,
  { cache, redis, log, scope = "", onRequest = () => {}, onKeyRefused = () => {}, ...rest }: ExplorerDeps,
): WatchedExplorer {
  const troubles = new Map<ExplorerTrouble, number>();
  let isHeard = false;
  const { apiUrl, apiKey, requestsPerMinute, concurrency, variables } = config;
  const settings = [variables.key, variables.url];
  const localBudget = createBudget(requestsPerMinute);
  const budget = redis
    ? createSharedBudget(
        redis,
        requestsPerMinute,
        localBudget,
        `${REDIS_PREFIX}quota:${digest(scope + apiUrl + apiKey)}`,
      )
    : localBudget;
  const upstream = createUpstream({
    get: createHttp(config),
    queue: createQueue({ budget, concurrency }),
    onDown(err) {
      isHeard = true;
      troubles.set("failing", performance.now());
      log.warn({ err, settings: [variables.url] }, "The explorer does not answer; retrying now and then");
    },
    onRefused(err) {
      isHeard = true;
      troubles.set("refused", performance.now());
      onKeyRefused(true);
      log.error(
        { err, settings },
        "The explorer refuses EXPLORER_API_KEY, or EXPLORER_API_URL is wrong; retrying",
      );
    },
    onBack(trouble) {
      troubles.delete(trouble);
      if (trouble === "refused") onKeyRefused(false);
      log.info({}, "The explorer answers again");
    },
    onWithheld: (err, endpoint) =>
      log.error(
        { err, endpoint, settings },
        "The explorer restricts an endpoint for this key, or EXPLORER_API_URL is wrong",
      ),
    onRequest(outcome) {
      isHeard ||= outcome.status === "200";
      onRequest(outcome);
    },
  });
  const service = createExplorerService({ upstream, cache, origin: digest(scope + apiUrl), ...rest });
  return { ...service, troubles: () => (isHeard ? troubles : undefined) };
}
