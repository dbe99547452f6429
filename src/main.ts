import { setFlagsFromString } from "node:v8";
import { loadConfig } from "./config.js";

/** Configuration errors are printed as plain lines without a stack. */
function giveUp(error: unknown): never {
  const isExpected = error instanceof Error && (error.name === "ConfigError" || error.name === "StateError");
  console.error(isExpected ? error.message : error);
  process.exit(1);
}

/** Maximum time between the signal and the end of the process, in ms. */
const LAST_MS = 6_000;

const stopping = new AbortController();
let broken: unknown;
const endProcess = () => (broken === undefined ? process.exit(0) : giveUp(broken));
const beginEnd = () => {
  stopping.abort();
  setTimeout(endProcess, LAST_MS).unref();
};
for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, beginEnd);

try {
  const config = loadConfig();
  // Loaded after the settings are known to be right: a wrong one is reported before discord.js is loaded.
  const { startBot } = await import("./bot.js");
  const bot = await startBot(config, {
    stopped: stopping.signal,
    onBroken(error) {
      broken ??= error;
      beginEnd();
    },
  });
  // By itself the heap grows to a multiple of what is alive before it is collected: a third more memory for the same CPU
  // time (docs/benchmarks.md). Not before the start, which makes little that stays.
  setFlagsFromString("--heap-growing-percent=60");
  const stop = () => bot.stop().finally(endProcess);
  if (stopping.signal.aborted) await stop();
  stopping.signal.addEventListener("abort", stop);
} catch (error) {
  if (stopping.signal.aborted) endProcess();
  giveUp(error);
}
