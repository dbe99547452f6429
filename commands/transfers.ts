import type { ReadingCommand } from "../src/discord/command.js";
import { readingCommand, withOrder, withPrivate } from "./options.js";

export const transfers: ReadingCommand = {
  definition: withPrivate(
    withOrder(readingCommand("transfers", "The latest transfers of Canton Coin")),
  ).toJSON(),
  group: "Parties and coin",
  opens: { "": "transfers" },
};
