import type { ExplorerConfig } from "../config.js";
import { parseAnswer } from "../explorer/client.js";
import { ExplorerError, type ExplorerProblem } from "../explorer/errors.js";
import { createHttp } from "../explorer/http.js";
import { type Finding, fail, pass, warn } from "./finding.js";

/**
 * Returns a finding that explains an explorer's problem and how to fix it.
 * @param reason cause of a missing answer
 */
export function explain(
  what: string,
  { apiUrl, variables: { url, key } }: ExplorerConfig,
  problem: ExplorerProblem,
  reason: string = problem,
): Finding {
  const { host } = new URL(apiUrl);
  switch (problem) {
    case "refused":
      if (reason.includes("redirect"))
        return fail(
          what,
          `${host} ${reason}`,
          `Set ${url} to the address that it redirects to, such as https.`,
        );
      return fail(
        what,
        `${host} refuses the key (${reason})`,
        `Set ${key} to a valid key; check ${url} too.`,
      );
    case "withheld":
      return fail(
        what,
        `${host} does not give the price to this key`,
        `Check ${key} and ${url}. If they're right, ask the explorer what the key may see.`,
      );
    case "missing":
    case "unreadable":
      return fail(
        what,
        `${host} answers something else`,
        `Check ${url}: the service's base address, with or without /v1.`,
      );
    case "limited":
      return warn(what, `${host} asks for fewer requests`, "Lower EXPLORER_REQUESTS_PER_MINUTE.");
    default:
      return fail(
        what,
        `${host} does not answer (${reason})`,
        `Check ${url}, and that this machine reaches it.`,
      );
  }
}

/** Checks the explorer and its key with one cheap request. */
export async function checkExplorer(config: ExplorerConfig, network: string | undefined): Promise<Finding> {
  const checkName = network === undefined ? "Explorer" : `Explorer of ${network}`;
  try {
    const { json } = await createHttp(config)("market/get-price", {}, AbortSignal.timeout(10_000));
    parseAnswer("price", json);
    return pass(checkName, `${new URL(config.apiUrl).host} answers, and accepts the key`);
  } catch (error) {
    if (!(error instanceof ExplorerError)) return explain(checkName, config, "failing", "no answer");
    return explain(checkName, config, error.problem, error.reason);
  }
}
