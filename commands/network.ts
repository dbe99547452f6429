import type { ReadingCommand } from "../src/discord/command.js";
import { readingCommand, withPrivate } from "./options.js";

export const network: ReadingCommand = {
  definition: withPrivate(
    readingCommand("network", "The network at a glance: validators, activity and votes"),
  ).toJSON(),
  group: "Network",
  opens: { "": "network" },
};
