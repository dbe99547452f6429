import type { ReadingCommand } from "../src/discord/command.js";
import { readingCommand, subcommand, withId, withOrder, withPrivate } from "./options.js";

const list = subcommand("list", "What needs a look: who is silent, who is behind; or a list").addStringOption(
  (option) =>
    option
      .setName("status")
      .setDescription("Which ones (all)")
      .addChoices(
        { name: "all", value: "ALL" },
        { name: "active", value: "ACTIVE" },
        { name: "inactive", value: "INACTIVE" },
        { name: "behind what most run", value: "BEHIND" },
      ),
);

export const validator: ReadingCommand = {
  definition: readingCommand("validator", "The network's validators, and whether they are alive")
    .addSubcommand(withPrivate(withOrder(list, "most recently seen first", "longest silent first")))
    .addSubcommand(withPrivate(subcommand("new", "The validators that joined last")))
    .addSubcommand(withPrivate(subcommand("versions", "What active validators run, as a picture")))
    .addSubcommand(
      withPrivate(
        withId(
          subcommand("show", "One validator: does it report, its version, its traffic"),
          "validator",
          "Its name, or its party id",
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
