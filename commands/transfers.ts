import type { ReadingCommand } from "../src/discord/command.js";
import { readingCommand, withOrder, withPrivate } from "./options.js";

export const transfers: ReadingCommand = {
  definition: withPrivate(
    withOrder(readingCommand("transfers", "Coin that moved: how much, from whom, to whom")),
  ).toJSON(),
  group: "Parties and coin",
  opens: { "": "transfers" },
};
