import { type Book, ordinaryValidator, textOf } from "./book.js";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * Writes the chapter with announcements in subscribed channels, feed by feed. The chapter on setting up has
 * subscribed them.
 */
export async function telling(book: Book): Promise<void> {
  // Validators come first, because the bot must learn their rhythm again after days have passed.
  await validators(book);
  await votes(book);
  await others(book);
}

async function votes({ place, chapter, hear, page, polled, pass }: Book): Promise<void> {
  const { ledger } = place.explorer;
  const { governance } = place.discord.channels;

  chapter("Votes", "Messages in #governance. The notification is the text above the message.");
  const feature = ledger.openVoteRequest({
    motion: "feature",
    title: "Feature Delta Labs",
    reason: "Delta Labs runs a wallet that 1,200 people use.",
    lastsMs: 5 * DAY,
    effectiveInMs: 9 * DAY,
  });
  const announcement = await hear("A vote request opens", governance, /New vote request: Feature Delta Labs/);
  await polled();
  const config = ledger.openVoteRequest({ motion: "dsoConfig", lastsMs: 4 * DAY, effectiveInMs: 8 * DAY });
  await hear("…another, which changes the configuration", governance, /New vote request: Default voting/);
  await polled();
  ledger.castVote(feature, true);
  await hear("A super validator votes", governance, / voted (yes|no) on /);
  feature.voteBefore += DAY;
  await hear("Its deadline is moved", governance, /[Cc]hanged/);
  // Earlier requests end meanwhile, but not while a digest is due, which would only report some of them.
  for (const hours of [59.7, 19.4, 4.6, 19.5, 4.6, 6.35]) await pass(hours * HOUR);
  await hear("A reminder", governance, /left to vote: Feature Delta Labs/);
  for (const voter of ledger.superValidators.slice(0, 10)) ledger.castVote(feature, true, voter);
  await hear("Enough have voted yes", governance, /Enough yes votes/);
  ledger.closeVoteRequest(feature, "Accepted");
  await hear("It is accepted", governance, /Accepted: Feature Delta Labs/);
  await place.discord.world.until(() => textOf(announcement).includes("Accepted"), "the edit");
  page("…and its announcement, edited", announcement);
  ledger.decideVoteRequest(config, "Rejected");
  await hear("Another is rejected", governance, /Rejected: Default voting/);
  for (const motion of ["weight", "activity", "feature", "offboard"])
    ledger.openVoteRequest({ motion, lastsMs: 6 * DAY });
  await hear("Several open at once", governance, /new vote requests/);
}

async function validators({ place, chapter, hear, page, pass }: Book): Promise<void> {
  const { ledger } = place.explorer;
  const { driver, people, world } = place.discord;
  const ops = [...world.channels.values()].find(({ name }) => name === "ops");
  const watched = ordinaryValidator(ledger);
  if (!ops) throw new Error("Nothing is watched");
  const silent = [watched.party.id];
  const ben = { user: people.ben, channel: ops };

  chapter("Validators", "Messages in #ops.");
  for (let times = 0; times < 3; times += 1) await pass(10 * MINUTE);
  await pass(50 * MINUTE, silent);
  const alert = await hear("A validator is silent", ops, /no report for/);
  page("Ana may not answer for it", await driver.click({ ...ben, user: people.ana }, alert, "I'm on it"));
  page("Ben presses “I'm on it”", await driver.click(ben, alert, "I'm on it"));
  const anaRoles = place.discord.guild.members.get(people.ana.id) ?? [];
  anaRoles.push(place.discord.guild.roles.find(({ name }) => name === "Operators")?.id ?? "");
  page(
    "Ana, an operator too, may not hand it back",
    await driver.click({ ...ben, user: people.ana }, alert, "Ben has it"),
  );
  anaRoles.pop();
  await pass(6 * HOUR, silent);
  await hear("It stays silent", ops, /Still silent/);
  ledger.setValidatorActive(watched, true);
  await hear("It is back", ops, /Seen again/);
  await place.discord.world.until(() => textOf(alert).includes("Back"), "the edit");
  page("…and its alert, edited", alert);
  ledger.drainTraffic(watched);
  await pass(31 * MINUTE);
  await hear("Little traffic is left", ops, /traffic/i);
  for (const each of ledger.validators) each.version = each === watched ? "0.4.1" : "0.9.9";
  // Versions are read at the start, and every half hour of real time.
  const reads = () => place.explorer.requests.filter(({ path }) => path.endsWith("/parties/top")).length;
  const before = reads();
  await place.restart();
  await world.until(() => reads() > before, "the names");
  await pass(MINUTE);
  await pass(25 * HOUR);
  await pass(MINUTE);
  await hear("It runs an old version", ops, /Old version/);
  place.pass(50 * MINUTE);
  await hear("No validator reports: the explorer is behind", ops, /on hold/);
  await pass(MINUTE);
}

async function others({ place, chapter, ask, hear, page, polled, pass }: Book): Promise<void> {
  const { ledger } = place.explorer;
  const { driver, people, world } = place.discord;
  const ops = [...world.channels.values()].find(({ name }) => name === "ops");
  if (!ops) throw new Error("Nothing is subscribed");

  chapter("Newcomers, prices, digests", "Other messages in #ops.");
  ledger.joinValidator("Delta Labs");
  await hear("A validator joins", ops, /Validator joined/);
  for (const name of ["Iris Custody", "Onyx Trust", "Quartz Pay", "Cedar Node"]) ledger.joinValidator(name);
  await hear("Several join", ops, /validators joined/);
  ledger.setPrice(0.19);
  await polled();
  ledger.setPrice(0.21);
  const passed = await hear("The price passes a limit", ops, /Canton Coin/);
  const olga = { user: people.owner, channel: ops };
  page("…and Olga snoozes it", await driver.choose(olga, passed, "1 hour"));
  await pass(10 * MINUTE);
  await polled();
  const untilNine = DAY - ((world.now() - 9 * HOUR) % DAY);
  await pass(untilNine - MINUTE);
  await polled();
  await pass(2 * MINUTE);
  await hear("A digest", ops, /Daily digest/);
  await ask("/validator list", {}, {}, "`/validator list` later");

  place.explorer.injectFault({ kind: "status", status: 500 });
  await ask("/event list", { order: "ASC" }, {}, "The explorer does not answer, and nothing is cached");
  place.explorer.clearFaults();
}
