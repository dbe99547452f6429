import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { type BotProcess, startBotProcess } from "../sandbox/bot-process.js";
import type { Given, Place } from "../sandbox/discord/driver.js";
import type { Interaction } from "../sandbox/discord/interactions.js";
import { type SandboxDiscord, startSandboxDiscord } from "../sandbox/discord/server.js";
import type { Message } from "../sandbox/discord/world.js";
import { memoryOf as memoryOfProcess } from "../sandbox/process-memory.js";

/** A bot, and the sandbox's Discord to which it is connected. */
export interface Subject {
  readonly discord: SandboxDiscord;
  readonly bot: BotProcess;
  /** Returns a place to type commands, with another person for each call. */
  somebody(): Place;
}

/** Linux counts CPU time in hundredths of a second. */
const TICKS_PER_SECOND = 100;

/** Returns the CPU seconds that a process has used. */
export function cpuOf({ child }: BotProcess): number {
  const columns = readFileSync(`/proc/${child.pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(columns[11]) + Number(columns[12])) / TICKS_PER_SECOND;
}

/** Returns the memory usage of a bot in MB. */
export const memoryOf = ({ child }: BotProcess): number => memoryOfProcess(child.pid ?? 0);

/** Preloaded into the bot: reports blocks of the event loop, without the time in which another process had the CPU. */
export const WATCHED = {
  NODE_OPTIONS: `--import ${new URL("../sandbox/watch-blocks.mjs", import.meta.url).href}`,
  BLOCKS_FROM_MS: "10",
};

/** Returns a function that returns the longest block of the bot's event loop since its last call, in ms (0: below 10). */
export function watchBlocks({ child }: BotProcess): () => number {
  let longestMs = 0;
  child.on("message", (message) => {
    if (typeof message === "object" && message !== null && "blockedMs" in message)
      longestMs = Math.max(longestMs, Number(message.blockedMs));
  });
  return () => {
    const sinceLast = longestMs;
    longestMs = 0;
    return sinceLast;
  };
}

export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

/** Returns the smallest value that at least this part of the values does not exceed (nearest rank). */
export const percentile = (values: readonly number[], part: number): number =>
  values.toSorted((a, b) => a - b)[Math.ceil(values.length * part) - 1] ?? Number.NaN;

/** Creates people who type in turns. */
export function crowd(discord: SandboxDiscord, size: number): () => Place {
  const users = Array.from({ length: size }, (_, at) => {
    const user = discord.world.addUser(`Person ${at}`);
    discord.guild.members.set(user.id, []);
    return user;
  });
  let at = 0;
  return () => {
    at = (at + 1) % users.length;
    return { user: users[at] ?? discord.people.ana, channel: discord.channels.general };
  };
}

/** Deletes the sandbox's history, so that it doesn't affect the measurements. */
export function forgetPast({ discord }: Pick<Subject, "discord">): void {
  for (const messages of discord.world.messages.values()) messages.length = 0;
  discord.world.files.clear();
  discord.driver.forget();
  discord.requests.length = 0;
}

/** Types a command repeatedly, with limited concurrency, and waits for each first answer. */
export async function inTurns(
  { discord, somebody }: Subject,
  count: number,
  atOnce: number,
  type: (place: Place) => Interaction,
): Promise<Interaction[]> {
  const all: Interaction[] = [];
  const one = async () => {
    while (all.length < count) {
      const interactions = type(somebody());
      all.push(interactions);
      await discord.world.until(() => interactions.answeredAt, "an answer", 20_000);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
  return all;
}

/**
 * Types commands at a fixed rate, without waiting for answers (open loop). Returns the response times in ms.
 */
export async function inOpenLoop(
  { discord, somebody }: Subject,
  perSecond: number,
  ms: number,
  type: (place: Place) => Interaction,
): Promise<number[]> {
  const all: Interaction[] = [];
  const startedAt = performance.now();
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const elapsed = performance.now() - startedAt;
      const due = (Math.min(elapsed, ms) / 1_000) * perSecond;
      while (all.length < due) all.push(type(somebody()));
      if (elapsed < ms) return;
      clearInterval(timer);
      resolve();
    }, 1);
  });
  await discord.world.until(
    () => all.every(({ answeredAt }) => answeredAt !== undefined),
    "every answer",
    20_000,
  );
  return all.map(({ sentAt, answeredAt }) => (answeredAt ?? Number.NaN) - sentAt);
}

const BARE = fileURLToPath(new URL("../dist/bench/bare.js", import.meta.url));

/** Builds the reference bot, so that both bots run as plain JavaScript. */
export async function buildBare(): Promise<void> {
  const entry = fileURLToPath(new URL("bare.ts", import.meta.url));
  await build({ entryPoints: [entry], outfile: BARE, format: "esm", target: "node20", logLevel: "error" });
}

/** Returns the contents of a message, to be sent unchanged. */
export const contentsOf = ({ embeds, components }: Message) => ({ embeds, components });

/** Starts the reference bot on a separate Discord, with the same commands registered. */
export async function startBare(payload: object, commands: object[]): Promise<Subject> {
  const discord = await startSandboxDiscord();
  discord.world.commands.set("", commands);
  const env = {
    DISCORD_TOKEN: discord.token,
    DISCORD_API_URL: discord.url,
    BARE_PAYLOAD: JSON.stringify(payload),
  };
  const bot = startBotProcess(env, 0, BARE);
  await bot.ready();
  return { discord, bot, somebody: crowd(discord, 200) };
}

/** Returns a function that types a command with its options. */
export const typed =
  (discord: SandboxDiscord, command: string, given: Given = {}) =>
  (place: Place): Interaction =>
    discord.driver.type(place, command, given);
