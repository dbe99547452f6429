import { startBot } from "../../../src/bot.js";
import { loadConfig } from "../../../src/config.js";
import { tidesFrom } from "./tides.js";

/** Starts the bot with the tides as its only feed, as a process that the test can kill. */
await startBot(loadConfig(), {
  stopped: new AbortController().signal,
  onBroken: (error) => {
    throw error;
  },
  feeds: [tidesFrom(process.env.TIDES_FILE ?? "")],
});
