import { type ButtonHandler, handlerOf } from "../src/discord/buttons.js";
import { commandEverywhere, type ReadingCommand } from "../src/discord/command.js";
import type { Network } from "../src/networks/network.js";
import { rawData, rawDataButton, rulesButton, voteRules } from "../src/screens/vote-explained.js";
import { subcommand, withId, withPrivate } from "./options.js";

const ofProposal = (name: string, description: string) =>
  withPrivate(withId(subcommand(name, description), "proposal", "Title or vote request id", true));

const list = subcommand("list", "Vote requests, open ones first, or filtered by status or kind")
  .addStringOption((option) =>
    option
      .setName("status")
      .setDescription("Status (default: all, open ones first)")
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
      .setDescription("Kind of change (default: any)")
      .addChoices(
        { name: "featured applications", value: "apps" },
        { name: "super validators", value: "validators" },
        { name: "configuration", value: "configuration" },
        { name: "rewards", value: "rewards" },
        { name: "other", value: "other" },
      ),
  );

export const proposals: ReadingCommand = {
  definition: commandEverywhere("proposals", "Governance: vote requests, votes and voters")
    .addSubcommand(withPrivate(list))
    .addSubcommand(ofProposal("show", "One vote request: what it changes, its votes and deadlines"))
    .addSubcommand(ofProposal("votes", "How each super validator voted on a vote request"))
    .addSubcommand(
      withPrivate(subcommand("voters", "How super validators vote, and how many votes they miss")),
    )
    .toJSON(),
  group: "Governance",
  opens: { list: "proposals", show: "voteRequest", votes: "votes", voters: "voters" },
  idOption: "proposal",
  suggests: ["proposal"],
};

/** The buttons under vote requests. Their answers are private, so that they do not replace an announcement. */
export const voteButtons: readonly ButtonHandler<Network>[] = [
  handlerOf({
    button: rulesButton,
    audience: "person",
    handle: async (_, __, { renderer }: Network) => renderer.message(voteRules),
  }),
  handlerOf({
    button: rawDataButton,
    audience: "person",
    handle: async ({ id }, { user }, { explorer, names, renderer }: Network) =>
      renderer.message(await rawData(explorer.for({ person: user.id }, { isPatient: true }), names, id)),
  }),
];
