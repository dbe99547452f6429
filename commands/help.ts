import { commandEverywhere, type ReadingCommand } from "../src/discord/command.js";

export const help: ReadingCommand = {
  definition: commandEverywhere("help", "What you can do with this bot").toJSON(),
  group: "This bot",
  opens: { "": "help" },
  isPrivate: true,
};
