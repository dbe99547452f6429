import { commandEverywhere, type ReadingCommand } from "../src/discord/command.js";
import { subcommand, withId, withOrder, withPrivate } from "./options.js";

const ofParty = (name: string, description: string) =>
  withPrivate(withId(subcommand(name, description), "party", "Party id or name", true));

const list = subcommand("list", "All parties").addStringOption((option) =>
  option
    .setName("sort")
    .setDescription("Sort by (default: last activity)")
    .addChoices(
      { name: "last activity", value: "LAST_ACTIVITY_AT" },
      { name: "first seen", value: "FIRST_SEEN_AT" },
    ),
);

export const party: ReadingCommand = {
  definition: commandEverywhere("party", "Parties on the ledger: balances and rewards")
    .addSubcommand(withPrivate(withOrder(list)))
    .addSubcommand(withPrivate(subcommand("top", "The largest balances")))
    .addSubcommand(ofParty("show", "One party: what it is and what it holds"))
    .addSubcommand(ofParty("rewards", "What a party has earned"))
    .toJSON(),
  group: "Parties and coin",
  opens: { list: "parties", top: "top", show: "party", rewards: "rewards" },
  idOption: "party",
  suggests: ["party"],
};
