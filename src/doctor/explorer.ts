import type { Config } from "../config.js";
import { ExplorerError } from "../explorer/errors.js";
import { createHttp } from "../explorer/http.js";
import { type Finding, fail, pass, warn } from "./finding.js";

/** The explorer and its key, by one cheap request. */
export async function checkExplorer(config: Config["explorer"]): Promise<Finding> {
  const get = createHttp(config);
  const { host } = new URL(config.apiUrl);
  try {
    await get("market/get-price", {}, AbortSignal.timeout(10_000));
    return pass("Explorer", `${host} answers, and accepts the key`);
  } catch (error) {
    const problem = error instanceof ExplorerError ? error.problem : "failing";
    if (problem === "refused")
      return fail(
        "Explorer",
        `${host} refuses the key`,
        "Set EXPLORER_API_KEY to a valid key; check EXPLORER_API_URL too.",
      );
    if (problem === "withheld")
      return fail(
        "Explorer",
        `${host} does not give the price to this key`,
        "Ask the explorer what the key may see; check EXPLORER_API_URL too.",
      );
    if (problem === "missing" || problem === "unreadable")
      return fail(
        "Explorer",
        `${host} answers something else`,
        "Check EXPLORER_API_URL: the service's base address, with or without /v1.",
      );
    if (problem === "limited")
      return warn("Explorer", `${host} asks for fewer requests`, "Lower EXPLORER_REQUESTS_PER_MINUTE.");
    return fail(
      "Explorer",
      `${host} does not answer (${problem})`,
      "Check EXPLORER_API_URL, and that this machine reaches it.",
    );
  }
}
