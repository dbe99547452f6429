import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import Database from "libsql";
import { type BotProcess, botEnvironment, startBotProcess } from "../bot-process.js";
import type { Interaction } from "../discord/interactions.js";
import { type SandboxDiscord, startSandboxDiscord } from "../discord/server.js";
import { createRandom } from "../explorer/random.js";
import { startSandboxExplorer } from "../explorer/server.js";
import { spoil } from "./hostile-answers.js";
import { createPlay } from "./play.js";

const HEAP_MB = 256;
const WATCH = new URL("./watch-blocks.mjs", import.meta.url).href;
/** Between two moves, in ms. */
const EVERY_MS = 25;
/** What passes at once at the most, in ms. */
const MOST_PASSED_MS = 4 * 60_000;
/** Discord wants a first answer within 3 s; the machine is shared. */
const ANSWER_MS = 10_000;
/** The largest document of the state, in characters. The directory of a small ledger has some ten thousand. */
const MAX_DOCUMENT = 200_000;
/** A list of names has no more entries than can be reached (the explorer's 51 pages), each with a few short texts. */
const MAX_ENTRIES = 5_100;
const MAX_ENTRY = 1_000;

/** An interaction can be answered for so long, in ms (Discord: 15 minutes). */
const TOKEN_MS = 15 * 60_000;
/** A turn of the sandbox that takes longer is a stall, in ms. */
const STALL_MS = 300;

/** Log lines of faults that nobody expected. */
const FAULTS =
  /Unexpected error|could not be answered|Uncaught error|[Uu]nhandled|A background job failed|could not be drawn|cannot be read; it was set aside/;

export interface FuzzOptions {
  readonly seed: number;
  readonly ms: number;
  /** The bot's built main file (this checkout's by default). */
  readonly main?: string | undefined;
  /** The endpoints whose answers are spoilt, by their paths; by default all of them. */
  readonly only?: RegExp | undefined;
  /** Where a CPU profile of the bot is written to. */
  readonly profile?: string | undefined;
  /** How many times as often jobs run that run every few minutes (1). */
  readonly hurry?: number | undefined;
  /** True if a block is explained. */
  readonly explains?: boolean | undefined;
}

/** What went wrong, each in a line; nothing if all was well. */
export interface FuzzReport {
  readonly findings: readonly string[];
  readonly interactions: number;
  readonly answers: number;
}

/** Whether a document is long by its entries alone. */
function isListOfNames(document: string): boolean {
  const { entries } = JSON.parse(document) as { entries: object[] };
  return entries.length <= MAX_ENTRIES && entries.every((each) => JSON.stringify(each).length <= MAX_ENTRY);
}

/** What the state of a bot that has ended holds that is larger than anything should be. */
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
  const refusals = world.refusals.filter(({ status }) => status < 500);
  return refusals.map((each) => `Discord refused ${JSON.stringify(each).slice(0, 400)}`);
}

function faultsIn(bot: BotProcess): readonly string[] {
  const lines = bot.output().split("\n");
  // Aborted: the sandbox did not take an answer within 15 s.
  return lines
    .filter((line) => FAULTS.test(line) && !line.includes('"type":"AbortError"'))
    .map((line) => `It logged ${line.slice(0, 700)}`);
}

/**
 * Plays with the built bot, in a process with a small heap, while the explorer answers with anything. The seed decides what is
 * played and answered; when, the machine does.
 */
export async function fuzz({
  seed,
  ms,
  main,
  only,
  profile,
  hurry = 1,
  explains,
}: FuzzOptions): Promise<FuzzReport> {
  const random = createRandom(seed);
  // Of its own: what is answered does not depend on how far the play has come.
  const spoiling = createRandom(seed + 1_000_003);
  // Time passes quickly, or nearly every answer would come from the cache.
  let passed = 0;
  const now = () => Date.now() + passed;
  const explorer = await startSandboxExplorer({
    now,
    size: { validators: 45, parties: 120, voteRequests: 25, superValidators: 13, updates: 60, tokens: 40 },
    lively: false,
  });
  const discord = await startSandboxDiscord({ now });
  // The sandbox makes huge answers on the same machine: whether the bot was slow is told by ANSWER_MS.
  discord.world.respondMs = 60 * 60_000;
  const env = botEnvironment(discord, explorer, {
    GOVERNANCE_CHANNEL_ID: discord.channels.governance.id,
    GOVERNANCE_POLL_SECONDS: "1",
    EXPLORER_REQUESTS_PER_MINUTE: "6000",
    EXPLORER_CONCURRENCY: "8",
    CACHE_MEMORY_MB: "16",
    FUZZ_HURRY: String(hurry),
    ...(explains ? { FUZZ_EXPLAIN: "1" } : {}),
  });
  const profiling = profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profile}`];
  const bot = startBotProcess(env, 0, main, [
    `--max-old-space-size=${HEAP_MB}`,
    "--import",
    WATCH,
    ...profiling,
  ]);
  const findings = new Set<string>();
  let watching = false;
  bot.child.on("message", (message) => {
    if (watching && typeof message === "object" && message !== null && "blockedMs" in message)
      findings.add(`The event loop stood still: ${JSON.stringify(message)}`);
  });
  const endOf = () => bot.child.exitCode ?? bot.child.signalCode;
  await bot.ready();

  // What is loaded with the first use is no stranger's doing.
  const place = { user: discord.people.ana, channel: discord.channels.general };
  for (const command of ["/price", "/validator versions", "/network"])
    await discord.driver.ask(place, command);
  await delay(500);
  watching = true;

  let answers = 0;
  explorer.mood = (answer, path) => {
    answers += 1;
    // Half of all: what is never well cannot be played with. Of a few endpoints, nearly all.
    if (!only) return spoil(answer, spoiling, 0.5);
    return only.test(path) ? spoil(answer, spoiling, 0.9) : answer;
  };
  const play = createPlay(discord, explorer, random);
  let waiting: {
    readonly interaction: Interaction;
    readonly sentAt: number;
    readonly connection: number | undefined;
  }[] = [];
  let interactions = 0;
  // The sandbox is busy too, with large files above all: time in which it stands still is not the bot's.
  let stalledMs = 0;
  let turnedAt = performance.now();
  const ownTime = () => performance.now() - stalledMs;
  /** Which of the bot's connections to the gateway is in use; undefined between two. */
  const connection = () => {
    const { sessions, resumes, identifies } = discord.gateway;
    return [...sessions.values()].some(({ socket }) => socket) ? resumes + identifies : undefined;
  };
  const lookAtAnswers = () => {
    // What was sent over a connection that broke comes too late with the next: a machine that stood still breaks them.
    waiting = waiting.filter(
      ({ interaction, connection: used }) =>
        interaction.answered === undefined && used !== undefined && used === connection(),
    );
    const late = waiting.find(({ sentAt }) => ownTime() - sentAt > ANSWER_MS)?.interaction;
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
    if (turn % 20 === 0) {
      play.ledgerMoves();
      // What is on its way would be too late for Discord.
      const isOver = () =>
        waiting.every(({ interaction }) => interaction.answered !== undefined && !interaction.thinking);
      await discord.world.until(isOver, "the answers", ANSWER_MS).catch(() => {});
      turnedAt = performance.now();
      passed += random.int(0, MOST_PASSED_MS);
      bot.setClock(passed);
      lookAtAnswers();
      for (const finding of [...refusedBy(discord), ...faultsIn(bot)]) findings.add(finding);
      // What is over is forgotten: a sandbox with a full heap stands still for seconds.
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
  await bot.stop();
  for (const finding of [...refusedBy(discord), ...faultsIn(bot), ...largeDocuments(env.DATA_DIR)])
    findings.add(finding);
  await Promise.all([explorer.close(), discord.close()]);
  rmSync(env.DATA_DIR, { recursive: true, force: true });
  if (findings.size > 0 && end === null) findings.add(`The bot's last lines:\n${bot.output().slice(-3_000)}`);
  return { findings: [...findings], interactions, answers };
}
