import { commandEverywhere, type ReadingCommand } from "../src/discord/command.js";
import { withOrder, withPrivate } from "./options.js";

export const transfers: ReadingCommand = {
  definition: withPrivate(
    withOrder(commandEverywhere("transfers", "The latest transfers of Canton Coin")),
  ).toJSON(),
  group: "Parties and coin",
  opens: { "": "transfers" },
};
