import * as nodeModule from "node:module";
import { setFlagsFromString } from "node:v8";
import { loadStartConfig } from "./storage/data-dir.js";

/** Prints an error and exits. Errors of the configuration or the state are printed without a stack. */
function giveUp(error: unknown): never {
  const isExpected = error instanceof Error && (error.name === "ConfigError" || error.name === "StateError");
  console.error(isExpected ? error.message : error);
  process.exit(1);
}

/** Maximum time from a signal to the end of the process, in ms. */
const LAST_MS = 6_000;

const stopping = new AbortController();
let broken: unknown;
const endProcess = () => (broken === undefined ? process.exit(0) : giveUp(broken));
const beginEnd = () => {
  stopping.abort();
  setTimeout(endProcess, LAST_MS).unref();
};
// SIGHUP comes from a terminal that is closed.
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, beginEnd);

// From Node 22.8 on, compiled code is kept for the next start, in NODE_COMPILE_CACHE or the folder for temporary files.
const enableCompileCache: unknown = Reflect.get(nodeModule, "enableCompileCache");
if (typeof enableCompileCache === "function") enableCompileCache();

try {
  const config = loadStartConfig();
  // Loaded after the settings have been checked, so that errors in them are reported before discord.js is loaded.
  const { startBot } = await import("./bot.js");
  const bot = await startBot(config, {
    stopped: stopping.signal,
    onBroken(error) {
      broken ??= error;
      beginEnd();
    },
  });
  // By default, the heap grows to a multiple of the live objects before it is collected, which takes a third more memory for the
  // same CPU time (docs/benchmarks.md). It is set after the start, because few of the objects created during the start survive.
  setFlagsFromString("--heap-growing-percent=60");
  const stop = () => bot.stop().finally(endProcess);
  if (stopping.signal.aborted) await stop();
  stopping.signal.addEventListener("abort", stop);
} catch (error) {
  if (stopping.signal.aborted) endProcess();
  giveUp(error);
}
