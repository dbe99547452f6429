import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { createCommands } from "../commands/index.js";
import { messagesBook } from "../sandbox/book/index.js";
import {
  APPENDIX,
  appendixTo,
  missingIn,
  refusalsInSource,
  sentencesInSource,
} from "../sandbox/book/sentences.js";
import { feeds } from "../src/feeds/index.js";
import { createNetworkChoices } from "../src/networks/choices.js";
import { newState } from "./harness.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const read = (path: string) => readFileSync(join(root, path), "utf8");
const book = read("docs/messages.md");

it("docs/messages.md is up to date (npm run messages updates it)", async () => {
  expect(await messagesBook()).toBe(book);
});

it("docs/messages.md shows an answer for each command", () => {
  const commands = createCommands(feeds, [{ id: "main", name: "MainNet" }], createNetworkChoices(newState()));
  const paths = commands.flatMap(({ definition: { name, options = [] } }) => {
    const subcommands = options.filter(({ type }) => type === 1);
    return subcommands.length === 0 ? [`/${name}`] : subcommands.map((each) => `/${name} ${each.name}`);
  });
  expect(paths.length).toBeGreaterThan(30);
  expect(paths.filter((path) => !new RegExp(`^### \`${path}[\` ]`, "m").test(book))).toEqual([]);
});

/** The part of the book that scenes wrote. */
const [played = ""] = book.split(`\n${APPENDIX}\n`);
const beginnings = (texts: readonly string[]) => [...new Set(texts.map((text) => text.slice(0, 60)))].sort();

it("docs/messages.md plays each sentence in a scene, except those of rare states", () => {
  const sentences = sentencesInSource();
  expect(sentences.length).toBeGreaterThan(150);
  expect(beginnings(missingIn(played, sentences))).toEqual(RARE.toSorted());
});

it("docs/messages.md plays each refusal, except those that need more than a person and a command", () => {
  const refusals = refusalsInSource();
  expect(refusals.length).toBeGreaterThan(40);
  expect(beginnings(missingIn(played, refusals))).toEqual(NOT_SHOWN.toSorted());
});

it("docs/messages.md lists each sentence that no scene shows", () => {
  expect(book.slice(played.length + 1)).toBe(appendixTo(played));
});

/** Beginnings of refusals that no scene shows, because they need a race, a limit or a change in the meantime. */
const NOT_SHOWN: readonly string[] = [
  "The names of super validators are still loading. Try again i",
  "I'm being restarted, and can't finish this. Please try again",
  "That channel no longer exists. Remove its subscription, or p",
  "That isn't a super validator, so it has no votes. Pick one o",
  "This alert was for one time, so there's nothing to snooze.",
  "<#…> already has that subscription, with other settings. Edi",
  "<#…> can't have threads under its messages. Turn off “Open a",
  "The maximum for a move is …%.",
  "… is locked, so I can't post there. Unlock the thread, or pi",
  "`role` and `no-role` contradict each other. Leave one of the",
  "“All super validators” can't be combined with other validato",
  "<#…> already has that subscription. Edit or remove it instea",
  "<#…> already has … subscriptions to …, which is the maximum ",
  "<#…> requires a tag on each post, but has none that everyone",
  "<@&…> isn't mentionable, and you can't ping it either: you d",
  "I can't ping <@&…> in <#…>. Make it mentionable in the serve",
  "<@&…> isn't mentionable, and you don't have … in …. Pick ano",
  "Can't find a super validator with that name or id. Pick one ",
  "Can't find a validator with that id or name. Pick one of the",
  "Can't find that super validator in recent votes. `/proposals",
  "Can't find that watch. `/watch list` shows yours.",
  "Discord limits how many new people I can message, and a lot ",
  "For a move, type a percentage, such as `5%`.",
  "I no longer cover …, so this subscription is on hold. You ca",
  "I'm timed out in this server. Remove the timeout from my pro",
  "Names are still loading. Try again in a minute, or paste the",
  "No super validator with that name has voted lately. Pick one",
  "This alert's subscription was removed.",
  "Only people who can manage the server can change its subscri",
  "Only people who can manage the server can respond to this al",
  "Only people with the pinged role, or who can manage the serv",
  "Pick a channel, and try again.",
  "That matches several of your watches. Pick one of the sugges",
  "That matches several: …. …",
  "That channel isn't in this server. Pick one that is.",
  "That doesn't look like an id. Copy all of it, and try again.",
  "That role no longer exists. Pick another one, or none (in an",
  "That subscription isn't in this server: <#…>.",
  "That subscription no longer exists, or is about something el",
  "That's no longer a super validator, so it has no votes to ca",
  "That's … names. The maximum is ….",
  "This alert is no longer active: it's over, it was a test, or",
  "This alert is over.",
  "This command only works in a server.",
  "This price alert no longer exists, so there's nothing to sno",
  "This server already has representatives for … super validato",
  "This server already has … subscriptions, which is the maximu",
  "Type at least one name or id, and try again.",
  "You already watch … things, which is the maximum. Remove one",
  "You can't subscribe …, because you don't have … there.",
  "You can't watch that any more. Use `/watch` to start another",
  "… of … were added. …",
];

/** Beginnings of sentences that no scene shows, because they need a state that is rare, or that one sandbox does not have. */
const RARE: readonly string[] = [
  "No longer reported here",
  "Problems with the bot are no longer reported in this channel",
  "I couldn't check if it has voted on ….",
  "The explorer answers, but I haven't been able to use its dat",
  "The explorer doesn't give the total balance.",
  "Its reminder times before this date have passed, so I won't ",
  "Nothing changed: you already watch this",
  "You can end it earlier in \\`/watch list\\`.",
  "Too few had voted by the quorum date, ….",
  "Alerts are on again.",
  "Another message says why alerts stayed on hold.",
  "It had no recent data ….",
  "no longer listed by the explorer",
  "⚠️ The others weren't tested: Discord or my storage didn't a",
  "server events are still made",
  "⏸ I can't read the newest round any more; silence alerts sta",
  "⏸ The explorer had new data again after …; silence alerts st",
  "⏰ The reminder times before this date have passed, so I won'",
  "🟡 no recent report from … of …, not alerted yet",
  "🟡 …; not alerted yet: alerts are on hold, or I'm checking a",
  "Explorer data from …; press Refresh to update",
  "🟢 Rounds are advancing after the scheduled network upgrade",
  "⏸️ … is paused. Pick it below and press Resume.",
  "Alerts will arrive as DMs. I couldn't send you one just now.",
  "I can't read the price right now.",
  "It may have been back earlier, because I didn't see all of i",
  "The explorer's last price is **…**, from …. That's too old f",
  "… are set, but no channel pings them. \\`/voters list\\`… show",
  "You aren't watching anything on this network. \\`/watch list\\",
  "You'll be told of each after … without a report, and after t",
  "❌ Rejected by the votes",
  "🟡 …; you'll be told after …",
  "🛠️ The time of the network upgrade has passed: …",
  "I found no complete votes on the newest requests that have e",
  "No validator is known to be active at the moment.",
  "No validator that this server follows is known to be behind.",
  "Only the newest … were searched.",
  "Readiness unknown: no validator's version is known.",
  "The explorer's list …, so this is its ledger event.",
  "The version of the validator that this server follows is unk",
  "at an unknown time",
  "…. I can't read … of the explorer's answer",
  "▫️ No vote is missing on …",
  "▫️ No vote is missing on …: … can't vote any more",
  "🟢 None of the … validators that this server follows is behi",
  "🟢 The validator that this server follows isn't behind.",
  " The version of … is unknown.",
  "Moved. It was scheduled for ….",
  "Posting to … works again, also for its other subscriptions.",
  "Round … was the newest from … until at least ….",
  "The list of super validators hasn't been read yet. Alerts be",
  "The versions of those that this server follows are unknown.",
  "The vote requests haven't been read yet.",
  "⏳ Network upgrade: transactions pause in …",
  "▶️ Silence alerts are on again; I can't read the newest roun",
  "🛠️ Network upgrade: the freeze before it has changed, and …",
  "🟢 none of … is silent",
  " Votes are incomplete for … more.",
  "**Action:** some details changed. Press “Details” to see it ",
  "A post for each …",
  "A thread under each announcement",
  "A vote of the super validators: … ….",
  "Already open (I won't announce these again):",
  "At least one has waited for more than five minutes. I keep t",
  "Before … they reported …. Alerts use the new interval.",
  "Discord refused this channel for more than a day. News waits",
  "First … of …: the explorer doesn't list more",
  "Gaps in the chart: I was offline, or the explorer had no pri",
  "I can't read my price history right now.",
  "I can't read the explorer right now, so I can't list what's ",
  "I couldn't check if … has voted.",
  "I couldn't read the details right now.",
  "I couldn't read who hasn't voted yet.",
  "I haven't read the validators yet.",
  "I'm still reading the accepted votes, so I don't know yet if",
  "If there's still a problem, a new alert follows.",
  "🔴 It's silent now. Its alert is open.",
  "🔴 It's silent now. You'll get an alert in a few minutes, un",
  "⚪ No longer updated: my record of this alert can't be read",
  "I've just started to track the price. The chart appears in a",
  " … is in common use by now. If … was for an earlier upgrade,",
  "In …, commands without \\`network:\\` now use the server's def",
  "It continues if the bot's operator adds that network again.",
  "It has no upcoming deadline.",
  "It hasn't answered for more than 15 minutes. People get cach",
  "It isn't closed yet.",
  "The price has already moved by …% or more. You'll be told of",
  "The price is already … that. You'll be told the next time it",
  "It's part of the group alert of ….",
  "It's too large to attach. You can find it on the explorer's ",
  "Its end was a mistake in the explorer's list. Votes still co",
  "Late because … when it was due.",
  "Most data can still be read. Run … to see what each differen",
  "New commands and options don't appear in Discord. Existing o",
  "This menu adds subscriptions about **…**.",
  "This one-time alert has been sent. To get another, use \\`/su",
  "This one-time alert has been sent. To get another, use \\`/wa",
  "No news, but some data is missing.",
  "Most validators had missed reports at ….",
  "No validator had reported since ….",
  "No news between … and ….",
  "Nothing is open at the moment.",
  "Nothing is set up yet. Pick something to add.",
  "Outages and new validators are included from … on.",
  "Posts get the tag **…**",
  "Published to channels that follow this one",
  "… get reminders. \\`/voters list\\`… shows who they are.",
  "▶️ It's no longer paused.",
  "⚠️ Subscribed to nothing: nothing is posted until you edit i",
  "Set one up with ….",
  "Set up with OPERATOR_CHANNEL_ID. Other channels can't subscr",
  "The details are too large to attach.",
  "I can't look up its last report right now.",
  "The explorer has no details.",
  "The explorer's price is **…**, but it doesn't say from when.",
  "The explorer's price is **…**, but its time is in the future",
  "The explorer's latest votes include … of the votes counted a",
  "The first of them opened …. The explorer didn't list them be",
  "The list of validators is still loading. Please try again in",
  "The number of active validators is unknown.",
  "The only … that matches “…”.",
  "There isn't enough data for a chart: I was offline, or the e",
  "These documents were set aside and count as missing. An expo",
  "They opened before I could check for the first time.",
  "They reported … before, and that may have changed. You won't",
  "You won't get silence alerts until I know how often they rep",
  "This validator exists, but the explorer has no details right",
  "Vote requests haven't been checked yet.",
  "Vote requests that ended before … aren't included: I wasn't ",
  "Votes are included up to …. Since then I couldn't read them.",
  "While the vote is missing, reminders ping each of them in th",
  "While the vote is missing, reminders ping them in ….",
  "You already watch it. This changes your alerts.",
  "You'll be told each time, at most once an hour.",
  "You'll be told once.",
  "by … at the latest",
  "couldn't be read right now",
  "last digest covered up to …",
  "no longer a super validator",
  "the number of yes votes needed isn't known right now",
  "usually votes … after the quorum date",
  "… of them … ended since.",
  "… … not sorted by kind yet: I'm still reading what ….",
  "…and … more. Press “All vote requests” to see them.",
  "…and … more. Press “Newest validators” to see them.",

  "⌛ Expired, not closed yet: … by ……",
  "⏸ Most validators now report less often than …; silence aler",
  "⏸ No validator has reported since …, though the ledger is mo",
  "⏸️ **paused**. Resume it with \\`/subscribe resume\\`",
  "▶️ Validators now report about every …",
  "▶️ Validators report again, … as before",
  "⚠️ Can't test …. Pick it below and press Test to see why.",
  "⚠️ I can't see this channel. It may have been deleted.",
  "⚠️ No channel pings them yet. Add Governance in \\`/setup\\`…,",
  "⚠️ No channel pings them yet: the governance subscription in",
  "⚠️ The explorer is behind: its newest report is from ….",
  "⚠️ \\`…\\` is too early for two missed reports: most validator",
  "⚠️ a deleted role, so nobody is pinged",
  "⚠️ no longer a super validator",
  "⚠️ A role that isn't mentionable is only pinged while both I",
  "⚪ No longer listed: all of yours",
  "⚪ no longer listed since …",
  "⚪ …, no longer listed since …",
  "✅ Done. To get another alert, subscribe to it again.",
  "⌛ Not enough votes in time",
  "✅ Enough yes votes: ready to close",
  "❌ Rejected by the votes, not closed yet",
  "🟢 **The network moves again:** new rounds since …. Validato",
  "🧊 **The network stands still:** no new round since …. Valid",
  "❌ Rejected by the votes: …",
  "🌐 Default network: **…**…. \\`/settings\\` changes it.",
  "🔔 You'll get these alerts again",
  "🟢 Over: … back, … no longer listed",
  "🧪 A test announcement is on its way.",
  "This server has the maximum number of events. Delete some, a",
  "Discord refuses server events. Give me **Create Events** in ",
  "⚠️ pings a role that no longer exists",
  "⚠️ … can't see …, so Discord won't notify them. Grant **View",
  "Replaces …. To ping several people, set a role.",
];
