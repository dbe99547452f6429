import { afterAll, beforeAll, expect, it } from "vitest";
import { type Harness, startHarness } from "../harness.js";

/** Discord's limit for the first response, in ms. */
const LIMIT_MS = 3_000;
let harness: Harness;
const type = (command: string) => {
  const { driver, people, channels } = harness.discord;
  return driver.type({ user: people.ana, channel: channels.general }, command);
};

beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

it("a command that waited for a busy process is deferred in time", async () => {
  const { world, driver } = harness.discord;
  // The bot learns from them how long an interaction takes to arrive.
  for (let count = 0; count < 5; count += 1) await driver.answered(type("/help"));
  harness.explorer.injectFault({ kind: "slow", ms: LIMIT_MS }, { path: /transfers/, times: 1 });
  const { child } = harness.bot();
  child.kill("SIGSTOP");
  const late = type("/transfers");
  const ageMs = () => performance.now() - late.sentAt;
  await expect.poll(ageMs, { interval: 50 }).toBeGreaterThan(1_800);
  child.kill("SIGCONT");
  await world.until(() => late.answeredAt, "the first response");
  expect((late.answeredAt ?? Number.NaN) - late.sentAt).toBeLessThan(LIMIT_MS);
  await driver.answered(late);
  expect(world.refusals).toEqual([]);
});
