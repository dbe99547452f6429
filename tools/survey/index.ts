import type { ExplorerConfig } from "../../src/config.js";
import { SIGN } from "../../src/doctor/finding.js";
import { differencesIn } from "../../src/explorer/differences.js";
import { type EndpointName, endpointNames } from "../../src/explorer/endpoints.js";
import { unknownWordsIn } from "../../src/ledger/known-words.js";
import { agreementOf } from "./agreement.js";
import { createAnonymizer } from "./anonymous.js";
import { createAsk, type Exchange, isAnswered, pathOf } from "./ask.js";
import { isGrave, meaningOf, SEEN_IN, wordsOf } from "./meaning.js";
import { isDifference, type Observation } from "./observation.js";
import { walk } from "./walk.js";

/** Requests to an explorer and the findings. */
export interface EndpointsCheck {
  readonly exchanges: readonly Exchange[];
  /** In the order of the endpoints. */
  readonly observations: readonly Observation[];
}

/** The bot's timeout for an answer, in ms. */
const GIVEN_UP_MS = 10_000;

/** Returns findings from an endpoint's own answers, or that there are no answers. */
function observe(endpoint: EndpointName, exchanges: readonly Exchange[]): Observation[] {
  const asked = exchanges.filter((each) => each.endpoint === endpoint && !each.isProbe);
  const answered = asked.filter(isAnswered);
  const [first] = asked;
  if (!first) return [notAsked(endpoint, exchanges)];
  if (answered.length === 0) return [unanswered(first)];
  const slowest = Math.max(...answered.map(({ ms }) => ms));
  const answers = answered.map(({ json }) => json);
  const words = answers.flatMap((json) => unknownWordsIn(endpoint, json));
  return [
    ...[...differencesIn(endpoint, ...answers), ...words].map((difference) => ({
      endpoint,
      result: isGrave(endpoint, difference) ? ("fail" as const) : ("warn" as const),
      path: difference.path,
      detail: wordsOf(endpoint, difference),
      meaning: meaningOf(endpoint, difference),
      ...(difference.kind === "word" && difference.found !== undefined ? { word: difference.found } : {}),
      ...(difference.name === undefined ? {} : { name: difference.name }),
    })),
    ...(slowest > GIVEN_UP_MS ? [slow(endpoint, slowest)] : []),
  ];
}

const slow = (endpoint: EndpointName, ms: number): Observation => ({
  endpoint,
  result: "fail",
  detail: `answered after ${Math.round(ms / 1_000)} s`,
  meaning: `The bot gives up after 10 s: ${SEEN_IN[endpoint]}.`,
});

/**
 * Returns the finding for an endpoint without requests: the explorer does not answer at all, or no id was
 * found.
 */
const notAsked = (endpoint: EndpointName, exchanges: readonly Exchange[]): Observation => {
  const isRefused = exchanges.some(({ outcome }) => outcome === "refused");
  const unread = exchanges.some(isAnswered) ? "no id of one could be read" : "nothing was answered so far";
  const why = isRefused ? "the key is refused" : unread;
  return { endpoint, result: "unasked", detail: `not asked: ${why}` };
};

function unanswered({ endpoint, outcome, status }: Exchange): Observation {
  const words = outcome === "withheld" ? "withheld from this key" : outcome;
  return {
    endpoint,
    result: "fail",
    detail: `no answer: ${words}${status === undefined ? "" : ` (${status})`}`,
    meaning: `Nothing of it is shown: ${SEEN_IN[endpoint]}.`,
  };
}

/**
 * Requests every endpoint with the operator's API key, about 40 requests within the budget, and compares the
 * answers with the documentation.
 * @param onProgress called before each request with the number of requests sent so far
 */
export async function checkEndpoints(
  config: ExplorerConfig,
  {
    tokenId,
    onProgress,
  }: { readonly tokenId?: string | undefined; readonly onProgress: (sent: number) => void },
): Promise<EndpointsCheck> {
  const exchanges: Exchange[] = [];
  let sent = 0;
  const ask = createAsk(
    config,
    () => {
      sent += 1;
      onProgress(sent);
    },
    (exchange) => exchanges.push(exchange),
  );
  const walked: Observation[] = [];
  for await (const observation of walk({ ask, tokenId })) walked.push(observation);
  walked.push(...agreementOf(exchanges));
  const observations = endpointNames.flatMap((endpoint) => {
    const own = walked.filter((each) => each.endpoint === endpoint);
    const isSaid = own.some(({ detail }) => detail.startsWith("not asked"));
    const all = [...(isSaid ? [] : observe(endpoint, exchanges)), ...own];
    const distinct = new Map(all.map((each) => [JSON.stringify([each.path, each.detail]), each]));
    return [...distinct.values()];
  });
  return { exchanges, observations };
}

/** Formats rows as aligned columns. */
function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

/** Yields the findings as lines: every endpoint, then each difference with its effect on people. */
export function* tablesOf({ exchanges, observations }: EndpointsCheck): Generator<string> {
  const worst = (endpoint: EndpointName) => {
    const results = observations.filter((each) => each.endpoint === endpoint).map(({ result }) => result);
    if (results.includes("fail")) return "fail";
    return results.some((result) => result !== "pass") ? "warn" : "pass";
  };
  yield* table([
    [" ", "Endpoint", "Requests", "Slowest", "Result"],
    ...endpointNames.map((endpoint) => {
      const own = exchanges.filter((each) => each.endpoint === endpoint);
      const ownObservations = observations.filter((each) => each.endpoint === endpoint);
      const count = ownObservations.filter(isDifference).length;
      const facts = ownObservations.flatMap((each) => (isDifference(each) ? [] : [each.detail]));
      const expected = own.length > 0 ? ["as expected"] : [];
      const summary = count > 0 ? [`${count} difference${count === 1 ? "" : "s"}`] : expected;
      return [
        SIGN[worst(endpoint)],
        pathOf(endpoint),
        String(own.reduce((sum, { tries }) => sum + tries, 0)),
        own.length === 0 ? "-" : `${Math.round(Math.max(...own.map(({ ms }) => ms)))} ms`,
        [...summary, ...facts].join("; "),
      ];
    }),
  ]);
  const differences = observations.filter(isDifference);
  if (differences.length === 0) return;
  yield "";
  yield* table([
    [" ", "Endpoint", "Where", "What", "What it means for people"],
    ...differences.map(({ endpoint, result, path, detail, meaning }) => [
      SIGN[result === "fail" ? "fail" : "warn"],
      pathOf(endpoint),
      path ?? "",
      detail,
      meaning ?? "",
    ]),
  ]);
}

/** Returns all findings as JSON to attach to an issue. Ids and names are replaced. */
export function reportOf({ exchanges, observations }: EndpointsCheck): string {
  const anonymous = createAnonymizer();
  const toObservation = ({ endpoint: _, word, name, detail, path, ...rest }: Observation) => {
    const field = path?.split(".").at(-1) ?? "";
    return {
      ...rest,
      path: name === undefined ? path : path?.replace(name, () => anonymous.key(name)),
      detail: word === undefined ? detail : detail.replace(word, () => anonymous.word(field, word)),
    };
  };
  const report = {
    node: process.version,
    endpoints: endpointNames.map((endpoint) => ({
      endpoint: pathOf(endpoint),
      observations: observations.filter((each) => each.endpoint === endpoint).map(toObservation),
      requests: exchanges
        .filter((each) => each.endpoint === endpoint)
        .map(({ address, outcome, status, ms, bytes, json }) => ({
          query: address.split("?")[1],
          outcome,
          status,
          ms: Math.round(ms),
          bytes,
          answer: anonymous.json(json, endpoint === "updateDetails"),
        })),
    })),
  };
  return `${JSON.stringify(report, null, 2)}\n`;
}
