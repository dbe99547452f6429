import { spawn } from "node:child_process";
import { once } from "node:events";
import { builtFile } from "../built-files.js";
import type { Random } from "../explorer/random.js";
import { startSandboxExplorer } from "../explorer/server.js";

/** Number of configurations per run. Each takes a second or two. */
const TRIALS = 5;
const SIZE = { validators: 13, parties: 20, voteRequests: 3, superValidators: 5, updates: 5, tokens: 1 };

/**
 * Runs the doctor on two networks, of whose explorers' addresses and keys some are left out.
 * @param env environment of a bot with one network
 * @returns a description if a key was sent to another network's explorer
 */
export async function findStrayKey(env: Record<string, string>, random: Random): Promise<string | undefined> {
  const main = await startSandboxExplorer({ key: "key-of-main", size: SIZE, lively: false });
  const test = await startSandboxExplorer({ key: "key-of-test", size: SIZE, lively: false });
  const { EXPLORER_API_URL, EXPLORER_API_KEY, GOVERNANCE_CHANNEL_ID, ...others } = env;
  const settings = {
    EXPLORER_API_URL: main.url,
    EXPLORER_API_KEY: main.key,
    EXPLORER_API_URL_MAIN: main.url,
    EXPLORER_API_KEY_MAIN: main.key,
    EXPLORER_API_URL_TEST: test.url,
    EXPLORER_API_KEY_TEST: test.key,
  };
  let problem: string | undefined;
  for (let trial = 0; trial < TRIALS && problem === undefined; trial += 1) {
    const given = Object.fromEntries(Object.entries(settings).filter(() => random.chance(0.6)));
    const doctor = spawn(process.execPath, [builtFile("doctor")], {
      env: {
        ...others,
        ...given,
        NETWORKS: "main,test",
        NETWORK_NAME_MAIN: "Main",
        NETWORK_NAME_TEST: "Test",
      },
      stdio: "ignore",
    });
    await once(doctor, "exit");
    for (const { url, key, requests } of [main, test])
      if (requests.some((request) => request.key !== undefined && request.key !== key))
        problem = `With ${Object.keys(given).join(", ")}, ${url === main.url ? "test's key was sent to main" : "main's key was sent to test"}`;
  }
  await Promise.all([main.close(), test.close()]);
  return problem;
}
