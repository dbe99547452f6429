import type { ExplorerConfig } from "../../config.js";
import { differencesIn } from "../../explorer/differences.js";
import { type EndpointName, endpointNames } from "../../explorer/endpoints.js";
import { unknownWordsIn } from "../../ledger/known-words.js";
import { createAnonymizer } from "./anonymous.js";
import { createAsk, type Exchange, pathOf } from "./ask.js";
import { isGrave, meaningOf, SEEN_IN, wordsOf } from "./meaning.js";
import type { Observation } from "./observation.js";
import { walk } from "./walk.js";

/** What was asked of an explorer, and what was found out. */
export interface EndpointsCheck {
  readonly exchanges: readonly Exchange[];
  /** In the order of the endpoints. */
  readonly observations: readonly Observation[];
}

/** What an answer shows by itself, or that there is none. */
function observe({ endpoint, outcome, status, json }: Exchange): Observation[] {
  if (outcome !== "answered") return [unanswered(endpoint, outcome, status)];
  return [...differencesIn(endpoint, json), ...unknownWordsIn(endpoint, json)].map((difference) => ({
    endpoint,
    result: isGrave(endpoint, difference) ? "fail" : "warn",
    path: difference.path,
    detail: wordsOf(difference),
    meaning: meaningOf(endpoint, difference),
  }));
}

function unanswered(
  endpoint: EndpointName,
  outcome: Exchange["outcome"],
  status: number | undefined,
): Observation {
  const words = outcome === "withheld" ? "withheld from this key" : outcome;
  return {
    endpoint,
    result: "fail",
    detail: `no answer: ${words}${status === undefined ? "" : ` (${status})`}`,
    meaning: `Nothing of it is shown: ${SEEN_IN[endpoint]}.`,
  };
}

/** The first of an endpoint's exchanges, and each that was answered: what later ones are refused is told by the walk itself. */
const tellingOf = (exchanges: readonly Exchange[], endpoint: EndpointName): readonly Exchange[] => {
  const own = exchanges.filter((each) => each.endpoint === endpoint);
  const answered = own.filter(({ outcome }) => outcome === "answered");
  return answered.length > 0 ? answered : own.slice(0, 1);
};

/**
 * Asks every endpoint with the operator's own key, some 40 requests within the budget, and compares the answers with what the
 * bot expects.
 * @param onProgress called before each request with how many have been sent
 */
export async function checkEndpoints(
  config: ExplorerConfig,
  {
    tokenId,
    onProgress,
  }: { readonly tokenId?: string | undefined; readonly onProgress: (sent: number) => void },
): Promise<EndpointsCheck> {
  const exchanges: Exchange[] = [];
  const ask = createAsk(config, (exchange) => {
    exchanges.push(exchange);
    onProgress(exchanges.length);
  });
  const walked: Observation[] = [];
  for await (const observation of walk({ ask, tokenId })) walked.push(observation);
  const observations = endpointNames.flatMap((endpoint) => {
    const all = [
      ...tellingOf(exchanges, endpoint).flatMap(observe),
      ...walked.filter((each) => each.endpoint === endpoint),
    ];
    const distinct = new Map(all.map((each) => [JSON.stringify([each.path, each.detail]), each]));
    return [...distinct.values()];
  });
  return { exchanges, observations };
}

const SIGN = { pass: "✔", warn: "!", fail: "✖" } as const;

/** Rows in columns. */
function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

/** What was found, as lines: every endpoint, then each difference with what it means for people. */
export function* tablesOf({ exchanges, observations }: EndpointsCheck): Generator<string> {
  const worst = (endpoint: EndpointName) => {
    const results = observations.filter((each) => each.endpoint === endpoint).map(({ result }) => result);
    return results.includes("fail") ? "fail" : results.includes("warn") ? "warn" : "pass";
  };
  yield* table([
    [" ", "Endpoint", "Requests", "Slowest", "Result"],
    ...endpointNames.map((endpoint) => {
      const own = exchanges.filter((each) => each.endpoint === endpoint);
      const others = observations.filter(
        (each) => each.endpoint === endpoint && each.result !== "pass",
      ).length;
      const facts = observations.flatMap((each) =>
        each.endpoint === endpoint && each.result === "pass" ? [each.detail] : [],
      );
      const differences = `${others} difference${others === 1 ? "" : "s"}`;
      return [
        SIGN[worst(endpoint)],
        pathOf(endpoint),
        String(own.length),
        own.length === 0 ? "-" : `${Math.round(Math.max(...own.map(({ ms }) => ms)))} ms`,
        [others > 0 ? differences : "as expected", ...facts].join("; "),
      ];
    }),
  ]);
  const differences = observations.filter(({ result }) => result !== "pass");
  if (differences.length === 0) return;
  yield "";
  yield* table([
    [" ", "Endpoint", "Where", "What", "What it means for people"],
    ...differences.map(({ endpoint, result, path, detail, meaning }) => [
      SIGN[result],
      pathOf(endpoint),
      path ?? "",
      detail,
      meaning ?? "",
    ]),
  ]);
}

/** Everything that was found, as JSON to attach to an issue: its ids and names are replaced. */
export function reportOf({ exchanges, observations }: EndpointsCheck): string {
  const anonymous = createAnonymizer();
  const report = {
    node: process.version,
    endpoints: endpointNames.map((endpoint) => ({
      endpoint: pathOf(endpoint),
      observations: observations
        .filter((each) => each.endpoint === endpoint)
        .map(({ endpoint: _, ...observation }) => observation),
      requests: exchanges
        .filter((each) => each.endpoint === endpoint)
        .map(({ address, outcome, status, ms, bytes, json }) => ({
          query: address.split("?")[1],
          outcome,
          status,
          ms: Math.round(ms),
          bytes,
          answer: anonymous.json(json),
        })),
    })),
  };
  return `${JSON.stringify(report, null, 2)}\n`;
}
