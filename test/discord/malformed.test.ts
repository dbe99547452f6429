import { afterAll, beforeAll, expect, it } from "vitest";
import { type Harness, startHarness, textOf } from "../harness.js";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

const id = "1573958680603262992";
const person = { id: "1" };

it.each([
  ["INTERACTION_CREATE", null],
  ["INTERACTION_CREATE", { id: "x", type: 2 }],
  ["INTERACTION_CREATE", { id, type: 2, data: null, user: person }],
  ["INTERACTION_CREATE", { id, type: 2, token: "t", data: { type: 1, name: null, options: 7 }, member: {} }],
  [
    "INTERACTION_CREATE",
    { id, type: 3, token: "t", data: { component_type: 2 }, message: null, user: person },
  ],
  ["INTERACTION_CREATE", { id, type: 99 }],
  ["GUILD_CREATE", null],
  ["GUILD_CREATE", { id: "1", channels: 4 }],
  ["GUILD_DELETE", null],
  ["MESSAGE_CREATE", null],
  ["CHANNEL_CREATE", null],
  ["USER_UPDATE", null],
  ["VOICE_STATE_UPDATE", null],
  ["NO_SUCH_EVENT", 4],
  ["READY", null],
])("commands are still answered after a malformed %s: %j", async (event, data) => {
  const { gateway, driver, people, channels } = harness.discord;
  gateway.dispatch(event, data);
  const answer = await driver.ask({ user: people.ana, channel: channels.general }, "/price");
  expect(textOf(answer)).toContain("USD");
});
