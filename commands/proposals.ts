import type { ReadingCommand } from "../src/discord/command.js";
import { readingCommand, subcommand, withId, withPrivate } from "./options.js";

const ofProposal = (name: string, description: string) =>
  withPrivate(withId(subcommand(name, description), "proposal", "Its title, or its vote request id", true));

export const proposals: ReadingCommand = {
  definition: readingCommand("proposals", "Governance: what super validators vote on, and how")
    .addSubcommand(withPrivate(subcommand("list", "Vote requests, open and closed")))
    .addSubcommand(ofProposal("show", "One vote request: what it changes, its votes and deadlines"))
    .addSubcommand(ofProposal("votes", "Who voted how on a vote request"))
    .toJSON(),
  group: "Governance",
  opens: { list: "proposals", show: "voteRequest", votes: "votes" },
  idOption: "proposal",
  suggests: ["proposal"],
};
