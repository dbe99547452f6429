import { commandEverywhere, type ReadingCommand } from "../src/discord/command.js";
import { subcommand, withId, withOrder, withPrivate } from "./options.js";

const list = subcommand("list", "Validators that are down or outdated, or the full list").addStringOption(
  (option) =>
    option
      .setName("status")
      .setDescription("Status (default: an overview)")
      .addChoices(
        { name: "all", value: "ALL" },
        { name: "active", value: "ACTIVE" },
        { name: "inactive", value: "INACTIVE" },
        { name: "outdated", value: "BEHIND" },
      ),
);

export const validator: ReadingCommand = {
  definition: commandEverywhere("validator", "The network's validators: status, versions and details")
    .addSubcommand(withPrivate(withOrder(list, "most recently seen first", "least recently seen first")))
    .addSubcommand(withPrivate(subcommand("new", "The newest validators")))
    .addSubcommand(withPrivate(subcommand("versions", "Versions of active validators, with a chart")))
    .addSubcommand(
      withPrivate(
        withId(
          subcommand("show", "One validator: its last report, version and traffic"),
          "validator",
          "Name or party id",
          true,
        ),
      ),
    )
    .toJSON(),
  group: "Validators",
  opens: { list: "validators", new: "newcomers", versions: "versions", show: "validator" },
  bare: { list: "overview" },
  idOption: "validator",
  suggests: ["validator"],
};
