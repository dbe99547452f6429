import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import Database from "libsql";
import { type BotProcess, botEnvironment, startBotProcess } from "../bot-process.js";
import { builtFile } from "../built-files.js";
import type { Interaction } from "../discord/interactions.js";
import { type SandboxDiscord, startSandboxDiscord } from "../discord/server.js";
import { createRandom } from "../explorer/random.js";
import { startSandboxExplorer } from "../explorer/server.js";
import { findStrayKey } from "./configurations.js";
import { createCrowd } from "./crowd.js";
import { spoil } from "./hostile-answers.js";
import { createPlay } from "./play.js";
import {
  createDiscordFaults,
  createFullDisk,
  failRegistration,
  importHostileState,
  killImports,
} from "./surroundings.js";

const HEAP_MB = 256;
const WATCH = new URL("../watch-blocks.mjs", import.meta.url).href;
/** Interval between moves, in ms. */
const EVERY_MS = 25;
/** Maximum time by which the clock advances at once, in ms, and the same with a crowd, whose alerts take hours. */
const MOST_PASSED_MS = 4 * 60_000;
const CROWD_PASSED_MS = 20 * 60_000;
/** Maximum time until the first answer, in ms. Discord allows 3 s, but the machine is shared. */
const ANSWER_MS = 10_000;
/** Maximum time for which the play waits for complete answers, in ms. */
const PATIENCE_MS = 1_000;
/** The same if the clock has not advanced for a while, and that while, in ms. */
const LONG_PATIENCE_MS = 60_000;
const RARELY_MS = 4_000;
/**
 * Maximum size of a document in the state, in characters. The directory of a small ledger has about ten
 * thousand.
 */
const MAX_DOCUMENT = 200_000;
/**
 * Maximum number of entries in a list of names (the explorer's 51 pages), and maximum characters per entry.
 */
const MAX_ENTRIES = 5_100;
const MAX_ENTRY = 1_000;

/** Length of a run from which imports are killed and Discord fails, too, in ms. Both cost seconds. */
const LONG_MS = 60_000;
/** Maximum time until the commands are registered, in ms. */
const REGISTERED_MS = 90_000;

/** Time for which an interaction can be answered, in ms (Discord: 15 minutes). */
const TOKEN_MS = 15 * 60_000;
/** Duration of an event loop turn of the sandbox that counts as a stall, in ms. */
const STALL_MS = 300;

/** Matches errors of commands that took longer than the bot waits when it stops. */
const STOPPED = /Expected token to be set for this request/;
/** Matches log lines of unexpected errors. */
const FAULTS =
  /Unexpected error|could not be answered|Uncaught error|[Uu]nhandled|A background job failed|could not be drawn/;
const SET_ASIDE = /cannot be read; it was set aside/;
/** Discord's error code for a thread that is archived already. */
const THREAD_ARCHIVED = 50_083;
/** Answer if the explorer refuses the key. It never does here, even if it withholds an endpoint or two. */
const KEY_REFUSED = /isn't accepting this bot's key/;
/** Maximum number of watches per person, and of subscriptions per channel and feed. */
const MAX_WATCHES = 20;
const MAX_PER_CHANNEL = 25;
const VALIDATORS = /\/validators$/;
const ENDPOINTS = [/\/updates/, /\/dashboard/, /\/transfers/, /\/parties\/top/, /\/rewards/, /\/market/];

export interface FuzzOptions {
  readonly seed: number;
  readonly ms: number;
  /** Pattern for paths whose answers are corrupted, by default all. */
  readonly only?: RegExp | undefined;
  /** Folder for a CPU profile of the bot. */
  readonly profile?: string | undefined;
  /** Factor by which periodic jobs run more often, 1 by default. */
  readonly hurry?: number | undefined;
  /** True to show what blocked the event loop. */
  readonly explains?: boolean | undefined;
  /** Duration from which a block of the event loop is a finding, in ms, 200 by default. */
  readonly blocksFromMs?: number | undefined;
}

/** Problems, one line each. Empty if there are none. */
export interface FuzzReport {
  readonly findings: readonly string[];
  readonly interactions: number;
  readonly answers: number;
}

/** True if a document is only large because of its number of entries. */
function isListOfNames(document: string): boolean {
  const { entries } = JSON.parse(document) as { entries: object[] };
  return entries.length <= MAX_ENTRIES && entries.every((each) => JSON.stringify(each).length <= MAX_ENTRY);
}

/** Returns the limits that the subscriptions of a stopped bot exceed. */
function exceededLimits(dataDir: string): readonly string[] {
  if (!existsSync(join(dataDir, "crier.db"))) return [];
  const db = new Database(join(dataDir, "crier.db"));
  const rows = db.prepare("SELECT document FROM documents WHERE collection = 'subscriptions'").all() as {
    document: string;
  }[];
  db.close();
  const counts = new Map<string, number>();
  for (const { document } of rows) {
    const { userId, channelId, feed } = JSON.parse(document) as Record<string, unknown>;
    const owner = typeof userId === "string" ? `person ${userId}` : `channel ${channelId} and ${feed}`;
    counts.set(owner, (counts.get(owner) ?? 0) + 1);
  }
  return [...counts].flatMap(([owner, count]) =>
    count > (owner.startsWith("person") ? MAX_WATCHES : MAX_PER_CHANNEL)
      ? [`${count} subscriptions of the ${owner}`]
      : [],
  );
}

/** Returns problems for documents that are too large in the state of a stopped bot. */
function largeDocuments(dataDir: string): readonly string[] {
  if (!existsSync(join(dataDir, "crier.db"))) return [];
  const db = new Database(join(dataDir, "crier.db"));
  const query = "SELECT collection, id, document FROM documents WHERE length(document) > ?";
  const rows = db.prepare(query).all(MAX_DOCUMENT) as { collection: string; id: string; document: string }[];
  db.close();
  return rows
    .filter(({ collection, document }) => collection !== "directory" || !isListOfNames(document))
    .map(
      ({ collection, id, document }) =>
        `The state keeps something large: ${collection}/${id.slice(0, 200)}, ${document.length} characters`,
    );
}

function refusedBy({ world }: SandboxDiscord): readonly string[] {
  // After a lost answer, the bot archives a thread again.
  const refusals = world.refusals.filter(
    ({ status, body }) => status < 500 && !("code" in body && body.code === THREAD_ARCHIVED),
  );
  const lines = refusals.map((each) => `Discord refused ${JSON.stringify(each).slice(0, 400)}`);
  const blamed = [...world.messages.values()].flat().find(({ content }) => KEY_REFUSED.test(content));
  return blamed ? [...lines, `It blamed the key: ${blamed.content}`] : lines;
}

/** @param isHostile true if the imported state had corrupted documents */
function faultsIn(bot: BotProcess, isHostile: boolean): readonly string[] {
  const lines = bot.output().split("\n");
  const isFault = (line: string) =>
    (FAULTS.test(line) && !STOPPED.test(line)) || (!isHostile && SET_ASIDE.test(line));
  // AbortError means that the sandbox did not accept an answer within 15 s.
  return lines
    .filter((line) => isFault(line) && !line.includes('"type":"AbortError"'))
    .map((line) => `It logged ${line.slice(0, 700)}`);
}

/**
 * Fuzzes the built bot in a process with a small heap, while the explorer returns corrupted answers. The seed
 * determines moves and answers. Their timing depends on the machine.
 */
export async function fuzz({
  seed,
  ms,
  only,
  profile,
  hurry = 1,
  explains,
  blocksFromMs = 200,
}: FuzzOptions): Promise<FuzzReport> {
  const random = createRandom(seed);
  // A separate generator, so that answers do not depend on the progress of the moves.
  const spoiling = createRandom(seed + 1_000_003);
  // The clock advances quickly, because otherwise most answers would come from the cache.
  let passed = 0;
  const now = () => Date.now() + passed;
  const explorer = await startSandboxExplorer({
    now,
    size: { validators: 45, parties: 120, voteRequests: 25, superValidators: 13, updates: 60, tokens: 40 },
    lively: false,
  });
  const discord = await startSandboxDiscord({ now });
  // The sandbox creates huge answers on the same machine, so ANSWER_MS checks the bot's speed instead.
  discord.world.respondMs = 60 * 60_000;
  const isCrowded = seed % 4 === 0;
  const env = botEnvironment(discord, explorer, {
    GOVERNANCE_CHANNEL_ID: discord.channels.governance.id,
    GOVERNANCE_POLL_SECONDS: "1",
    ...(isCrowded ? { WATCH_POLL_SECONDS: "5" } : {}),
    EXPLORER_REQUESTS_PER_MINUTE: "6000",
    EXPLORER_CONCURRENCY: "8",
    CACHE_MEMORY_MB: "16",
    SANDBOX_HURRY: String(hurry),
    BLOCKS_FROM_MS: String(blocksFromMs),
    ...(explains ? { FUZZ_EXPLAIN: "1" } : {}),
  });
  const isHostile = seed % 2 === 1;
  const isLong = ms >= LONG_MS;
  const findings = new Set<string>();
  const failedImport = isHostile ? importHostileState(env, createRandom(seed + 2)) : undefined;
  if (failedImport) findings.add(failedImport);
  const crowd = isCrowded ? createCrowd(discord, explorer.ledger) : undefined;
  const failedCrowd = crowd?.import(env);
  if (failedCrowd) findings.add(failedCrowd);
  const killedImport = isHostile && isLong ? killImports(env, createRandom(seed + 5)) : undefined;
  if (killedImport) findings.add(killedImport);
  const strayKey = !isHostile && isLong ? await findStrayKey(env, createRandom(seed + 6)) : undefined;
  if (strayKey) findings.add(strayKey);
  const profiling = profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profile}`];
  const failingRegistration = failRegistration(discord, createRandom(seed + 4));
  const bot = startBotProcess(env, 0, builtFile("main"), [
    `--max-old-space-size=${HEAP_MB}`,
    "--import",
    WATCH,
    ...profiling,
  ]);
  let watching = false;
  bot.child.on("message", (message) => {
    if (watching && typeof message === "object" && message !== null && "blockedMs" in message)
      findings.add(`The event loop stood still: ${JSON.stringify(message)}`);
  });
  const endOf = () => bot.child.exitCode ?? bot.child.signalCode;
  // The bot retries with backoff until Discord takes its commands.
  await discord.world
    .until(() => discord.world.commands.size > 0, "the commands", REGISTERED_MS)
    .catch(() => findings.add(`No commands after ${failingRegistration} failures`));
  await bot.ready().catch((error: unknown) => findings.add(String(error)));

  // Load lazy modules first, so that they do not count as a block.
  const place = { user: discord.people.ana, channel: discord.channels.general };
  for (const command of ["/price", "/validator versions", "/network"])
    await discord.driver.ask(place, command);
  await delay(500);
  watching = true;
  const pass = (by: number) => {
    passed += by;
    return bot.setClock(passed);
  };
  const failedSurge = isLong ? await crowd?.surge(pass) : undefined;
  if (failedSurge) findings.add(failedSurge);

  let answers = 0;
  explorer.mood = (answer, path) => {
    answers += 1;
    // Corrupt half of all answers, because the bot needs some valid ones. For selected endpoints, corrupt
    // nearly all.
    // A crowd's alerts change together only if the bot can read the validators.
    if (!only) return isCrowded && VALIDATORS.test(path) ? answer : spoil(answer, spoiling, 0.5);
    return only.test(path) ? spoil(answer, spoiling, 0.9) : answer;
  };
  const play = createPlay(discord, explorer, random);
  const spoilDiscord = createDiscordFaults(discord, createRandom(seed + 3));
  const disk = createFullDisk(bot.child.pid, createRandom(seed + 7));
  // A key may not be allowed to use every endpoint.
  const restricted = [
    random.pick(ENDPOINTS),
    random.pick(ENDPOINTS),
    ...(seed % 4 === 3 ? [/dashboard$/] : []),
    // With more of them, two are often asked in a row.
    ...(seed % 4 === 2 ? ENDPOINTS.slice(2) : []),
  ];
  for (const path of seed % 4 < 2 ? [] : restricted)
    explorer.injectFault({ kind: "status", status: 403 }, { path });
  let waiting: {
    readonly interaction: Interaction;
    readonly sentAt: number;
    readonly connection: number | undefined;
  }[] = [];
  let interactions = 0;
  // Time during which the sandbox itself stalls, for example for large files, does not count for the bot.
  let stalledMs = 0;
  let turnedAt = performance.now();
  let passedAt = performance.now();
  const ownTime = () => performance.now() - stalledMs;
  /** Returns the bot's current gateway connection, `undefined` between two. */
  const connection = () => {
    const { sessions, resumes, identifies } = discord.gateway;
    return [...sessions.values()].some(({ socket }) => socket) ? resumes + identifies : undefined;
  };
  const lookAtAnswers = () => {
    // Interactions sent over a broken connection arrive too late with the next one. A stalled machine breaks
    // connections.
    waiting = waiting.filter(
      ({ interaction, connection: used }) =>
        (interaction.answered === undefined || interaction.thinking) &&
        used !== undefined &&
        used === connection(),
    );
    const late = waiting.find(
      ({ interaction, sentAt }) => interaction.answered === undefined && ownTime() - sentAt > ANSWER_MS,
    )?.interaction;
    if (!late) return;
    const said = bot
      .output()
      .split("\n")
      .filter((line) => line.includes(late.id));
    findings.add(
      `An interaction of type ${late.type} went unanswered: ${JSON.stringify(late.metadata).slice(0, 300)}\n${said.join("\n")}`,
    );
  };
  const endsAt = performance.now() + ms;
  for (let turn = 0; performance.now() < endsAt && findings.size === 0 && endOf() === null; turn += 1) {
    stalledMs += Math.max(0, performance.now() - turnedAt - STALL_MS);
    turnedAt = performance.now();
    const made = play.move();
    interactions += made.length;
    waiting.push(
      ...made.map((interaction) => ({ interaction, sentAt: ownTime(), connection: connection() })),
    );
    if (turn % 10 === 0) {
      play.ledgerMoves();
      if (isLong) {
        spoilDiscord();
        disk.turn();
      }
      // Interactions that are still in transit would be too late for Discord. Thirty private messages to one
      // person take half a minute (Discord: 5 in 5 s), so the clock does not advance meanwhile.
      const isOver = () =>
        waiting.every(({ interaction }) => interaction.answered !== undefined && !interaction.thinking);
      const patience = performance.now() - passedAt < RARELY_MS ? PATIENCE_MS : LONG_PATIENCE_MS;
      const passes = await discord.world.until(isOver, "the answers", patience).then(
        () => true,
        () => false,
      );
      turnedAt = performance.now();
      if (!passes && patience === LONG_PATIENCE_MS) {
        const [stuck] = waiting.filter(({ interaction }) => interaction.thinking);
        if (stuck)
          findings.add(`Still thinking: ${JSON.stringify(stuck.interaction.metadata).slice(0, 300)}`);
      }
      crowd?.report(passed);
      if (passes) {
        passedAt = performance.now();
        pass(random.int(0, isCrowded ? CROWD_PASSED_MS : MOST_PASSED_MS));
      }
      lookAtAnswers();
      for (const finding of [...refusedBy(discord), ...faultsIn(bot, isHostile)]) findings.add(finding);
      // Delete finished interactions, because a sandbox with a full heap stalls for seconds.
      const { world } = discord;
      discord.driver.forget(now() - TOKEN_MS);
      for (const messages of world.messages.values())
        if (messages.length > 300) messages.splice(0, messages.length - 200);
      world.files.clear();
      if (turn % 400 === 0) discord.requests.length = explorer.requests.length = 0;
    }
    await delay(EVERY_MS);
  }
  const end = endOf();
  if (end !== null) findings.add(`The bot ended (${end}):\n${bot.output().slice(-3_000)}`);
  explorer.mood = undefined;
  disk.free();
  await bot.stop();
  for (const finding of [
    ...refusedBy(discord),
    ...faultsIn(bot, isHostile),
    ...largeDocuments(env.DATA_DIR),
    ...exceededLimits(env.DATA_DIR),
  ])
    findings.add(finding);
  await Promise.all([explorer.close(), discord.close()]);
  rmSync(env.DATA_DIR, { recursive: true, force: true });
  if (findings.size > 0 && end === null) findings.add(`The bot's last lines:\n${bot.output().slice(-3_000)}`);
  return { findings: [...findings], interactions, answers };
}
