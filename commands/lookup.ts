import type { ReadingCommand } from "../src/discord/command.js";
import { LOOKED_UP } from "../src/screens/lookup.js";
import { readingCommand, withId, withPrivate } from "./options.js";

export const lookup: ReadingCommand = {
  definition: withPrivate(
    withId(
      readingCommand("lookup", "Opens whatever you paste: an id of any kind, a link, or a name"),
      "id",
      "A party, contract, update, event or vote request id, or a name",
      true,
    ),
  ).toJSON(),
  group: "Ledger",
  opens: { "": "lookup" },
  suggests: LOOKED_UP,
};
