import { afterAll, beforeAll, expect, it } from "vitest";
import { PERMISSION } from "../../sandbox/discord/permissions.js";
import type { Message } from "../../sandbox/discord/world.js";
import { type Harness, startHarness } from "../harness.js";

// The votes on one proposal of the foundation often have the same long title.
const TITLE =
  "CIP-0116: Pause the featured application right of applications that have fallen below the lock threshold";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness({ env: () => ({ GOVERNANCE_POLL_SECONDS: "1" }) });
});
afterAll(() => harness.close());

const owner = () => ({ user: harness.discord.people.owner, channel: harness.discord.channels.governance });
const labelsIn = (message: Message) =>
  harness.discord.driver.components(message).flatMap(({ options = [] }) => options.map(({ label }) => label));
let opened = 0;
const open = () => {
  const { ledger } = harness.explorer;
  const request = ledger.openVoteRequest({ title: TITLE, motion: "feature" });
  Object.assign(request, { requester: ledger.superValidators[opened] });
  opened += 1;
};
const countIn = (names: readonly string[]) => new Set(names).size;

it("tells vote requests with the same long title apart in threads, the calendar and menus", async () => {
  const { world, driver, guild, channels } = harness.discord;
  const everyone = guild.roles[0];
  if (everyone) everyone.permissions = String(BigInt(everyone.permissions) | PERMISSION.createEvents);
  await driver.ask(owner(), "/subscribe governance", { thread: true, calendar: true });
  const threads = () =>
    [...world.channels.values()].flatMap(({ parent_id: parent, name }) =>
      parent === channels.governance.id && name.startsWith("CIP-0116") ? [name] : [],
    );
  open();
  await world.until(() => threads().length === 1, "the first thread");
  open();
  await world.until(() => threads().length === 2, "the second thread");
  expect(countIn(threads())).toBe(2);
  const events = () =>
    (world.scheduledEvents.get(guild.id) ?? []).flatMap(({ name }) =>
      name.startsWith("CIP-0116") ? [name] : [],
    );
  await world.until(() => countIn(events()) === 2, "an event for each, with its mark");
  const which = await driver.ask(owner(), "/proposals show", { proposal: "fallen below the lock" });
  expect(countIn(labelsIn(which))).toBe(2);
  expect(JSON.stringify(which.embeds)).toMatch(/… \(.*… \(/);
});

it("puts a title on one line, without invisible characters, in threads and the calendar", async () => {
  const { world, guild, channels } = harness.discord;
  harness.explorer.ledger.openVoteRequest({ title: "First line\n\nsecond \u202eline", motion: "feature" });
  const threads = () =>
    [...world.channels.values()].filter(
      ({ parent_id: parent, name }) => parent === channels.governance.id && name === "First line second line",
    );
  await world.until(() => threads().length === 1, "its thread");
  const events = () => world.scheduledEvents.get(guild.id) ?? [];
  await world.until(() => events().some(({ name }) => name === "First line second line"), "its event");
});

it("tells them apart in one message about several", async () => {
  const { world, driver, channels } = harness.discord;
  const messages = () => world.messages.get(channels.governance.id) ?? [];
  for (let each = 0; each < 10; each += 1) open();
  const message = await world.until(
    () => messages().find(({ content }) => content.includes("10 new vote requests")),
    "the message",
  );
  expect(countIn(labelsIn(message))).toBe(10);
  expect(message.content).toMatch(/… \(.*… \(/);
  const ids = harness.explorer.ledger.voteRequests.slice(0, 2).map(({ contractId }) => contractId);
  for (const proposal of ids) await driver.ask(owner(), "/watch proposal", { proposal });
  const watches = await driver.ask(owner(), "/watch list");
  expect(labelsIn(watches)).toHaveLength(2);
  for (const label of labelsIn(watches)) expect(label).toMatch(/… \(.+\)$/);
});
