import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { builtFile } from "./built-files.js";
import type { SandboxDiscord } from "./discord/server.js";
import type { SandboxExplorer } from "./explorer/server.js";

/** The built bot in a separate process. */
export interface BotProcess {
  readonly child: ChildProcess;
  /** Returns its output so far, from stdout and stderr. */
  output(): string;
  /** Resolves when it reports that it is ready. Rejects if it ends before. */
  ready(ms?: number): Promise<void>;
  /** Its exit code or the signal that ended it. */
  readonly exited: Promise<number | NodeJS.Signals>;
  stop(signal?: NodeJS.Signals): Promise<number | NodeJS.Signals>;
  /**
   * Sets the offset of its clock from the real one, in ms. Resolves once it is set, or if the process has
   * ended.
   */
  setClock(offsetMs: number): Promise<void>;
}

/** Creates an empty folder for a bot's data. */
export const newDataDir = (): string => mkdtempSync(join(tmpdir(), "crier-"));

/** Returns the environment that connects a bot to the two sandboxes. */
export function botEnvironment(
  discord: SandboxDiscord,
  explorer: SandboxExplorer,
  more: Record<string, string> = {},
) {
  return {
    DISCORD_TOKEN: discord.token,
    DISCORD_API_URL: discord.url,
    EXPLORER_API_URL: explorer.url,
    EXPLORER_API_KEY: explorer.key,
    DATA_DIR: more.DATA_DIR ?? newDataDir(),
    ...more,
  };
}

/**
 * Bots that run, with what they print. They are killed with this process, because one in an endless loop would ignore a signal
 * forever.
 */
const running = new Map<ChildProcess, () => string>();
process.on("exit", () => {
  for (const child of running.keys()) child.kill("SIGKILL");
});

/** Returns what each running bot has printed so far. */
export const printedByBots = (): readonly string[] => [...running.values()].map((output) => output());

const CLOCK = new URL("./clock.mjs", import.meta.url).href;

/** Starts the built bot with only this environment, and a clock that can be changed. */
export function startBotProcess(
  env: Record<string, string>,
  clockOffsetMs = 0,
  main: string = builtFile("main"),
  nodeOptions: readonly string[] = [],
): BotProcess {
  const child = spawn(process.execPath, ["--import", CLOCK, ...nodeOptions, main], {
    env: { PATH: process.env.PATH ?? "", ...env },
    cwd: env.DATA_DIR ?? tmpdir(),
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  let output = "";
  running.set(child, () => output);
  child.on("exit", () => running.delete(child));
  child.send({ clockOffsetMs });
  const listeners = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (chunk: Buffer) => {
      output += chunk.toString();
      for (const listener of listeners) listener();
    });
  }
  const exited = new Promise<number | NodeJS.Signals>((resolve) => {
    child.on("exit", (code, signal) => {
      for (const listener of listeners) listener();
      resolve(code ?? signal ?? 0);
    });
  });
  return {
    child,
    exited,
    output: () => output,
    ready: (ms = 60_000) =>
      new Promise((resolve, reject) => {
        const finish = (error?: Error) => {
          clearTimeout(timer);
          listeners.delete(look);
          if (error) reject(error);
          else resolve();
        };
        const timer = setTimeout(() => finish(new Error(`Not ready in ${ms} ms:\n${output}`)), ms);
        const look = () => {
          if (output.includes('"Ready"')) finish();
          else if (child.exitCode !== null || child.signalCode !== null)
            finish(new Error(`It ended:\n${output}`));
        };
        listeners.add(look);
        look();
      }),
    setClock(offsetMs) {
      // If the process has ended, the next one starts with the current time.
      if (!child.connected) return Promise.resolve();
      const isSet = new Promise<void>((resolve) => {
        const look = (message: unknown) => {
          if (!isDeepStrictEqual(message, { clockOffsetMs: offsetMs })) return;
          child.off("message", look);
          resolve();
        };
        child.on("message", look);
      });
      child.send({ clockOffsetMs: offsetMs }, () => {});
      return Promise.race([isSet, exited.then(() => {})]);
    },
    async stop(signal = "SIGTERM") {
      child.kill(signal);
      return exited;
    },
  };
}
