import { SlashCommandBuilder } from "@discordjs/builders";
import { type Command, withPrivate } from "./command.js";

export const price: Command = {
  definition: withPrivate(
    new SlashCommandBuilder()
      .setName("price")
      .setDescription("What one Canton Coin costs, and how old that price is"),
  ).toJSON(),
  opens: { "": "price" },
};
