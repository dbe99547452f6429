import type { ExplorerConfig } from "../config.js";
import type { Log } from "../log.js";
import { type Cache, REDIS_PREFIX } from "../storage/cache.js";
import type { Redis } from "../storage/redis.js";
import { digest } from "../util/digest.js";
import { createBudget } from "./budget.js";
import type { OnAnswer } from "./client.js";
import { createHttp } from "./http.js";
import { createQueue } from "./queue.js";
import { createExplorerService, type ExplorerService, type OnRead } from "./service.js";
import { createSharedBudget } from "./shared-budget.js";
import { createUpstream, type OnRequest } from "./upstream.js";

/** Why an explorer as a whole gives nothing: it is not answering, or it refuses the key. */
export type ExplorerTrouble = "failing" | "refused";

/** An explorer, and what ails it. */
export interface WatchedExplorer extends ExplorerService {
  /** What ails it, with since when, by the steady clock, ms; undefined before anything is heard of it. */
  troubles(): ReadonlyMap<ExplorerTrouble, number> | undefined;
}

interface ExplorerDeps {
  readonly cache: Cache;
  /** Where processes share one budget. */
  readonly redis?: Redis | undefined;
  readonly log: Log;
  /** Keeps what several explorers share a cache or a Redis for apart, also where their addresses are the same. */
  readonly scope?: string | undefined;
  readonly now?: () => number;
  readonly onRead?: OnRead;
  readonly onAnswer?: OnAnswer;
  readonly onRequest?: OnRequest;
}

/** The explorer with all that stands before it: cache, budget, queue, retries and breakers. */
export function createExplorer(
  config: ExplorerConfig,
  { cache, redis, log, scope = "", onRequest = () => {}, ...rest }: ExplorerDeps,
): WatchedExplorer {
  const troubles = new Map<ExplorerTrouble, number>();
  let isHeard = false;
  const { apiUrl, apiKey, requestsPerMinute, concurrency, variables } = config;
  const settings = [variables.key, variables.url];
  const own = createBudget(requestsPerMinute);
  const budget = redis
    ? createSharedBudget(
        redis,
        requestsPerMinute,
        own,
        `${REDIS_PREFIX}quota:${digest(scope + apiUrl + apiKey)}`,
      )
    : own;
  const upstream = createUpstream({
    get: createHttp(config),
    queue: createQueue({ budget, concurrency }),
    onDown(err) {
      isHeard = true;
      troubles.set("failing", performance.now());
      log.warn({ err }, "The explorer is not answering; it is tried again from time to time");
    },
    onRefused(err) {
      isHeard = true;
      troubles.set("refused", performance.now());
      log.error(
        { err, settings },
        "The explorer refuses EXPLORER_API_KEY (or EXPLORER_API_URL is wrong); it is tried again",
      );
    },
    onBack(trouble) {
      troubles.delete(trouble);
      log.info({}, "The explorer answers again");
    },
    onWithheld: (err, endpoint) =>
      log.error(
        { err, endpoint, settings },
        "The explorer withholds an endpoint: the key may not see it, or EXPLORER_API_URL is wrong",
      ),
    onRequest(outcome) {
      isHeard ||= outcome.status === "200";
      onRequest(outcome);
    },
  });
  const service = createExplorerService({ upstream, cache, origin: digest(scope + apiUrl), ...rest });
  return { ...service, troubles: () => (isHeard ? troubles : undefined) };
}
