import { afterAll, beforeAll, expect, it } from "vitest";
import { type Harness, startHarness } from "../harness.js";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

it("asks the person to try again if Discord's connection breaks twice while it answers", async () => {
  const { discord } = harness;
  const here = { user: discord.people.ana, channel: discord.channels.general };
  discord.trap({ method: "POST", path: /^\/interactions\/.*\/callback$/, error: "reset", times: 2 });
  const answer = await discord.driver.ask(here, "/network");
  expect(answer.content).toContain("The connection to Discord broke");
  expect(harness.bot().output()).toContain("The connection to Discord broke while an answer was sent");
  expect(harness.bot().output()).not.toContain("Unexpected error");
});
