import { SlashCommandBuilder } from "@discordjs/builders";
import { type ReadingCommand, withPrivate } from "./command.js";

export const price: ReadingCommand = {
  definition: withPrivate(
    new SlashCommandBuilder()
      .setName("price")
      .setDescription("What one Canton Coin costs, and how old that price is"),
  ).toJSON(),
  opens: { "": "price" },
};
