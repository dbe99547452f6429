import { afterEach, expect, it } from "vitest";
import type { Mood } from "../../../sandbox/explorer/server.js";
import { makeStack } from "../../../sandbox/stack.js";
import { type Harness, SMALL, startHarness, textOf } from "../../harness.js";

let harness: Harness;
afterEach(() => harness.close());

/** Answers every page of the vote requests with the first one, while the explorer ignores page numbers. */
function onlyPage(ignoresPages: () => boolean): Mood {
  let firstPage: unknown;
  return (answer, path, { page }) => {
    if (!path.endsWith("/vote-requests")) return answer;
    if (Number(page) === 0) firstPage = answer;
    return ignoresPages() ? firstPage : answer;
  };
}

it("reads pages up to the last open request, and all pages if the total changes or every ten minutes", async () => {
  harness = await startHarness({
    explorer: { size: { ...SMALL, voteRequests: 330 } },
    env: ({ channels }) => ({
      GOVERNANCE_CHANNEL_ID: channels.governance.id,
      GOVERNANCE_POLL_SECONDS: "1",
    }),
  });
  const { world, channels } = harness.discord;
  const { ledger, requests } = harness.explorer;
  const pages = () =>
    requests.filter(({ path }) => path.endsWith("/vote-requests")).map(({ query }) => Number(query.page));
  /** Returns the pages that are read during this number of polls. */
  const during = async (polls: number, act: () => void = () => {}): Promise<number[]> => {
    const before = pages().length;
    act();
    const since = () => pages().slice(before);
    await world.until(() => since().filter((page) => page === 0).length > polls, "polls");
    return since();
  };
  await world.until(() => pages().includes(3), "the baseline");
  await during(1);
  expect(Math.max(...(await during(1)))).toBe(0);

  expect(await during(1, () => ledger.openVoteRequest({ title: "One more" }))).toContain(3);
  await world.until(
    () => world.read(channels.governance).some((message) => textOf(message).includes("One more")),
    "the announcement",
  );
  await during(1);
  expect(Math.max(...(await during(1)))).toBe(0);
  expect(await during(1, () => harness.pass(10 * 60_000))).toContain(3);

  // An open request is on a later page, so the pages up to it are read for its votes.
  const [open] = ledger.voteRequests.splice(0, 1);
  if (open) ledger.voteRequests.splice(250, 0, open);
  await during(1);
  const deep = await during(1);
  expect(deep).toContain(2);
  expect(deep).not.toContain(3);
});

it("announces the first vote request of a network, but not old ones that an empty answer had left out, and corrects an outcome", async () => {
  harness = await startHarness({
    explorer: { size: { ...SMALL, voteRequests: 0 } },
    env: ({ channels }) => ({
      GOVERNANCE_CHANNEL_ID: channels.governance.id,
      GOVERNANCE_POLL_SECONDS: "1",
    }),
  });
  const { world, channels } = harness.discord;
  const { ledger, requests } = harness.explorer;
  const polls = () => requests.filter(({ path }) => path.endsWith("/vote-requests")).length;
  const announced = (title: string) =>
    world.read(channels.governance).some((message) => textOf(message).includes(title));
  await world.until(() => polls() > 3, "some polls");
  const old = ledger.openVoteRequest({ title: "An old one" });
  old.createdAt -= 5 * 3_600_000;
  ledger.openVoteRequest({ title: "The first one" });
  await world.until(() => announced("The first one"), "the announcement");
  expect(announced("An old one")).toBe(false);

  // An outcome that the explorer states differently later is corrected.
  const news = (pattern: RegExp) =>
    world.until(
      () => world.read(channels.governance).some(({ notified }) => pattern.test(notified)),
      `${pattern}`,
    );
  const request = ledger.openVoteRequest({ title: "Misread" });
  await news(/^🗳️ New vote request: Misread/);
  ledger.closeVoteRequest(request, "Accepted");
  await news(/^✅ Accepted: Misread/);
  ledger.closeVoteRequest(request, "Rejected");
  const closed = polls();
  await world.until(() => polls() > closed + 3, "the other outcome");
  expect(world.read(channels.governance).some(({ notified }) => /Corrected/.test(notified))).toBe(false);
  harness.pass(61 * 60_000);
  await news(/^✏️ Corrected outcome: ❌ Rejected: Misread/);
});

it("announces what is new on the only page of an explorer that ignores page numbers, and not what was behind it once it is shown", async () => {
  let ignoresPages = true;
  harness = await startHarness({
    explorer: { size: { ...SMALL, voteRequests: 130 }, mood: onlyPage(() => ignoresPages) },
    env: ({ channels }) => ({
      GOVERNANCE_CHANNEL_ID: channels.governance.id,
      GOVERNANCE_POLL_SECONDS: "1",
    }),
  });
  const { world, channels } = harness.discord;
  const { ledger, requests } = harness.explorer;
  // Open requests that the first page does not show.
  const open = ledger.voteRequests.splice(0, 5);
  ledger.voteRequests.push(...open);
  const polls = () => requests.filter(({ path }) => path.endsWith("/vote-requests")).length;
  const until = (count: number) => {
    const before = polls();
    return world.until(() => polls() > before + count, "polls");
  };
  await until(10);
  ledger.openVoteRequest({ title: "Seen at last" });
  const told = () => world.read(channels.governance).map(textOf);
  await world.until(() => told().some((text) => text.includes("Seen at last")), "the announcement");
  ignoresPages = false;
  harness.pass(11 * 60_000);
  await until(6);
  expect(told()).toEqual([expect.stringContaining("Seen at last")]);
});

it("announces what opened after a subscription that was made before the explorer answered for the first time", async () => {
  harness = await makeStack({
    explorer: { size: SMALL, lively: false },
    jobsPerSecond: 5,
    env: () => ({ EXPLORER_REQUESTS_PER_MINUTE: "6000", GOVERNANCE_POLL_SECONDS: "1" }),
  });
  const { explorer, discord } = harness;
  const { world, channels, people, driver } = discord;
  explorer.injectFault({ kind: "status", status: 503 });
  await harness.start();
  const answer = await driver.ask(
    { user: people.owner, channel: channels.general },
    "/subscribe governance",
    {
      channel: channels.governance.id,
    },
  );
  expect(textOf(answer)).toContain("Subscribed");
  harness.pass(60_000);
  explorer.ledger.openVoteRequest({ title: "Opened meanwhile" });
  explorer.clearFaults();
  harness.pass(60_000);
  await world.until(
    () => world.read(channels.governance).some((message) => textOf(message).includes("Opened meanwhile")),
    "the announcement",
  );
  expect(world.read(channels.governance)).toHaveLength(1);
});

it("logs what the explorer answers instead of the vote requests, if they stay unread", async () => {
  harness = await makeStack({
    explorer: { size: SMALL, lively: false },
    jobsPerSecond: 5,
    env: ({ channels }) => ({
      EXPLORER_REQUESTS_PER_MINUTE: "6000",
      GOVERNANCE_CHANNEL_ID: channels.governance.id,
      GOVERNANCE_POLL_SECONDS: "1",
    }),
  });
  harness.explorer.injectFault({ kind: "html" }, { path: /\/vote-requests$/ });
  await harness.start();
  const polls = () =>
    harness
      .bot()
      .output()
      .split("\n")
      .filter((line) => line.includes('"job":"poll of governance"'));
  await expect.poll(polls).toHaveLength(1);
  expect(polls()[0]).toContain("the answer is not JSON");
  harness.explorer.clearFaults();
  await expect.poll(polls, { timeout: 10_000 }).toHaveLength(2);
  expect(polls()[1]).toContain("The explorer answers the background job again");
});
