import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { builtFile } from "../built-files.js";
import { DiscordError } from "../discord/errors.js";
import { RateLimited } from "../discord/rate-limits.js";
import type { SandboxDiscord } from "../discord/server.js";
import type { Random } from "../explorer/random.js";
import { spoil } from "./hostile-answers.js";

const STATE = fileURLToPath(new URL("../../test/states/0.2.0.json", import.meta.url));
const TOOL = builtFile("state-tool");
/** Share of the documents of an imported state that are corrupted. */
const SPOILT_SHARE = 0.3;

interface ExportedState {
  readonly collections: Readonly<Record<string, Record<string, unknown>>>;
}

/** Reads a state of version 0.2.0. */
export const readState = (): ExportedState => JSON.parse(readFileSync(STATE, "utf8")) as ExportedState;

/** Runs the tool that exports and imports the state. */
export const runTool = (env: Record<string, string>, ...parameters: readonly string[]) =>
  spawnSync(process.execPath, [TOOL, ...parameters], { env, encoding: "utf8" });

/** Returns a corrupted value, but of a size that the state may have. */
function spoilt(document: unknown, random: Random): unknown {
  for (;;) {
    const value = spoil(structuredClone(document), random, 1);
    if (JSON.stringify(value ?? null).length < 20_000) return value;
  }
}

/**
 * Imports a state of an earlier version into an empty folder, with corrupted documents.
 * @returns the output if the import failed for another reason than a document that cannot be parsed
 */
export function importHostileState(env: Record<string, string>, random: Random): string | undefined {
  const state = readState();
  for (const documents of Object.values(state.collections))
    for (const [id, document] of Object.entries(documents))
      if (random.chance(SPOILT_SHARE)) documents[id] = spoilt(document, random);
  // A digest with a time zone that this version of Node does not know must cost only itself.
  for (const [id, document] of Object.entries(state.collections.subscriptions ?? {}))
    if (id.startsWith("digest/")) {
      const channelId = `${id.slice("digest/".length, -1)}0`;
      const at = random.pick(["09:00", "99:99"]);
      const settings = { ...(document as object), channelId, zone: "Mars/Phobos", at };
      Object.assign(state.collections.subscriptions ?? {}, { [`digest/${channelId}`]: settings });
    }
  const file = join(env.DATA_DIR ?? "", "hostile.json");
  const text = JSON.stringify(state);
  // A half file must leave everything as it was.
  writeFileSync(file, text.slice(0, random.int(1, text.length - 1)));
  const run = () => runTool(env, "import", file, "--replace");
  const half = run();
  writeFileSync(file, text);
  const whole = run();
  const isClear = ({ status, stderr }: typeof whole) => status === 0 || !/\n\s+at /.test(stderr);
  const failed = [half, whole].find((each) => !isClear(each));
  return failed && `An import failed without a clear error: ${failed.stderr.slice(0, 1_000)}`;
}

/** Number of documents of a large state, whose import takes about a second. */
const MANY = 30_000;

/**
 * Kills imports that replace a state at random moments.
 * @returns a description if what is left is neither the old state nor the new one
 */
export function killImports(env: Record<string, string>, random: Random): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), "crier-import-"));
  const run = (parameters: readonly string[], timeout?: number) =>
    spawnSync(process.execPath, [TOOL, ...parameters], {
      env: { ...env, DATA_DIR: folder },
      encoding: "utf8",
      killSignal: "SIGKILL",
      maxBuffer: 100_000_000,
      ...(timeout === undefined ? {} : { timeout }),
    });
  const sizeOf = (generation: string): number =>
    run(["export", "-"]).stdout.split(`"generation":"${generation}"`).length - 1;
  const write = (generation: string): string => {
    const file = join(folder, `${generation}.json`);
    const documents = Array.from(
      { length: MANY },
      (_, at) => [`${generation}-${at}`, { generation }] as const,
    );
    const fuzzed = Object.fromEntries(documents);
    writeFileSync(file, JSON.stringify({ crier: 1, collections: { fuzzed, other: fuzzed } }));
    return file;
  };
  const files = { old: write("old"), new: write("new") };
  run(["import", files.old]);
  const startedAt = performance.now();
  run(["import", files.old, "--replace"]);
  const wholeMs = Math.ceil(performance.now() - startedAt);
  let problem: string | undefined;
  for (let kill = 0; kill < 4 && problem === undefined; kill += 1) {
    run(["import", files.new, "--replace"], random.int(Math.ceil(wholeMs / 3), wholeMs));
    const [kept, replaced] = [sizeOf("old"), sizeOf("new")];
    const isWhole = (kept === 2 * MANY && replaced === 0) || (kept === 0 && replaced === 2 * MANY);
    if (!isWhole) problem = `A killed import left ${kept} old and ${replaced} new documents of ${2 * MANY}`;
    run(["import", files.old, "--replace"]);
  }
  rmSync(folder, { recursive: true, force: true });
  return problem;
}

/** Lets the registration of the commands fail for a while. Returns how often. */
export function failRegistration({ trap }: SandboxDiscord, random: Random): number {
  const times = random.int(0, 8);
  trap({
    method: "PUT",
    path: /commands$/,
    times,
    error: new DiscordError(503, 0, "upstream connect error"),
  });
  return times;
}

/** A wait that Discord asks for in a 429, in ms. */
const LONG_WAIT_MS = 30_000;
/** Paths of Discord that fail. Answers to interactions never do, because each interaction must be answered. */
const PATHS = /^\/(channels|users|guilds)\//;
const ERRORS = [
  new DiscordError(500, 0, "Internal Server Error"),
  new DiscordError(503, 0, "upstream connect error"),
  new DiscordError(429, 0, "You are being rate limited."),
  new RateLimited(LONG_WAIT_MS, "user"),
  "lost",
  "reset",
  "html",
  "silence",
] as const;
/** Longer than the bot waits for an answer, in ms. */
const SILENCE_MS = 10_000;

/** Connections to the gateway that break one after the other. */
const MANY_DROPS = 100;

/** Returns a function that makes some of Discord's next answers fail, and sometimes drops the connection to the gateway. */
export function createDiscordFaults({ trap, gateway }: SandboxDiscord, random: Random): () => void {
  let drops = 0;
  return () => {
    if (random.chance(0.1)) drops = Math.max(drops, random.chance(0.1) ? MANY_DROPS : 1);
    if (drops > 0) gateway.drop();
    drops -= 1;
    if (random.chance(0.7)) return;
    const method = random.pick(["POST", "PATCH", "GET"]);
    const error = random.pick(ERRORS);
    const fault = error === "silence" ? { delayMs: SILENCE_MS } : { error };
    trap({ method, path: PATHS, times: random.int(1, 8), ...fault });
  };
}

/**
 * Returns a function that sometimes makes the disk of a bot full or read-only for a while, and `free`, which ends that. Needs
 * `prlimit` and `chattr` (Linux).
 */
export function createBadDisk(pid: number | undefined, dataDir: string, random: Random) {
  const limit = (bytes: string) => spawnSync("prlimit", ["--pid", String(pid), `--fsize=${bytes}:unlimited`]);
  // Not the -shm file: it is mapped, and a write to it would kill the process, as a read-only disk does not.
  const files = ["crier.db", "crier.db-wal"].map((name) => join(dataDir, name));
  const protect = (sign: "+" | "-") => spawnSync("chattr", [`${sign}i`, ...files.filter(existsSync)]);
  let turnsLeft = 0;
  const free = () => {
    limit("unlimited");
    protect("-");
  };
  // Files that stay protected could not be deleted.
  process.once("exit", free);
  return {
    free,
    turn() {
      if (turnsLeft > 0) {
        turnsLeft -= 1;
        if (turnsLeft === 0) free();
      } else if (random.chance(0.06)) {
        turnsLeft = random.int(2, 20);
        if (random.chance(0.5)) limit("1");
        else protect("+");
      }
    },
  };
}
