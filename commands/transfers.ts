import { type ReadingCommand, readingCommand, withOrder, withPrivate } from "./command.js";

export const transfers: ReadingCommand = {
  definition: withPrivate(
    withOrder(readingCommand("transfers", "Coin that moved: how much, from whom, to whom")),
  ).toJSON(),
  opens: { "": "transfers" },
};
