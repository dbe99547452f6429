import type { ReadingCommand } from "../src/discord/command.js";
import { readingCommand, withPrivate } from "./options.js";

export const help: ReadingCommand = {
  definition: withPrivate(
    readingCommand("help", "What you can ask, and where the answers come from"),
  ).toJSON(),
  group: "This bot",
  opens: { "": "help" },
};
