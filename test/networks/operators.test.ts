import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { botEnvironment, newDataDir } from "../../sandbox/bot-process.js";
import { DiscordError } from "../../sandbox/discord/errors.js";
import { startSandboxDiscord } from "../../sandbox/discord/server.js";
import { startSandboxExplorer } from "../../sandbox/explorer/server.js";
import { makeStack } from "../../sandbox/stack.js";
import { createMetrics } from "../../src/ops/metrics.js";
import { SMALL, textOf } from "../harness.js";

const gateway = () => ({ ready: 1, all: 1 });

it("metrics have a network label only if there are several networks", async () => {
  const countOf = async (networks: readonly (string | undefined)[]) => {
    const metrics = await createMetrics(true, ["governance"], networks, gateway);
    metrics.of(networks.at(-1)).read("price", "memory");
    metrics.of(networks.at(-1)).poll("governance", "done", 5);
    metrics.of(networks.at(-1)).waiting(async () => 7_500);
    return (await metrics.registry?.metrics()) ?? "";
  };
  const two = await countOf(["main", "test"]);
  expect(two).toContain('crier_reads_total{network="test",endpoint="price",source="memory"} 1');
  // Each network's series exist from the start.
  expect(two).toMatch(/crier_poll_seconds_count\{[^}]*network="main"[^}]*\} 0/);
  expect(two).toContain('crier_delivery_waiting_seconds{network="main"} 0');
  expect(two).toContain('crier_delivery_waiting_seconds{network="test"} 7.5');
  const one = await countOf([undefined]);
  expect(one).toContain("crier_delivery_waiting_seconds 7.5");
  expect(one).toContain('crier_reads_total{endpoint="price",source="memory"} 1');
  expect(one).not.toContain("network=");
});

it("the doctor checks each network's explorer, and names the variable to fix", async () => {
  const discord = await startSandboxDiscord();
  const options = { size: SMALL, lively: false };
  const [main, test] = [await startSandboxExplorer(options), await startSandboxExplorer(options)];
  const env = botEnvironment(discord, main, {
    NETWORKS: "main,test",
    EXPLORER_API_URL_TEST: test.url,
    EXPLORER_API_KEY_TEST: "not-the-key",
    DATA_DIR: newDataDir(),
  });
  const doctor = fileURLToPath(new URL("../../dist/src/doctor.js", import.meta.url));
  const said = await new Promise<string>((resolve) => {
    const child = spawn(process.execPath, [doctor], {
      env: { PATH: process.env.PATH ?? "", ...env },
      cwd: newDataDir(),
    });
    let text = "";
    child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
    child.on("close", () => resolve(text));
  });
  expect(said).toContain("✔ Explorer of main");
  expect(said).toContain("✖ Explorer of test");
  expect(said).toContain("Set EXPLORER_API_KEY_TEST to a valid key; check EXPLORER_API_URL_TEST too.");
  expect(said).not.toContain("not-the-key");
  await Promise.all([discord.close(), main.close(), test.close()]);
});

it("the operator's channel names a network's own variables, and tells a problem of the whole bot once", async () => {
  const place = await makeStack({
    explorer: { size: SMALL, lively: false },
    second: { size: SMALL, lively: false },
    jobsPerSecond: 5,
    env: ({ channels }) => ({
      OPERATOR_CHANNEL_ID: channels.governance.id,
      WATCH_POLL_SECONDS: "1",
      GOVERNANCE_POLL_SECONDS: "1",
    }),
  });
  const { discord } = place;
  const error = new DiscordError(503, 0, "Service Unavailable");
  discord.trap({
    method: "GET",
    path: /^\/applications\/\d+\/(guilds\/\d+\/)?commands$/,
    times: 5,
    error,
  });
  await place.start();
  const told = (pattern: RegExp) =>
    discord.world.read(discord.channels.governance).filter((each) => pattern.test(textOf(each))).length;
  await expect.poll(() => told(/commands are not registered/)).toBeGreaterThan(0);
  place.second?.accept("another-key");
  await expect.poll(() => told(/`EXPLORER_API_KEY_TEST`/)).toBe(1);
  expect(told(/commands are not registered/)).toBe(1);
  await place.close();
});
