import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { builtFile } from "../../../sandbox/built-files.js";
import type { Channel } from "../../../sandbox/discord/world.js";
import { type Harness, startHarness, textOf } from "../../harness.js";

let harness: Harness;
afterAll(() => harness.close());

it("a problem names the collection of a later network, and a channel that is no longer the operator's says so", async () => {
  let channel: Channel | undefined;
  harness = await startHarness({
    second: {},
    env: ({ world, guild }) => {
      channel = world.addChannel({ type: 0, guild_id: guild.id, name: "crier-ops" });
      return { OPERATOR_CHANNEL_ID: channel.id, WATCH_POLL_SECONDS: "1", GOVERNANCE_POLL_SECONDS: "1" };
    },
  });
  if (!channel) throw new Error("There is no channel");
  const { world, guild } = harness.discord;
  const first = channel;
  const file = join(harness.dataDir, "state.json");
  const tool = (...args: string[]) =>
    execFileSync(process.execPath, [builtFile("state-tool"), ...args], {
      env: { ...process.env, DATA_DIR: harness.dataDir },
      stdio: "ignore",
    });
  await harness.bot().stop();
  tool("export", file);
  const state = JSON.parse(readFileSync(file, "utf8"));
  state.collections["test:unreadable"] = {
    "requests/1": { collection: "requests", id: "1", text: "{}", problem: "it: missing", at: Date.now() },
  };
  writeFileSync(file, JSON.stringify(state));
  tool("import", file, "--replace");
  await harness.start();
  const isTold = (message: Parameters<typeof textOf>[0]) => textOf(message).includes("set aside");
  const told = await world.until(() => world.read(first).find(isTold), "the problem");
  expect(textOf(told)).toMatch(/`unreadable`, or `NETWORK:unreadable` for a network that was added later/);

  await harness.bot().stop();
  const next = world.addChannel({ type: 0, guild_id: guild.id, name: "crier-ops-2" });
  await harness.start({ OPERATOR_CHANNEL_ID: next.id });
  await world.until(() => world.read(next).find(isTold), "the problem, in the new channel");
  await expect.poll(() => told.content).toContain("no longer reported in this channel");
});
