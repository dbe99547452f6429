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
): ExplorerService {
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
    onDown: (err) => log.warn({ err }, "The explorer is not answering; it is tried again from time to time"),
    onRefused: (err) =>
      log.error(
        { err, settings },
        "The explorer refuses EXPLORER_API_KEY (or EXPLORER_API_URL is wrong); it is tried again",
      ),
    onBack: () => log.info({}, "The explorer answers again"),
    onWithheld: (err, endpoint) =>
      log.error(
        { err, endpoint, settings },
        "The explorer withholds an endpoint: the key may not see it, or EXPLORER_API_URL is wrong",
      ),
    onRequest,
  });
  return createExplorerService({ upstream, cache, origin: digest(scope + apiUrl), ...rest });
}
