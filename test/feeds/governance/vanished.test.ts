import { afterEach, beforeEach, expect, it } from "vitest";
import type { Channel } from "../../../sandbox/discord/world.js";
import { Refused } from "../../../sandbox/explorer/server.js";
import { DAY, HOUR } from "../../../src/util/units.js";
import { type Harness, startHarness, textOf } from "../../harness.js";

let harness: Harness;
let channel: Channel;
const world = () => harness.discord.world;
const ledger = () => harness.explorer.ledger;
const told = (title: string) =>
  world()
    .read(channel)
    .map(({ notified }) => notified)
    .filter((words) => words.includes(title));
const until = (title: string, words: string) =>
  world().until(() => told(title).some((each) => each.includes(words)), `${words} of ${title}`);
const polls = async (count = 2) => {
  const reads = () => harness.explorer.requests.filter(({ path }) => path.endsWith("/vote-requests")).length;
  const before = reads();
  await world().until(() => reads() > before + count, `${count} polls`);
};
const open = (title: string) =>
  ledger().openVoteRequest({ title, motion: "feature", lastsMs: 2.5 * DAY, effectiveInMs: 3 * DAY });
const subscribe = async (given: Record<string, boolean> = {}) => {
  const { driver, people, channels } = harness.discord;
  const owner = { user: people.owner, channel: channels.general };
  await driver.ask(owner, "/subscribe governance", { channel: channel.id, ...given });
  await polls();
};

beforeEach(async () => {
  harness = await startHarness({ env: () => ({ GOVERNANCE_POLL_SECONDS: "1" }) });
  ledger().moves = false;
  channel = world().addChannel({ type: 0, guild_id: harness.discord.guild.id, name: "votes" });
});
afterEach(() => harness.close());

it("a request that the explorer no longer knows is neither overdue nor worth a reminder", async () => {
  await subscribe();
  const [carriedOut, votedDown] = [open("Carried out"), open("Voted down")];
  await until("Carried out", "New vote request");
  await until("Voted down", "New vote request");
  for (let votes = 0; votes < 12; votes += 1) ledger().castVote(carriedOut, true);
  await until("Carried out", "Enough yes votes");
  ledger().voteRequests.splice(ledger().voteRequests.indexOf(votedDown), 1);
  await polls(3);
  // A reminder two days before the quorum date would be due.
  harness.pass(13 * HOUR);
  await polls(3);
  ledger().voteRequests.splice(ledger().voteRequests.indexOf(carriedOut), 1);
  for (let days = 0; days < 3; days += 1) {
    harness.pass(DAY);
    await polls(3);
  }
  // A request that is still there shows that reminders are sent.
  const control = open("Still there");
  await until("Still there", "New vote request");
  harness.pass(13 * HOUR);
  await until("Still there", "left to vote");
  expect(told("Voted down").filter((words) => words.includes("left to vote"))).toEqual([]);
  expect(told("Carried out").filter((words) => words.includes("Overdue"))).toEqual([]);
  const shown = () =>
    world()
      .read(channel)
      .filter((message) => message.content.includes("Carried out"));
  await world().until(() => shown().some(({ content }) => content.includes("outcome unknown")), "the edit");
  for (const { content } of shown()) expect(content).not.toContain("Overdue");
  ledger().closeVoteRequest(control, "Rejected");
});

it("a request of which only an old contract is left has ended, and is not called overdue", async () => {
  await subscribe();
  const request = open("Left behind");
  await until("Left behind", "New vote request");
  const oldId = request.firstContractId;
  for (let votes = 0; votes < 12; votes += 1) ledger().castVote(request, true);
  await until("Left behind", "Enough yes votes");
  harness.explorer.mood = (answer, path, _, { id }) => {
    if (path.endsWith("/vote-requests")) {
      const all = answer as { readonly content: readonly { readonly trackingCid: string }[] };
      return { ...all, content: all.content.filter((each) => each.trackingCid !== oldId) };
    }
    if (id === oldId) {
      const { rawPayload, ...rest } = answer as Record<string, unknown>;
      return { ...rest, contractId: oldId, status: "In Progress", yesCount: 1, noCount: 0 };
    }
    if (path.endsWith("/details")) throw new Refused(404);
    return answer;
  };
  await polls(3);
  for (let days = 0; days < 5; days += 1) {
    harness.pass(DAY);
    await polls(3);
  }
  await until("Left behind", "outcome unknown");
  expect(told("Left behind").filter((words) => words.includes("Overdue"))).toEqual([]);
  // Its details still say that it is in progress.
  const { driver, people, channels } = harness.discord;
  const ana = { user: people.ana, channel: channels.general };
  for (const command of ["/proposals show", "/proposals votes"]) {
    const shown = textOf(await driver.ask(ana, command, { proposal: oldId }));
    expect(shown).toMatch(/Left behind.*Ended, outcome unknown/);
    expect(shown).not.toMatch(/Votes still count|not voted yet/);
  }
});

it("a request that newer ones push off the only page that the explorer shows has an outcome", async () => {
  let first: unknown;
  harness.explorer.mood = (answer, path, { page }) => {
    if (path !== "/v1/governance/vote-requests") return answer;
    const all = answer as { readonly content: readonly object[] };
    if (Number(page) === 0) first = { ...all, content: all.content.slice(0, 20), last: false };
    return first;
  };
  await subscribe();
  await polls(2);
  const request = open("Pushed out");
  await until("Pushed out", "New vote request");
  for (let at = 0; at < 25; at += 1) open(`Newer ${at}`);
  await polls(3);
  ledger().closeVoteRequest(request, "Rejected");
  await polls(2);
  for (let hours = 0; hours < 3; hours += 1) {
    harness.pass(HOUR);
    await polls(2);
  }
  await until("Pushed out", "Rejected");
});

it("old votes are not news if the first read of them was incomplete", async () => {
  const request = open("Old one");
  for (let votes = 0; votes < 7; votes += 1) ledger().castVote(request, true);
  await polls();
  harness.explorer.mood = (answer, path) => {
    if (path.endsWith("/details")) throw new Refused(503);
    if (!path.endsWith("/votes")) return answer;
    const all = answer as { readonly content: readonly object[] };
    return { ...all, content: all.content.slice(0, 3), last: true };
  };
  await subscribe({ votes: true });
  harness.explorer.mood = undefined;
  await polls(3);
  const [voter] = ledger().superValidators.filter(({ name }) =>
    request.ballots.every((each) => each.voter.name !== name),
  );
  ledger().castVote(request, false);
  await until("Old one", "voted no");
  expect(told("Old one")).toHaveLength(1);
  expect(told("Old one")[0]).toContain(voter?.name);
});
