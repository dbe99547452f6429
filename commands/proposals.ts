import { SlashCommandBuilder, type SlashCommandSubcommandBuilder } from "@discordjs/builders";
import { type ReadingCommand, withPrivate } from "./command.js";

const ofProposal = (builder: SlashCommandSubcommandBuilder, name: string, description: string) =>
  withPrivate(
    builder
      .setName(name)
      .setDescription(description)
      .addStringOption((option) =>
        option.setName("proposal").setDescription("Its vote request id").setRequired(true).setMaxLength(300),
      ),
  );

export const proposals: ReadingCommand = {
  definition: new SlashCommandBuilder()
    .setName("proposals")
    .setDescription("Governance: what super validators vote on, and how")
    .addSubcommand((list) =>
      withPrivate(list.setName("list").setDescription("Vote requests, open and closed")),
    )
    .addSubcommand((show) =>
      ofProposal(show, "show", "One vote request: what it changes, its votes and deadlines"),
    )
    .addSubcommand((votes) => ofProposal(votes, "votes", "Who voted how on a vote request"))
    .toJSON(),
  opens: { list: "proposals", show: "vr", votes: "vv" },
  idOption: "proposal",
};
