import { commandEverywhere, type ReadingCommand } from "../src/discord/command.js";
import { subcommand, withId, withPrivate } from "./options.js";

export const token: ReadingCommand = {
  definition: commandEverywhere("token", "Tokens on the ledger")
    .addSubcommand(
      withPrivate(
        withId(
          subcommand("show", "One token: its standard, operators and requirements"),
          "contract",
          "Contract id, or the name of a token opened before",
          true,
        ),
      ),
    )
    .toJSON(),
  group: "Parties and coin",
  opens: { show: "token" },
  idOption: "contract",
  suggests: ["token"],
};
