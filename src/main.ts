import { loadConfig } from "./config.js";

/** What an operator can mend is said in plain lines, without a stack. */
function giveUp(error: unknown): never {
  const known = error instanceof Error && (error.name === "ConfigError" || error.name === "StateError");
  console.error(known ? error.message : error);
  process.exit(1);
}

try {
  const config = loadConfig();
  // Loaded after the settings are known to be right: a wrong one is told before discord.js has been read.
  const { startBot } = await import("./bot.js");
  const starting = startBot(config);
  let stopping = false;
  const stop = async () => {
    if (stopping) return;
    stopping = true;
    setTimeout(() => process.exit(0), 7_000).unref();
    const bot = await starting;
    await bot.stop();
    process.exit(0);
  };
  process.once("SIGTERM", stop);
  process.once("SIGINT", stop);
  await starting;
} catch (error) {
  giveUp(error);
}
