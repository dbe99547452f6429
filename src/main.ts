import { setFlagsFromString } from "node:v8";
import { loadConfig } from "./config.js";

/** What an operator can mend is said in plain lines, without a stack. */
function giveUp(error: unknown): never {
  const known = error instanceof Error && (error.name === "ConfigError" || error.name === "StateError");
  console.error(known ? error.message : error);
  process.exit(1);
}

/** However busy it is, it ends within so many ms of being told to. */
const LAST_MS = 6_000;

const stopping = new AbortController();
for (const signal of ["SIGTERM", "SIGINT"] as const) {
  process.on(signal, () => {
    stopping.abort();
    setTimeout(() => process.exit(0), LAST_MS).unref();
  });
}

try {
  const config = loadConfig();
  // Loaded after the settings are known to be right: a wrong one is told before discord.js has been read.
  const { startBot } = await import("./bot.js");
  const bot = await startBot(config, stopping.signal);
  // By itself the heap grows to a multiple of what is alive before it is collected: a third more memory for the same CPU
  // time (docs/benchmarks.md). Not before the start, which makes little that stays.
  setFlagsFromString("--heap-growing-percent=60");
  const stop = () => bot.stop().finally(() => process.exit(0));
  if (stopping.signal.aborted) await stop();
  stopping.signal.addEventListener("abort", stop);
} catch (error) {
  if (stopping.signal.aborted) process.exit(0);
  giveUp(error);
}
