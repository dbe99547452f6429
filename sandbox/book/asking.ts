import { type Book, ordinaryValidator } from "./book.js";
import { dialogLines } from "./plain.js";

/**
 * Writes the chapter with a member's commands, in the order of docs/commands.md, and the screens that their
 * buttons open.
 */
export async function asking(book: Book): Promise<void> {
  const { place, ask, page } = book;
  const { ledger } = place.explorer;
  const { driver, people, channels } = place.discord;
  const ana = { user: book.member(), channel: channels.general };
  const { id: validator } = ordinaryValidator(ledger).party;
  const superValidator = ledger.superValidators[0]?.id ?? "";
  const party =
    ledger.parties.find(({ id }) => !ledger.validators.some((each) => each.party.id === id))?.id ?? "";
  const open = ledger.voteRequests.find(({ status }) => status === "In Progress")?.firstContractId ?? "";
  const closed = ledger.voteRequests.find(({ status }) => status === "Accepted")?.firstContractId ?? "";

  book.chapter("Asking", "Answers to a member's commands.");
  await ask("/price");
  await ask("/price", { over: "7d" });
  await ask("/network");
  const list = await ask("/validator list", {}, ana);
  await ask("/validator list", { status: "ACTIVE" });
  await ask("/validator new");
  await ask("/validator versions");
  const shown = await ask("/validator show", { validator }, ana);
  page("…and its party", await driver.click(ana, shown, "Party"));
  await ask("/validator show", { validator: superValidator }, {}, "`/validator show` of a super validator");
  await ask("/party list");
  await ask("/party top");
  await ask("/party show", { party });
  await ask("/party rewards", { party: superValidator });
  await ask("/proposals list");
  const request = await ask("/proposals show", { proposal: open }, ana);
  page("…how votes work", await driver.click(ana, request, "How votes work"));
  const again = await driver.ask(ana, "/proposals show", { proposal: open });
  page("…and its raw data", await driver.click(ana, again, "Raw data"));
  await ask("/proposals show", { proposal: closed }, {}, "`/proposals show` of a vote that is over");
  await ask("/proposals votes", { proposal: open });
  const voters = await ask("/proposals voters", {}, ana);
  const [menu] = driver.components(voters).filter(({ type }) => type === 3);
  page("…and one of them", await driver.choose(ana, voters, menu?.options?.[0]?.value ?? ""));
  const transfers = await ask("/transfers", {}, ana);
  const [transferMenu] = driver.components(transfers).filter(({ type }) => type === 3);
  page("…and the first one", await driver.choose(ana, transfers, transferMenu?.options?.[0]?.value ?? ""));
  await ask("/token show", { contract: ledger.tokens[0]?.contractId ?? "" });
  await ask("/contract list");
  await ask("/contract show", { contract: ledger.contracts[0]?.contractId ?? "" });
  await ask("/event list");
  await ask("/event show", { event: ledger.events[0]?.eventId ?? "" });
  await ask("/update list");
  await ask("/update show", { update: ledger.updates[0]?.updateId ?? "" });
  await ask("/lookup", { id: validator });
  await ask("/lookup", { id: "aurora" });
  await ask("/lookup", { id: "summit" });
  await ask("/help");
  await ask("/help", {}, { user: people.owner }, "`/help` for those who manage the server");
  const watched = await driver.ask(ana, "/validator show", { validator });
  const offer = await driver.click(ana, watched, "Watch");
  page("The “Watch” button of a validator", offer);

  book.chapter("Buttons and dialogs", "Buttons, lists and dialogs of a message.");
  page("Somebody else's button: a copy", await driver.click({ ...ana, user: people.ben }, list, "Versions"));
  const long = await driver.ask(ana, "/party list");
  page("▶ on a list", await driver.click(ana, long, "▶"));
  const jump = driver
    .components(long)
    .find(({ type, label }) => type === 2 && /^\d+ \/|^Page/.test(label ?? ""));
  if (jump?.label) {
    const opened = await driver.open(ana, long, jump.label);
    book.lines("The page number of a list: a dialog", dialogLines(opened.dialog));
    page("…with a number that is no page", await driver.submit(ana, opened, ["900"]));
  }
}
