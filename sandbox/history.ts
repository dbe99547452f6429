import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { builtFile } from "./built-files.js";
import { createMessage } from "./discord/messages.js";
import type { Channel, Message } from "./discord/world.js";
import type { Stack } from "./stack.js";

const TOOL = builtFile("state-tool");
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Age of the bot's simulated past, in ms. */
export const PAST_MS = 49 * HOUR;

/** Returns a month of prices that end at this one, with a sample every five minutes and one night missing. */
function inventPrices(price: number, now: number): [number, string][] {
  const samples: [number, string][] = [];
  for (let age = 30 * 24 * 60; age >= 5; age -= 5) {
    if (age > 14 * 60 && age < 17 * 60) continue;
    const days = age / (24 * 60);
    const swing = Math.sin(days * 1.7) * 0.02 + Math.sin(days * 9) * 0.006 + Math.sin(days * 61) * 0.002;
    const start = (Math.min(days, 12) / 12) * -0.06;
    samples.push([now - age * MINUTE, (price * (1 + (swing + start) * Math.min(1, days * 4))).toFixed(6)]);
  }
  return samples;
}

/** Runs the state tool, as an operator would. */
function runTool(dataDir: string, ...given: string[]): void {
  const { status, stderr } = spawnSync(process.execPath, [TOOL, ...given], {
    env: { PATH: process.env.PATH, DATA_DIR: dataDir },
    cwd: dataDir,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`The state's tool failed at ${given[0]}: ${stderr}`);
}

/**
 * Adds a month of prices to the state of a stopped bot.
 * @param prices the current price, by the name of the collection with a network's samples
 */
export function givePrices(
  dataDir: string,
  prices: Readonly<Record<string, number>>,
  now = Date.now(),
): void {
  const file = join(dataDir, "history.json");
  if (existsSync(join(dataDir, "crier.db"))) runTool(dataDir, "export", file);
  else writeFileSync(file, JSON.stringify({ crier: 1, collections: {} }));
  const state = JSON.parse(readFileSync(file, "utf8")) as { collections: Record<string, unknown> };
  for (const [name, price] of Object.entries(prices))
    state.collections[name] = { samples: inventPrices(price, now) };
  writeFileSync(file, JSON.stringify(state));
  runTool(dataDir, "import", file, "--replace");
  rmSync(file);
}

const WELCOME = `Welcome to the sandbox: the real bot, on a made-up ledger. Three things to try:
**1.** Type \`/validator list\` here, and open a validator from its menu.
**2.** Press **Open a vote request** in _The world around the bot_, and look into <#GOVERNANCE>: its announcement appears there.
**3.** Be **Olga** (top right), type \`/subscribe validator\` with a validator that is 🟢 there, take it down, and let three hours pass.`;

/**
 * Runs the bot through two days, from PAST_MS ago until now: a vote request that opens, is voted on and ends,
 * a few questions, and another vote request.
 */
export async function livePast(place: Stack): Promise<void> {
  const { discord, explorer } = place;
  const { world, driver, channels, people } = discord;
  const { ledger } = explorer;
  ledger.moves = false;
  const reads = () => explorer.requests.filter(({ path }) => path.endsWith("/vote-requests")).length;
  const told = (channel: Channel, pattern: RegExp): Promise<Message> =>
    world.until(
      () => world.read(channel).find(({ notified }) => pattern.test(notified)),
      `${pattern} in #${channel.name}`,
    );
  const { governance, general } = channels;
  // The first read is the baseline and announces nothing.
  await world.until(() => reads() >= 3, "the first reading of the vote requests");
  const first = ledger.openVoteRequest({ motion: "dsoConfig", lastsMs: 30 * HOUR, effectiveInMs: null });
  await told(governance, /New vote request/);
  place.pass(20 * HOUR);
  for (let vote = 0; vote < 8; vote += 1) ledger.castVote(first, true);
  ledger.castVote(first, false);
  await told(governance, /(Accepted|Implemented): /);
  await driver.ask({ user: people.ana, channel: general }, "/network");
  place.pass(24 * HOUR);
  ledger.openVoteRequest({ motion: "feature", effectiveInMs: 8 * 24 * HOUR });
  await told(governance, /New vote request: Feature/);
  place.pass(PAST_MS - 44 * HOUR);
  ledger.moves = true;
  createMessage(
    world,
    general,
    { content: WELCOME.replace("GOVERNANCE", governance.id), allowed_mentions: { parse: [] } },
    { author: people.owner },
  );
}
