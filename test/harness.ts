import { newDataDir } from "../sandbox/bot-process.js";
import type { SandboxExplorer } from "../sandbox/explorer/server.js";
import { makeStack, SMALL, type Stack, type StackOptions } from "../sandbox/stack.js";
import type { ExplorerConfig } from "../src/config.js";
import type { SelfReport } from "../src/delivery/module.js";
import { createDirectory } from "../src/directory/directory.js";
import { createNames, type Names } from "../src/directory/names.js";
import { createLinks } from "../src/discord/links.js";
import { createExplorer } from "../src/explorer/index.js";
import { createExplorerService, type ExplorerService } from "../src/explorer/service.js";
import type { Log } from "../src/log.js";
import { createCache } from "../src/storage/cache.js";
import { openFileStore } from "../src/storage/file-store.js";
import { createState, type State } from "../src/storage/state.js";

export { SMALL };

/** The built bot, connected to the sandboxes of Discord and of the explorer. */
export type Harness = Stack;

/** Starts both sandboxes and the bot. The ledger does not change by itself. */
export async function startHarness({
  explorer,
  second,
  discord,
  env = () => ({}),
}: StackOptions = {}): Promise<Harness> {
  const place = await makeStack({
    ...(discord ? { discord } : {}),
    explorer: { size: SMALL, lively: false, ...explorer },
    ...(second ? { second: { size: SMALL, lively: false, ...second } } : {}),
    jobsPerSecond: 5,
    env: (discord) => ({ EXPLORER_REQUESTS_PER_MINUTE: "6000", ...env(discord) }),
  });
  place.discord.limits.channelMs = 500;
  await place.start();
  return place;
}

/** Returns the text that a message notified with and its embeds as one text. An edit may have changed its content since. */
export const textOf = (message: { content: string; notified?: string; embeds: object[] }): string =>
  JSON.stringify([message.notified || message.content, message.embeds]);

/** The report of a bot without problems. */
export const NO_TROUBLE: SelfReport = {
  troubles: () => new Map(),
  unforeseen: () => [],
  explorerVariables: [],
  commandsProblem: () => null,
  waitingMs: async () => 0,
  unread: () => [],
};

/** A log that discards everything. */
export const quiet: Log = { debug() {}, info() {}, warn() {}, error() {} };

/** Returns the configuration for a sandbox's explorer, without limits and without a web explorer. */
export const explorerConfigOf = ({ url, key }: Pick<SandboxExplorer, "url" | "key">): ExplorerConfig => ({
  apiUrl: `${url}/v1`,
  apiKey: key,
  requestsPerMinute: 100_000,
  concurrency: 4,
  pages: {
    update: undefined,
    event: undefined,
    party: undefined,
    validator: undefined,
    contract: undefined,
    proposal: undefined,
  },
  variables: { url: "EXPLORER_API_URL", key: "EXPLORER_API_KEY" },
});

/** Creates the bot's explorer service for a sandbox's explorer, with a separate cache. */
export const newExplorer = (
  sandbox: Pick<SandboxExplorer, "url" | "key">,
  now?: () => number,
): ExplorerService =>
  createExplorer(explorerConfigOf(sandbox), {
    cache: createCache({ memoryMb: 8, log: quiet }),
    log: quiet,
    ...(now ? { now } : {}),
  });

/** Creates names that know only what is learnt. Nothing is read from an explorer. */
export const newNames = (state: State, directory = createDirectory()): Names =>
  createNames({
    directory,
    explorer: createExplorerService({
      upstream: () => Promise.reject(new Error("No explorer")),
      cache: createCache({ memoryMb: 1, log: quiet }),
    }).for("background"),
    state,
    log: quiet,
  });

/** Creates a state in a new folder. */
export const newState = (): State => createState(openFileStore(newDataDir()), { log: quiet });

/** Creates links that keep ids in a Map if they do not fit into an address. */
export function newLinks(network?: string) {
  const ids = new Map<string, string>();
  const keys = {
    remember: (key: string, id: string) => void ids.set(key, id),
    hold() {},
    resolve: async (key: string) => ids.get(key),
  };
  return { ids, ...createLinks(keys, () => network) };
}
