import type { ReadingCommand } from "../src/discord/command.js";
import { readingCommand, subcommand, withId, withOrder, withPrivate } from "./options.js";

const list = subcommand("list", "Validators by when they were last seen").addStringOption((option) =>
  option
    .setName("status")
    .setDescription("Which ones (all)")
    .addChoices(
      { name: "all", value: "ALL" },
      { name: "active", value: "ACTIVE" },
      { name: "inactive", value: "INACTIVE" },
    ),
);

export const validator: ReadingCommand = {
  definition: readingCommand("validator", "The network's validators, and whether they are alive")
    .addSubcommand(withPrivate(withOrder(list, "last seen first", "longest unseen first")))
    .addSubcommand(withPrivate(subcommand("new", "The validators that joined last")))
    .addSubcommand(withPrivate(subcommand("versions", "What active validators run, as a picture")))
    .addSubcommand(
      withPrivate(
        withId(
          subcommand("show", "One validator: is it alive, its version, its sponsor, its traffic"),
          "validator",
          "Its name, or its party id",
          true,
        ),
      ),
    )
    .toJSON(),
  opens: { list: "validators", new: "newcomers", versions: "versions", show: "validator" },
  idOption: "validator",
  suggests: ["validator"],
};
