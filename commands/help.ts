import { type ReadingCommand, readingCommand, withPrivate } from "./command.js";

export const help: ReadingCommand = {
  definition: withPrivate(
    readingCommand("help", "What you can ask, and where the answers come from"),
  ).toJSON(),
  opens: { "": "help" },
};
