import { commandEverywhere, type ReadingCommand } from "../src/discord/command.js";
import { withPrivate } from "./options.js";

export const network: ReadingCommand = {
  definition: withPrivate(
    commandEverywhere("network", "The network at a glance: validators, activity and votes"),
  ).toJSON(),
  group: "Network",
  opens: { "": "network" },
};
