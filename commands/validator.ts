import { SlashCommandBuilder } from "@discordjs/builders";
import { type ReadingCommand, withPrivate } from "./command.js";

export const validator: ReadingCommand = {
  definition: new SlashCommandBuilder()
    .setName("validator")
    .setDescription("The network's validators, and whether they are alive")
    .addSubcommand((list) =>
      withPrivate(
        list
          .setName("list")
          .setDescription("Validators by their last sign of life")
          .addStringOption((option) =>
            option
              .setName("status")
              .setDescription("Which ones (all)")
              .addChoices(
                { name: "all", value: "ALL" },
                { name: "active", value: "ACTIVE" },
                { name: "inactive", value: "INACTIVE" },
              ),
          )
          .addStringOption((option) =>
            option
              .setName("order")
              .setDescription("Which first (last seen)")
              .addChoices(
                { name: "last seen first", value: "DESC" },
                { name: "longest unseen first", value: "ASC" },
              ),
          ),
      ),
    )
    .addSubcommand((newest) =>
      withPrivate(newest.setName("new").setDescription("The validators that joined last")),
    )
    .addSubcommand((show) =>
      withPrivate(
        show
          .setName("show")
          .setDescription("One validator: is it alive, its version, its sponsor, its traffic")
          .addStringOption((option) =>
            option.setName("validator").setDescription("Its party id").setRequired(true).setMaxLength(300),
          ),
      ),
    )
    .toJSON(),
  opens: { list: "validators", new: "newcomers", show: "validator" },
  idOption: "validator",
};
