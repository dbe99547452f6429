import type { Channel } from "../discord/world.js";
import { type Book, ordinaryValidator, textOf } from "./book.js";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Writes the chapters with rare messages, on a separate sandbox. */
export async function rarely(book: Book): Promise<void> {
  const ops = await setUp(book);
  await rareAlerts(book, ops);
  await rareVotes(book);
  await upgradeVote(book);
  await privately(book);
  await operating(book, ops);
  await sharedNews(book);
}

/** Subscribes #ops and Ana without adding their messages to the book. */
async function setUp({ place, polled }: Book): Promise<Channel> {
  const { driver, world, guild, people, channels } = place.discord;
  const { ledger } = place.explorer;
  const ops = world.addChannel({ type: 0, guild_id: guild.id, name: "ops" });
  const role = world.addRole(guild, "Operators", 0n, { mentionable: true }).id;
  guild.members.get(people.ben.id)?.push(role);
  const olga = { user: people.owner, channel: channels.general };
  const ana = { user: people.ana, channel: channels.general };
  const validator = ordinaryValidator(ledger).party.id;
  await driver.ask(olga, "/subscribe validator", { validator, channel: ops.id, role });
  await driver.ask(olga, "/subscribe price", { when: "moves", value: "5%", channel: ops.id });
  await driver.ask(olga, "/subscribe governance", { channel: channels.governance.id, missing: "ping" });
  await driver.ask(olga, "/voters set", {
    sv: ledger.superValidators[1]?.name ?? "",
    who: people.ben.id,
  });
  await driver.ask(ana, "/watch validator", { validator });
  await driver.ask(ana, "/watch voter", { sv: ledger.superValidators[2]?.name ?? "" });
  await polled();
  return ops;
}

async function rareAlerts({ place, chapter, hear, page, pass, polled }: Book, ops: Channel): Promise<void> {
  const { ledger } = place.explorer;
  const { world, driver, people, channels } = place.discord;
  const watched = ordinaryValidator(ledger);
  const others = ledger.validators.filter(({ isSv }) => !isSv).slice(-8);
  const silent = [watched, ...others].map(({ party }) => party.id);

  chapter("Rarer alerts", "Messages in #ops in unusual situations.");
  for (let times = 0; times < 3; times += 1) await pass(10 * MINUTE);
  await pass(50 * MINUTE, silent);
  const many = await hear("Many validators go silent at once", ops, /validators went silent/);
  const ben = { user: people.ben, channel: ops };
  page("…and Ben snoozes them", await driver.choose(ben, many, "1 hour"));
  await pass(6 * HOUR, silent);
  await hear("They stay silent", ops, /Still silent/);
  for (const each of [watched, ...others]) ledger.setValidatorActive(each, true);
  await world.until(() => textOf(many).includes("Back"), "the edit");
  page("…and their alert, edited", many);
  place.pass(50 * MINUTE);
  const hold = await hear("The explorer falls behind", ops, /on hold/);
  await pass(MINUTE);
  await world.until(() => hold.content.includes("on again"), "the end of the hold");
  page("…and catches up", hold);
  ledger.validators.splice(ledger.validators.indexOf(watched), 1);
  await polled();
  await pass(35 * MINUTE);
  await hear("The explorer drops a validator from its list", ops, /No longer listed/);
  ledger.validators.push(watched);
  ledger.setValidatorActive(watched, true);
  await hear("…and lists it again", ops, /Listed again/);
  ledger.setPrice(0.1523);
  await polled();
  await pass(10 * MINUTE);
  ledger.setPrice(0.18);
  await hear("The price moves", ops, /Canton Coin/);
  await pass(HOUR, [watched.party.id]);
  const alert = await hear(
    "A validator is silent, and its alert is not needed any more",
    ops,
    /no report for/,
  );
  await driver.ask({ user: people.owner, channel: channels.general }, "/subscribe remove", {
    channel: ops.id,
    feed: "validator",
  });
  await world.until(() => alert.content.includes("Closed"), "the end of the alert");
  page("…after the subscription was removed", alert);
}

async function rareVotes({ place, chapter, hear, page, polled, pass }: Book): Promise<void> {
  const { ledger } = place.explorer;
  const { governance } = place.discord.channels;
  const superValidators = ledger.superValidators;
  const open = (title: string, lastsMs: number, effectiveInMs: number | null) =>
    ledger.openVoteRequest({ motion: "feature", title, lastsMs, effectiveInMs });

  chapter("Rarer votes", "Messages in #governance about unusual votes.");
  const short = open("Emergency fee change", 4 * HOUR, null);
  // Keep the request open, so that the votes can change.
  short.isStuck = true;
  const announced = await hear("A vote of four hours", governance, /New vote request: Emergency/);
  await pass(2 * HOUR + MINUTE);
  await hear(
    "…and its reminder, with those who represent missing votes",
    governance,
    /left to vote: Emergency/,
  );
  for (const voter of superValidators.slice(0, 9)) ledger.castVote(short, true, voter);
  await hear("Enough yes votes, without a date to wait for", governance, /Enough yes votes: Emergency/);
  for (const voter of superValidators.slice(0, 2)) ledger.castVote(short, false, voter);
  await hear("The votes change back", governance, /No longer enough/);
  await pass(2 * HOUR);
  ledger.closeVoteRequest(short, "Expired");
  await hear("It expires", governance, /Expired: Emergency/);
  page("…and its announcement, edited", announced);
  const refused = open("Raise the fees", 6 * DAY, 8 * DAY);
  await hear("Another opens", governance, /New vote request: Raise/);
  for (const voter of superValidators.slice(0, 9)) ledger.castVote(refused, false, voter);
  await hear("Enough no votes", governance, /Enough no votes/);
  const stuck = open("Feature Onyx Bank", 2 * HOUR, 3 * HOUR);
  stuck.isStuck = true;
  await polled();
  for (const voter of superValidators.slice(0, 10)) ledger.castVote(stuck, true, voter);
  await polled();
  await pass(5 * HOUR);
  await hear("It is not carried out", governance, /Overdue: Feature Onyx Bank/);
  await place.bot().stop();
  ledger.decideVoteRequest(open("Feature Iris Bank", HOUR, null), "Rejected");
  await place.pass(MINUTE);
  await place.start();
  await polled();
  await hear("It opened and ended while the bot was offline", governance, /Rejected: Feature Iris Bank/);
  const hidden = open("Feature Lotus Bank", 2 * DAY, null);
  await hear("Another opens, and vanishes", governance, /New vote request: Feature Lotus/);
  place.explorer.mood = (answer, path) => {
    const list = answer as { content: { title: string }[] };
    return path === "/v1/governance/vote-requests"
      ? { ...list, content: list.content.filter(({ title }) => title !== hidden.title) }
      : answer;
  };
  place.explorer.injectFault({ kind: "status", status: 404 }, { path: /details$/ });
  await pass(4 * DAY);
  await hear("…so that its outcome is unknown", governance, /outcome unknown/);
  place.explorer.mood = undefined;
  place.explorer.clearFaults();
}

async function upgradeVote({ place, chapter, hear, ask }: Book): Promise<void> {
  const { ledger } = place.explorer;
  const { governance } = place.discord.channels;
  chapter("An upgrade of the network", "Messages in #governance, and the answer of /network.");
  const upgradeAt = Math.ceil((place.now() + 20 * DAY) / HOUR) * HOUR;
  const iso = (at: number) => new Date(at).toISOString();
  const newConfig = {
    nextScheduledLogicalSynchronizerUpgrade: {
      topologyFreezeTime: iso(upgradeAt - 2 * HOUR),
      upgradeTime: iso(upgradeAt),
      newPhysicalSynchronizerSerial: 2,
      newPhysicalSynchronizerProtocolVersion: "34",
    },
  };
  const request = ledger.openVoteRequest({
    title: "SRARC_SetConfig",
    actionConfig: { tag: "SRARC_SetConfig", value: { baseConfig: {}, newConfig } },
    reason: "The new protocol version settles faster.",
    lastsMs: 7 * DAY,
    effectiveInMs: 8 * DAY,
  });
  await hear("A vote that schedules an upgrade", governance, /New vote request: Network upgrade/);
  ledger.decideVoteRequest(request, "Accepted");
  await hear("It is accepted", governance, /Accepted: Network upgrade/);
  // Too long for an old answer, whose refresh would race with the polls.
  await place.pass(20 * MINUTE);
  await ask("/network", {}, {}, "`/network` until the upgrade");
}

async function privately({ place, chapter, hear, pass, polled, page }: Book): Promise<void> {
  const { ledger } = place.explorer;
  const { world, people } = place.discord;
  const direct = world.directChannel(people.ana);

  chapter("In private", "Ana's direct messages.");
  const watched = ordinaryValidator(ledger);
  await pass(3 * HOUR, [watched.party.id]);
  const alert = await hear("A validator that she watches is silent", direct, /no report for/);
  ledger.setValidatorActive(watched, true);
  await world.until(() => alert.content.includes("Back"), "the end of the silence");
  page("…and is back", alert);
  const [, , represented] = ledger.superValidators;
  const request = ledger.openVoteRequest({
    motion: "feature",
    title: "Feature Helix",
    lastsMs: 3 * DAY,
    effectiveInMs: 5 * DAY,
  });
  // Remove the requester's own vote.
  request.ballots = request.ballots.filter(({ voter }) => voter !== represented);
  await polled();
  await pass(DAY + MINUTE);
  await hear("A super validator that she represents has not voted", direct, /Feature Helix/);
}

async function operating({ place, chapter, hear, page }: Book, ops: Channel): Promise<void> {
  const { world, driver, people, channels } = place.discord;
  chapter("For the operator", "Messages in the operator's channel (OPERATOR_CHANNEL_ID).");
  await place.restart({ OPERATOR_CHANNEL_ID: ops.id });
  place.explorer.accept("another-key");
  const refused = await hear("The explorer rejects the API key", ops, /rejects the API key/);
  const ana = { user: people.ana, channel: channels.general };
  page("…and what people get, if nothing is cached", await driver.ask(ana, "/event list", { order: "ASC" }));
  place.explorer.accept(place.explorer.key);
  // The circuit breaker retries after 15 s. In less than a minute, the time of the problem does not move on, whenever a poll comes. It
  // is over after ten minutes without errors.
  await place.pass(30_000);
  await world.until(() => place.bot().output().includes("The explorer answers again"), "an answer");
  await place.pass(11 * MINUTE);
  await world.until(() => refused.content.includes("Over"), "the end of the trouble");
  page("…and accepts it again", refused);
}

async function sharedNews({ place, chapter, hear, pass, polled }: Book): Promise<void> {
  chapter("Many validators at once", "Messages in #fleet, which has alerts about five validators.");
  const { ledger } = place.explorer;
  const { world, driver, guild, people, channels } = place.discord;
  const fleet = world.addChannel({ type: 0, guild_id: guild.id, name: "fleet" });
  const olga = { user: people.owner, channel: channels.general };
  const five = ledger.validators.filter(({ isSv, party }) => !isSv && party.name !== null).slice(-5);
  for (const { party } of five)
    await driver.ask(olga, "/subscribe validator", { validator: party.id, channel: fleet.id });
  await polled();
  for (const each of five) ledger.validators.splice(ledger.validators.indexOf(each), 1);
  await polled();
  await pass(25 * HOUR);
  await hear("The explorer drops five validators of a channel", fleet, /No longer listed/);
  for (const each of five) {
    ledger.validators.push(each);
    ledger.setValidatorActive(each, true);
  }
  await hear("…and lists them again", fleet, /Listed again/);
  await driver.ask(olga, "/subscribe remove", { channel: fleet.id });
}
