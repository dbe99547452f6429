import { type ReadingCommand, readingCommand, withPrivate } from "./command.js";

export const network: ReadingCommand = {
  definition: withPrivate(
    readingCommand("network", "The network at a glance: validators, rates, totals, governance"),
  ).toJSON(),
  opens: { "": "network" },
};
