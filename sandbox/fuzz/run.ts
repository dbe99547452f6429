import { botEnvironment } from "../bot-process.js";
import { startSandboxDiscord } from "../discord/server.js";
import { createRandom, type Random } from "../explorer/random.js";
import { startSandboxExplorer } from "../explorer/server.js";
import { createCrowd } from "./crowd.js";
import { spoil } from "./hostile-answers.js";

/** Length of a run from which imports are killed and Discord fails, too, in ms. Both cost seconds. */
const LONG_MS = 60_000;
/** Time for which an interaction can be answered, in ms (Discord: 15 minutes). */
const TOKEN_MS = 15 * 60_000;
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

/** Starts the sandboxes of a run. Its seed determines what it tests besides the moves. */
export async function setUp({ seed, ms, explains, hurry = 1, blocksFromMs = 200 }: FuzzOptions) {
  // The clock advances quickly, because otherwise most answers would come from the cache.
  const clock = { passedMs: 0 };
  const now = () => Date.now() + clock.passedMs;
  const explorer = await startSandboxExplorer({
    now,
    size: { validators: 45, parties: 120, voteRequests: 25, superValidators: 13, updates: 60, tokens: 40 },
    lively: false,
  });
  const discord = await startSandboxDiscord({ now });
  // The sandbox creates huge answers on the same machine, so the bot's speed is checked elsewhere.
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
  const crowd = isCrowded ? createCrowd(discord, explorer.ledger) : undefined;
  return {
    seed,
    clock,
    now,
    explorer,
    discord,
    env,
    crowd,
    isHostile: seed % 2 === 1,
    isLong: ms >= LONG_MS,
  };
}

/** A run that is set up. */
export type Run = Awaited<ReturnType<typeof setUp>>;

/** Withholds some endpoints from the key in half of all runs. */
export function restrictEndpoints({ seed, explorer }: Run, random: Random) {
  const restricted = [
    random.pick(ENDPOINTS),
    random.pick(ENDPOINTS),
    ...(seed % 4 === 3 ? [/dashboard$/] : []),
    // With more of them, two are often asked in a row.
    ...(seed % 4 === 2 ? ENDPOINTS.slice(2) : []),
  ];
  for (const path of seed % 4 < 2 ? [] : restricted)
    explorer.injectFault({ kind: "status", status: 403 }, { path });
}

/** Corrupts answers of the explorer. Returns a function that counts its answers. */
export function corruptAnswers({ seed, explorer, crowd }: Run, only: RegExp | undefined): () => number {
  // A separate generator, so that answers do not depend on the progress of the moves.
  const random = createRandom(seed + 1_000_003);
  let answers = 0;
  explorer.mood = (answer, path) => {
    answers += 1;
    // Corrupt half of all answers, because the bot needs some valid ones. For selected endpoints, corrupt
    // nearly all.
    // A crowd's alerts change together only if the bot can read the validators.
    if (!only) return crowd && VALIDATORS.test(path) ? answer : spoil(answer, random, 0.5);
    return only.test(path) ? spoil(answer, random, 0.9) : answer;
  };
  return () => answers;
}

/** Deletes finished interactions and old messages, because a sandbox with a full heap stalls for seconds. */
export function forgetOld({ discord, now }: Run) {
  const { world } = discord;
  discord.driver.forget(now() - TOKEN_MS);
  for (const messages of world.messages.values())
    if (messages.length > 300) messages.splice(0, messages.length - 200);
  world.files.clear();
}
