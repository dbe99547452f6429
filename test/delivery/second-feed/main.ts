import { startBot } from "../../../src/bot.js";
import { loadConfig } from "../../../src/config.js";
import { tidesFrom } from "./tides.js";

/** The bot with the tides as its one feed: a process of its own, to be killed. */
await startBot(loadConfig(), {
  stopped: new AbortController().signal,
  onBroken: (error) => {
    throw error;
  },
  feeds: [tidesFrom(process.env.TIDES_FILE ?? "")],
});
