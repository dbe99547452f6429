import { afterAll, beforeAll, expect, it } from "vitest";
import { Refused } from "../../sandbox/explorer/server.js";
import { type Harness, SMALL, startHarness } from "../harness.js";

let harness: Harness;
beforeAll(async () => {
  const mood = (answer: unknown, path: string) => {
    if (path === "/v1/validators" || path.endsWith("/details")) throw new Refused(403);
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

it("does not ask for restricted details of vote requests again each time that a person turns a page", async () => {
  const { driver, people, channels } = harness.discord;
  const ana = { user: people.ana, channel: channels.general };
  const before = harness.explorer.requests.length;
  let list = await driver.ask(ana, "/proposals list", { status: "all" });
  for (let turn = 0; turn < 8; turn += 1) list = await driver.click(ana, list, turn % 2 === 0 ? "▶" : "◀");
  const times = new Map<string, number>();
  for (const { path } of harness.explorer.requests.slice(before))
    if (path.endsWith("/details")) times.set(path, (times.get(path) ?? 0) + 1);
  // Just after the start, the background work reads each of them, too.
  expect(Math.max(0, ...times.values())).toBeLessThanOrEqual(2);
});
