import { afterAll, beforeAll, expect, it } from "vitest";
import { Refused } from "../../sandbox/explorer/server.js";
import { type Harness, SMALL, startHarness } from "../harness.js";

let harness: Harness;
beforeAll(async () => {
  const mood = (answer: unknown, path: string) => {
    if (path === "/v1/validators") throw new Refused(403);
    return answer;
  };
  harness = await startHarness({ explorer: { size: SMALL, lively: false, mood } });
});
afterAll(() => harness.close());

it.each([
  ["/validator versions", {}],
  ["/validator list", { status: "BEHIND" }],
])("%s does not say that a list loads which the API key may not use", async (command, given) => {
  const { driver, people, channels } = harness.discord;
  const { content } = await driver.ask({ user: people.ana, channel: channels.general }, command, given);
  expect(content).toContain("can't get that information from the explorer");
});
