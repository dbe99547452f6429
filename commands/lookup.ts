import { commandEverywhere, type ReadingCommand } from "../src/discord/command.js";
import { LOOKED_UP } from "../src/screens/lookup.js";
import { withId, withPrivate } from "./options.js";

export const lookup: ReadingCommand = {
  definition: withPrivate(
    withId(
      commandEverywhere("lookup", "Open any id, link or name"),
      "id",
      "A party, contract, update, event or vote request id, or a name",
      true,
    ),
  ).toJSON(),
  group: "Ledger",
  opens: { "": "lookup" },
  suggests: LOOKED_UP,
};
