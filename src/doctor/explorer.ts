import type { ExplorerConfig } from "../config.js";
import { ExplorerError } from "../explorer/errors.js";
import { createHttp } from "../explorer/http.js";
import { type Finding, fail, pass, warn } from "./finding.js";

/** The explorer and its key, by one cheap request. */
export async function checkExplorer(config: ExplorerConfig, network: string | undefined): Promise<Finding> {
  const what = network === undefined ? "Explorer" : `Explorer of ${network}`;
  const { url, key } = config.variables;
  const get = createHttp(config);
  const { host } = new URL(config.apiUrl);
  try {
    await get("market/get-price", {}, AbortSignal.timeout(10_000));
    return pass(what, `${host} answers, and accepts the key`);
  } catch (error) {
    const problem = error instanceof ExplorerError ? error.problem : "failing";
    if (problem === "refused")
      return fail(what, `${host} refuses the key`, `Set ${key} to a valid key; check ${url} too.`);
    if (problem === "withheld")
      return fail(
        what,
        `${host} does not give the price to this key`,
        `Ask the explorer what the key may see; check ${url} too.`,
      );
    if (problem === "missing" || problem === "unreadable")
      return fail(
        what,
        `${host} answers something else`,
        `Check ${url}: the service's base address, with or without /v1.`,
      );
    if (problem === "limited")
      return warn(what, `${host} asks for fewer requests`, "Lower EXPLORER_REQUESTS_PER_MINUTE.");
    return fail(
      what,
      `${host} does not answer (${problem})`,
      `Check ${url}, and that this machine reaches it.`,
    );
  }
}
