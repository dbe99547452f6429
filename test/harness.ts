import { type BotProcess, botEnvironment, startBotProcess } from "../sandbox/bot-process.js";
import { type SandboxDiscord, startSandboxDiscord } from "../sandbox/discord/server.js";
import {
  type SandboxExplorer,
  type SandboxExplorerOptions,
  startSandboxExplorer,
} from "../sandbox/explorer/server.js";

/** A small ledger: fast to make, and with more than one page of everything. */
export const SMALL = {
  validators: 45,
  parties: 120,
  voteRequests: 25,
  superValidators: 13,
  updates: 60,
  tokens: 3,
};

/** The built bot between the two sandboxes. */
export interface Harness {
  readonly explorer: SandboxExplorer;
  readonly discord: SandboxDiscord;
  readonly bot: () => BotProcess;
  /** Ends the bot and starts it again on the same data. */
  restart(more?: Record<string, string>): Promise<void>;
  /** The time for the bot, the ledger and Discord alike, epoch ms. */
  now(): number;
  /** Lets time pass for all three. */
  pass(ms: number): void;
  close(): Promise<void>;
}

interface Options {
  readonly explorer?: SandboxExplorerOptions;
  readonly env?: (discord: SandboxDiscord) => Record<string, string>;
}

/** Starts both sandboxes and the bot; nothing happens on the ledger by itself. */
export async function startHarness({
  explorer: explorerOptions,
  env = () => ({}),
}: Options = {}): Promise<Harness> {
  let offset = 0;
  const now = () => Date.now() + offset;
  const explorer = await startSandboxExplorer({ size: SMALL, lively: false, now, ...explorerOptions });
  const discord = await startSandboxDiscord({ now });
  const base = botEnvironment(discord, explorer, { EXPLORER_REQUESTS_PER_MINUTE: "6000", ...env(discord) });
  let bot = startBotProcess(base);
  await bot.ready();
  return {
    explorer,
    discord,
    bot: () => bot,
    now,
    pass(ms) {
      offset += ms;
      bot.setClock(offset);
    },
    async restart(more = {}) {
      await bot.stop();
      bot = startBotProcess({ ...base, ...more }, offset);
      await bot.ready();
    },
    async close() {
      await bot.stop();
      await Promise.all([explorer.close(), discord.close()]);
    },
  };
}

/** What a message says, as one text: its content and its embeds. */
export const textOf = (message: { content: string; embeds: object[] }): string =>
  JSON.stringify([message.content, message.embeds]);
