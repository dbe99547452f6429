import { commandEverywhere, type ReadingCommand } from "../src/discord/command.js";
import { withPrivate } from "./options.js";

export const price: ReadingCommand = {
  definition: withPrivate(
    commandEverywhere("price", "The price of Canton Coin, with a chart").addStringOption((option) =>
      option
        .setName("over")
        .setDescription("Time span of the chart (default: 24 hours)")
        .addChoices(
          { name: "24 hours", value: "1d" },
          { name: "7 days", value: "7d" },
          { name: "30 days", value: "30d" },
        ),
    ),
  ).toJSON(),
  group: "Network",
  opens: { "": "price" },
};
