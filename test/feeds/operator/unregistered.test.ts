import { afterEach, expect, it } from "vitest";
import { DiscordError } from "../../../sandbox/discord/errors.js";
import type { Channel } from "../../../sandbox/discord/world.js";
import { makeStack, type Stack } from "../../../sandbox/stack.js";
import { SMALL, textOf } from "../../harness.js";

let stack: Stack;
afterEach(() => stack.close());

it("does not report the end of unregistered commands because the bot restarts", async () => {
  let channel: Channel | undefined;
  stack = await makeStack({
    jobsPerSecond: 5,
    explorer: { size: SMALL, lively: false },
    env({ world, guild }) {
      channel = world.addChannel({ type: 0, guild_id: guild.id, name: "crier-ops" });
      return { OPERATOR_CHANNEL_ID: channel.id, WATCH_POLL_SECONDS: "1", GOVERNANCE_POLL_SECONDS: "1" };
    },
  });
  const { discord } = stack;
  const { world } = discord;
  const told = () => (channel ? world.read(channel).map(textOf) : []);
  const error = new DiscordError(503, 0, "Service Unavailable");
  // Discord takes a while to answer, and the feed is polled meanwhile.
  discord.trap({ method: "PUT", path: /commands$/, times: 1_000, error, delayMs: 1_000 });
  await stack.start();
  await world.until(() => told().length > 0, "a notice");
  const before = told();
  await stack.restart();
  const polls = () => stack.explorer.requests.length;
  const from = polls();
  await world.until(() => polls() > from + 5, "some readings");
  expect(told()).toEqual(before);
});
