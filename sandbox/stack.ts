import { rmSync } from "node:fs";
import { type BotProcess, botEnvironment, startBotProcess } from "./bot-process.js";
import { type SandboxDiscord, type SandboxDiscordOptions, startSandboxDiscord } from "./discord/server.js";
import {
  type SandboxExplorer,
  type SandboxExplorerOptions,
  startSandboxExplorer,
} from "./explorer/server.js";

/** The built bot with both sandboxes, on one clock. */
export interface Stack {
  readonly explorer: SandboxExplorer;
  /** Explorer of a second network, if there is one. */
  readonly second: SandboxExplorer | undefined;
  readonly discord: SandboxDiscord;
  /** Returns the bot's process that was started last. */
  readonly bot: () => BotProcess;
  /** Starts the bot on the existing data, and waits until it is ready. */
  start(more?: Record<string, string>): Promise<void>;
  /** Stops the bot and starts it again. */
  restart(more?: Record<string, string>): Promise<void>;
  /** Folder of the bot's state. */
  readonly dataDir: string;
  /** Returns the time of the bot, the ledger and Discord, epoch ms. */
  now(): number;
  /** Advances the clock of all three. Resolves once the bot's clock is set. */
  pass(ms: number): Promise<void>;
  close(): Promise<void>;
}

/** Time between two reports of a validator on today's network, in ms. */
export const REPORT_MS = 65 * 60_000;

/** Size of a small ledger: fast to create, but its long lists have several pages. */
export const SMALL = {
  validators: 45,
  parties: 120,
  voteRequests: 25,
  superValidators: 13,
  updates: 60,
  tokens: 3,
};

export interface StackOptions {
  readonly explorer?: SandboxExplorerOptions;
  /** Options of a second network, which has the same validators. */
  readonly second?: SandboxExplorerOptions;
  readonly discord?: SandboxDiscordOptions;
  /** Time in the past at which everything begins, in ms before now. */
  readonly agoMs?: number;
  /** Start time of a clock that advances one millisecond per run of a job that runs every second, epoch ms. */
  readonly clockAt?: number;
  /** Runs per second of the jobs that the bot runs once a second, 1 by default. */
  readonly jobsPerSecond?: number;
  readonly env?: (discord: SandboxDiscord) => Record<string, string>;
}

/** Returns the environment for a second network, in addition to the default one. */
const networksOf = ({ url, key }: SandboxExplorer): Record<string, string> => ({
  NETWORKS: "main,test",
  NETWORK_NAME_MAIN: "MainNet",
  NETWORK_NAME_TEST: "TestNet",
  EXPLORER_API_URL_TEST: url,
  EXPLORER_API_KEY_TEST: key,
  COIN_TEST: "TC",
});

/** Creates both sandboxes. Call `start` to start the bot. */
export async function makeStack({
  explorer: explorerOptions,
  second: secondOptions,
  discord: discordOptions,
  agoMs = 0,
  clockAt,
  jobsPerSecond = 1,
  env = () => ({}),
}: StackOptions): Promise<Stack> {
  let offset = -agoMs;
  const madeAt = performance.now();
  const now = () =>
    (clockAt === undefined
      ? Date.now()
      : clockAt + Math.floor(((performance.now() - madeAt) * jobsPerSecond) / 1_000)) + offset;
  const explorer = await startSandboxExplorer({ now, ...explorerOptions });
  const discord = await startSandboxDiscord({ now, ...discordOptions });
  const { ledger: sibling } = explorer;
  const second =
    secondOptions &&
    (await startSandboxExplorer({ now, seed: 8, sibling, key: "second-key", ...secondOptions }));
  const base = botEnvironment(discord, explorer, {
    ...(second ? networksOf(second) : {}),
    ...(clockAt === undefined ? {} : { SANDBOX_CLOCK_AT: String(clockAt) }),
    SANDBOX_JOBS_PER_SECOND: String(jobsPerSecond),
    ...env(discord),
  });
  let bot: BotProcess | undefined;
  const running = (): BotProcess => {
    if (!bot) throw new Error("The bot has not been started");
    return bot;
  };
  const stack: Stack = {
    explorer,
    second,
    discord,
    bot: running,
    dataDir: base.DATA_DIR,
    now,
    pass(ms) {
      offset += ms;
      const isKnown = bot?.setClock(offset) ?? Promise.resolve();
      discord.world.changed();
      return isKnown;
    },
    async start(more = {}) {
      bot = startBotProcess({ ...base, ...more }, offset);
      await bot.ready();
    },
    async restart(more = {}) {
      await running().stop();
      await stack.start(more);
    },
    async close() {
      await bot?.stop();
      await Promise.all([explorer.close(), second?.close(), discord.close()]);
      rmSync(base.DATA_DIR, { recursive: true, force: true });
    },
  };
  return stack;
}
