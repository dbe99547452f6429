import { rmSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { type BotProcess, startBotProcess } from "../bot-process.js";
import { builtFile } from "../built-files.js";
import { createRandom } from "../explorer/random.js";
import { findStrayKey } from "./configurations.js";
import { loggedFaults, problemsInState, refusedBy } from "./judgements.js";
import { createPlay } from "./play.js";
import { corruptAnswers, type FuzzOptions, forgetOld, type Run, restrictEndpoints, setUp } from "./run.js";
import {
  createBadDisk,
  createDiscordFaults,
  failRegistration,
  importHostileState,
  killImports,
} from "./surroundings.js";
import { createWaiting } from "./waiting.js";

const HEAP_MB = 256;
const WATCH = new URL("../watch-blocks.mjs", import.meta.url).href;
/** Interval between moves, in ms. */
const EVERY_MS = 25;
/** Maximum time by which the clock advances at once, in ms, and the same with a crowd, whose alerts take hours. */
const MOST_PASSED_MS = 4 * 60_000;
const CROWD_PASSED_MS = 20 * 60_000;
/** Maximum time for which the play waits for complete answers, in ms. */
const PATIENCE_MS = 1_000;
/** The same if the clock has not advanced for a while, and that while, in ms. */
const LONG_PATIENCE_MS = 60_000;
const RARELY_MS = 4_000;
/** Maximum time until the commands are registered, and until the bot has stopped, in ms. */
const REGISTERED_MS = 90_000;
const STOPPED_MS = 60_000;

/** Problems, one line each. Empty if there are none. */
export interface FuzzReport {
  readonly findings: readonly string[];
  readonly interactions: number;
  readonly answers: number;
}

/** Imports states and tries configurations before the bot starts. Returns what failed. */
async function findBeforeStart({ seed, env, crowd, isHostile, isLong }: Run): Promise<readonly string[]> {
  const found = [
    isHostile ? importHostileState(env, createRandom(seed + 2)) : undefined,
    crowd?.import(env),
    isHostile && isLong ? killImports(env, createRandom(seed + 5)) : undefined,
    !isHostile && isLong ? await findStrayKey(env, createRandom(seed + 6)) : undefined,
  ];
  return found.filter((each) => each !== undefined);
}

/** Waits until the bot is ready and has registered its commands. Returns what failed. */
async function findAtStart({ seed, discord }: Run, bot: BotProcess): Promise<readonly string[]> {
  const failures = failRegistration(discord, createRandom(seed + 4));
  const found: string[] = [];
  // The bot retries with backoff until Discord takes its commands.
  await discord.world
    .until(() => discord.world.commands.size > 0, "the commands", REGISTERED_MS)
    .catch(() => found.push(`No commands after ${failures} failures`));
  await bot.ready().catch((error: unknown) => found.push(String(error)));
  return found;
}

/** Plays until the time is up or something is found. Adds to `findings`. Returns the number of interactions. */
async function playMoves(run: Run, bot: BotProcess, ms: number, findings: Set<string>): Promise<number> {
  const { seed, clock, explorer, discord, crowd, isHostile, isLong } = run;
  const random = createRandom(seed);
  const play = createPlay(discord, explorer, random);
  restrictEndpoints(run, random);
  const spoilDiscord = createDiscordFaults(discord, createRandom(seed + 3));
  const disk = createBadDisk(bot.child.pid, run.env.DATA_DIR, createRandom(seed + 7));
  const waiting = createWaiting(discord, bot);
  const add = (finding: string | undefined) => finding !== undefined && findings.add(finding);
  let interactions = 0;
  let passedAt = performance.now();
  /** Advances the clock once all interactions are answered. Those still in transit would be too late for Discord. */
  const advanceClock = async () => {
    // Thirty private messages to one person take half a minute (Discord: 5 in 5 s).
    const patience = performance.now() - passedAt < RARELY_MS ? PATIENCE_MS : LONG_PATIENCE_MS;
    const isAnswered = await discord.world.until(waiting.isOver, "the answers", patience).then(
      () => true,
      () => false,
    );
    waiting.waited();
    if (!isAnswered && patience === LONG_PATIENCE_MS) add(waiting.stillThinking());
    crowd?.report(clock.passedMs);
    if (!isAnswered) return;
    passedAt = performance.now();
    clock.passedMs += random.int(0, crowd ? CROWD_PASSED_MS : MOST_PASSED_MS);
    void bot.setClock(clock.passedMs);
  };
  const endsAt = performance.now() + ms;
  for (let turn = 0; performance.now() < endsAt && findings.size === 0 && !hasEnded(bot); turn += 1) {
    waiting.turn();
    const made = play.move();
    interactions += made.length;
    waiting.add(made);
    if (turn % 10 === 0) {
      play.ledgerMoves();
      if (isLong) {
        spoilDiscord();
        disk.turn();
      }
      await advanceClock();
      add(waiting.late());
      for (const finding of [...refusedBy(discord), ...loggedFaults(bot, isHostile)]) findings.add(finding);
      forgetOld(run);
      if (turn % 400 === 0) discord.requests.length = explorer.requests.length = 0;
    }
    await delay(EVERY_MS);
  }
  disk.free();
  return interactions;
}

const hasEnded = ({ child }: BotProcess) => child.exitCode !== null || child.signalCode !== null;

/** Stops the bot, or kills it if it does not stop. Returns what failed. */
async function findAtEnd({ discord, env, isHostile }: Run, bot: BotProcess): Promise<readonly string[]> {
  const { exitCode, signalCode } = bot.child;
  const ended = hasEnded(bot) ? [`The bot ended (${exitCode ?? signalCode}):`] : [];
  const timer = setTimeout(() => bot.child.kill("SIGKILL"), STOPPED_MS);
  const end = await bot.stop();
  clearTimeout(timer);
  return [
    ...ended,
    ...(end === "SIGKILL" && ended.length === 0 ? ["It did not stop"] : []),
    ...refusedBy(discord),
    ...loggedFaults(bot, isHostile),
    ...problemsInState(env.DATA_DIR),
  ];
}

/**
 * Fuzzes the built bot in a process with a small heap, while the explorer returns corrupted answers. The seed
 * determines moves and answers. Their timing depends on the machine.
 */
export async function fuzz(options: FuzzOptions): Promise<FuzzReport> {
  const run = await setUp(options);
  const { clock, explorer, discord, env, crowd, isLong } = run;
  const findings = new Set(await findBeforeStart(run));
  const { profile } = options;
  const bot = startBotProcess(env, 0, builtFile("main"), [
    `--max-old-space-size=${HEAP_MB}`,
    "--import",
    WATCH,
    ...(profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profile}`]),
  ]);
  let isWatching = false;
  bot.child.on("message", (message) => {
    if (isWatching && typeof message === "object" && message !== null && "blockedMs" in message)
      findings.add(`The event loop stood still: ${JSON.stringify(message)}`);
  });
  const failedStart = await findAtStart(run, bot);
  for (const finding of failedStart) findings.add(finding);
  let interactions = 0;
  let answers = 0;
  if (failedStart.length === 0) {
    // Load lazy modules first, so that they do not count as a block.
    const place = { user: discord.people.ana, channel: discord.channels.general };
    for (const command of ["/price", "/validator versions", "/network"])
      await discord.driver.ask(place, command);
    await delay(500);
    isWatching = true;
    const failedSurge = isLong
      ? await crowd?.surge((by) => {
          clock.passedMs += by;
          return bot.setClock(clock.passedMs);
        })
      : undefined;
    if (failedSurge) findings.add(failedSurge);
    const countAnswers = corruptAnswers(run, options.only);
    interactions = await playMoves(run, bot, options.ms, findings);
    answers = countAnswers();
    explorer.mood = undefined;
  }
  for (const finding of await findAtEnd(run, bot)) findings.add(finding);
  await Promise.all([explorer.close(), discord.close()]);
  rmSync(env.DATA_DIR, { recursive: true, force: true });
  if (findings.size > 0) findings.add(`The bot's last lines:\n${bot.output().slice(-3_000)}`);
  return { findings: [...findings], interactions, answers };
}
