import { afterEach } from "vitest";
import { printedByBots } from "../sandbox/bot-process.js";

/** Number of lines of a bot's log that are shown. */
const LINES = 40;

// A test that fails only on a busy machine can hardly be repeated, so its report contains what the bots said.
afterEach(({ task }) => {
  if (task.result?.state !== "fail") return;
  for (const output of printedByBots())
    console.error(
      `The bot's log when "${task.name}" failed:\n${output.split("\n").slice(-LINES).join("\n")}`,
    );
});
