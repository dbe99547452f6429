import { commandEverywhere, type ReadingCommand } from "../src/discord/command.js";
import type { ScreenName } from "../src/screens/addresses.js";
import { subcommand, withId, withOrder, withPrivate } from "./options.js";

interface ListAndShow {
  readonly description: string;
  readonly list: string;
  readonly show: string;
  /** Description of the option that holds the id. */
  readonly id: string;
  readonly opens: { readonly list: ScreenName; readonly show: ScreenName };
}

/** Creates a command with two subcommands: `list` shows things by age, `show` shows one of them. */
const listAndShow = (name: string, { description, list, show, id, opens }: ListAndShow): ReadingCommand => ({
  definition: commandEverywhere(name, description)
    .addSubcommand(withPrivate(withOrder(subcommand("list", list))))
    .addSubcommand(withPrivate(withId(subcommand("show", show), name, id, false)))
    .toJSON(),
  group: "Ledger",
  opens: { ...opens },
  idOption: name,
});

export const contract = listAndShow("contract", {
  description: "Contracts on the ledger",
  list: "Contracts by age",
  show: "One contract: what it is, who signed it and what created it",
  id: "Contract id",
  opens: { list: "contracts", show: "contract" },
});

export const event = listAndShow("event", {
  description: "Events on the ledger: created contracts and exercised choices",
  list: "Events by age",
  show: "One event: what was done to which contract, and by whom",
  id: "Event id: an update id followed by :N",
  opens: { list: "events", show: "event" },
});

export const update = listAndShow("update", {
  description: "Updates of the ledger",
  list: "Updates by age",
  show: "One update: its events, and all details as a file",
  id: "Update id",
  opens: { list: "updates", show: "update" },
});
