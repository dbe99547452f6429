import type { ReadingCommand } from "../src/discord/command.js";
import { readingCommand, subcommand, withId, withPrivate } from "./options.js";

const ofProposal = (name: string, description: string) =>
  withPrivate(withId(subcommand(name, description), "proposal", "Its title, or its vote request id", true));

const list = subcommand("list", "Vote requests: the open ones first, or those of a status or a kind")
  .addStringOption((option) =>
    option
      .setName("status")
      .setDescription("Which ones (open first, by deadline)")
      .addChoices(
        { name: "open", value: "open" },
        { name: "accepted", value: "accepted" },
        { name: "rejected", value: "rejected" },
        { name: "expired", value: "expired" },
        { name: "all, newest first", value: "all" },
      ),
  )
  .addStringOption((option) =>
    option
      .setName("kind")
      .setDescription("What they change (anything)")
      .addChoices(
        { name: "featured applications", value: "apps" },
        { name: "super validators", value: "validators" },
        { name: "configuration", value: "configuration" },
        { name: "rewards", value: "rewards" },
        { name: "other", value: "other" },
      ),
  );

export const proposals: ReadingCommand = {
  definition: readingCommand("proposals", "Governance: what super validators vote on, and how")
    .addSubcommand(withPrivate(list))
    .addSubcommand(ofProposal("show", "One vote request: what it changes, its votes and deadlines"))
    .addSubcommand(ofProposal("votes", "Who voted how on a vote request"))
    .addSubcommand(withPrivate(subcommand("voters", "How each super validator votes, and who misses votes")))
    .toJSON(),
  group: "Governance",
  opens: { list: "proposals", show: "voteRequest", votes: "votes", voters: "voters" },
  idOption: "proposal",
  suggests: ["proposal"],
};
