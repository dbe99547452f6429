import { type SandboxExplorer, startSandboxExplorer } from "../../sandbox/explorer/server.js";
import { type Budget, createBudget } from "../../src/explorer/budget.js";
import { ExplorerError } from "../../src/explorer/errors.js";
import type { OnFetched } from "../../src/explorer/flights.js";
import { createHttp } from "../../src/explorer/http.js";
import { createQueue } from "../../src/explorer/queue.js";
import { createExplorerService, type ExplorerService } from "../../src/explorer/service.js";
import { createUpstream } from "../../src/explorer/upstream.js";
import { createCache } from "../../src/storage/cache.js";
import { SMALL } from "../harness.js";

/** A sandbox's explorer, and a service that asks it. */
export interface OpenService {
  readonly sandbox: SandboxExplorer;
  readonly service: ExplorerService;
  /** Creates another service with this budget. */
  readonly serve: (budget?: Budget, onFetched?: OnFetched) => ExplorerService;
  /** Notices to the operator: "down", "refused", "back" and "withheld" with an endpoint. */
  readonly news: string[];
}

/** Starts an explorer and a service. Close the explorer at the end. */
export async function openService(now: () => number = Date.now): Promise<OpenService> {
  const sandbox = await startSandboxExplorer({ size: SMALL, lively: false });
  const news: string[] = [];
  const serve: OpenService["serve"] = (budget = createBudget(6_000), onFetched = () => {}) => {
    const upstream = createUpstream({
      get: createHttp({ apiUrl: `${sandbox.url}/v1`, apiKey: sandbox.key }),
      queue: createQueue({ budget, concurrency: 4 }),
      onDown: () => news.push("down"),
      onRefused: () => news.push("refused"),
      onBack: () => news.push("back"),
      onWithheld: (_, endpoint) => news.push(`withheld ${endpoint}`),
    });
    return createExplorerService({
      upstream,
      cache: createCache({ memoryMb: 8, log: { warn: () => {} } }),
      now,
      onFetched,
    });
  };
  return { sandbox, service: serve(), serve, news };
}

/** Returns the problem with which work fails, or "no error". */
export const problemOf = (work: Promise<unknown>) =>
  work.then(
    () => "no error",
    (error: unknown) => (error instanceof ExplorerError ? error.problem : error),
  );
