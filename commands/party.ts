import { SlashCommandBuilder, type SlashCommandSubcommandBuilder } from "@discordjs/builders";
import { type ReadingCommand, withPrivate } from "./command.js";

const ofParty = (builder: SlashCommandSubcommandBuilder, name: string, description: string) =>
  withPrivate(
    builder
      .setName(name)
      .setDescription(description)
      .addStringOption((option) =>
        option.setName("party").setDescription("Its party id").setRequired(true).setMaxLength(300),
      ),
  );

export const party: ReadingCommand = {
  definition: new SlashCommandBuilder()
    .setName("party")
    .setDescription("Parties on the ledger: who they are, what they hold and earn")
    .addSubcommand((list) =>
      withPrivate(
        list
          .setName("list")
          .setDescription("All parties")
          .addStringOption((option) =>
            option
              .setName("sort")
              .setDescription("By what (last activity)")
              .addChoices(
                { name: "last activity", value: "LAST_ACTIVITY_AT" },
                { name: "first seen", value: "FIRST_SEEN_AT" },
              ),
          )
          .addStringOption((option) =>
            option
              .setName("order")
              .setDescription("Which first (latest)")
              .addChoices({ name: "latest first", value: "DESC" }, { name: "earliest first", value: "ASC" }),
          ),
      ),
    )
    .addSubcommand((top) => withPrivate(top.setName("top").setDescription("The largest balances")))
    .addSubcommand((show) => ofParty(show, "show", "One party: what it is and what it holds"))
    .addSubcommand((rewards) => ofParty(rewards, "rewards", "What a party has earned"))
    .toJSON(),
  opens: { list: "parties", top: "top", show: "party", rewards: "rewards" },
  idOption: "party",
};
