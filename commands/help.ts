import type { ReadingCommand } from "../src/discord/command.js";
import { readingCommand } from "./options.js";

export const help: ReadingCommand = {
  definition: readingCommand("help", "What you can do with this bot").toJSON(),
  group: "This bot",
  opens: { "": "help" },
  isPrivate: true,
};
