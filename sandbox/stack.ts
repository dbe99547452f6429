import { rmSync } from "node:fs";
import { type BotProcess, botEnvironment, startBotProcess } from "./bot-process.js";
import { type SandboxDiscord, type SandboxDiscordOptions, startSandboxDiscord } from "./discord/server.js";
import {
  type SandboxExplorer,
  type SandboxExplorerOptions,
  startSandboxExplorer,
} from "./explorer/server.js";

/** The built bot between the two sandboxes, with one clock for all three. */
export interface Stack {
  readonly explorer: SandboxExplorer;
  /** The explorer of a second network, if there is one. */
  readonly second: SandboxExplorer | undefined;
  readonly discord: SandboxDiscord;
  /** The bot's process: the last one that was started. */
  readonly bot: () => BotProcess;
  /** Starts the bot, again on the same data, and waits until it is ready. */
  start(more?: Record<string, string>): Promise<void>;
  /** Ends the bot and starts it again. */
  restart(more?: Record<string, string>): Promise<void>;
  /** The folder of the bot's state. */
  readonly dataDir: string;
  /** The time for the bot, the ledger and Discord alike, epoch ms. */
  now(): number;
  /** Lets time pass for all three. Resolves once the bot's process knows. */
  pass(ms: number): Promise<void>;
  close(): Promise<void>;
}

export interface StackOptions {
  readonly explorer?: SandboxExplorerOptions;
  /** Of a second network, whose validators are those of the first one. */
  readonly second?: SandboxExplorerOptions;
  readonly discord?: SandboxDiscordOptions;
  /** How far in the past everything begins, in ms. */
  readonly agoMs?: number;
  /** The time at which a clock begins that runs a thousand times slower than the real one, epoch ms. */
  readonly clockAt?: number;
  readonly env?: (discord: SandboxDiscord) => Record<string, string>;
}

/** What tells the bot of a second network beside the one of its usual settings. */
const networksOf = ({ url, key }: SandboxExplorer): Record<string, string> => ({
  NETWORKS: "main,test",
  NETWORK_NAME_MAIN: "MainNet",
  NETWORK_NAME_TEST: "TestNet",
  EXPLORER_API_URL_TEST: url,
  EXPLORER_API_KEY_TEST: key,
  COIN_TEST: "TC",
});

/** Makes both sandboxes; the bot is started by `start`. */
export async function makeStack({
  explorer: explorerOptions,
  second: secondOptions,
  discord: discordOptions,
  agoMs = 0,
  clockAt,
  env = () => ({}),
}: StackOptions): Promise<Stack> {
  let offset = -agoMs;
  const madeAt = performance.now();
  const now = () =>
    (clockAt === undefined ? Date.now() : clockAt + Math.floor((performance.now() - madeAt) / 1_000)) +
    offset;
  const explorer = await startSandboxExplorer({ now, ...explorerOptions });
  const discord = await startSandboxDiscord({ now, ...discordOptions });
  const { ledger: sibling } = explorer;
  const second =
    secondOptions &&
    (await startSandboxExplorer({ now, seed: 8, sibling, key: "second-key", ...secondOptions }));
  const base = botEnvironment(discord, explorer, {
    ...(second ? networksOf(second) : {}),
    ...(clockAt === undefined ? {} : { SANDBOX_CLOCK_AT: String(clockAt) }),
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
