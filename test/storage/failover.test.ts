import { it } from "vitest";
import { openRedisAddress } from "../../sandbox/redis-pair.js";
import { freePort, startRedis } from "../../sandbox/redis-process.js";
import { makeStack } from "../../sandbox/stack.js";
import { connectRedis } from "../../src/storage/redis.js";
import { withTimeout } from "../../src/util/timeouts.js";
import { quiet, SMALL } from "../harness.js";
import { describeWithRedis } from "../needs.js";

/** Connects to the first of two Redis servers through an address that can lead to the other one. */
async function connectedPair(onTestFinished: (close: () => Promise<void>) => void) {
  const [old, next] = [await startRedis(), await startRedis()];
  const address = await openRedisAddress(old);
  const redis = connectRedis(address.url, quiet);
  onTestFinished(async () => {
    await Promise.all([address.close(), old.close(), next.close(), redis.close()]);
  });
  return { old, next, address, redis };
}

describeWithRedis("a failover of Redis", () => {
  it.concurrent("makes the bot unready while the address leads to a replica, and loses or repeats no announcement", async ({
    expect,
    onTestFinished,
  }) => {
    const [old, next] = [await startRedis(), await startRedis()];
    const address = await openRedisAddress(old);
    const healthPort = await freePort();
    const harness = await makeStack({
      explorer: { size: SMALL, lively: false },
      env: ({ channels }) => ({
        REDIS_URL: address.url,
        HTTP_PORT: String(healthPort),
        GOVERNANCE_CHANNEL_ID: channels.governance.id,
        GOVERNANCE_POLL_SECONDS: "1",
      }),
    });
    onTestFinished(async () => {
      await harness.close();
      await Promise.all([address.close(), old.close(), next.close()]);
    });
    await harness.start();
    const { discord, explorer } = harness;
    const readyz = async () => (await fetch(`http://127.0.0.1:${healthPort}/readyz`)).text();
    const announced = (title: string) =>
      (discord.world.messages.get(discord.channels.governance.id) ?? []).filter(({ content }) =>
        content.includes(title),
      ).length;
    await expect.poll(readyz).toBe("ready\n");
    const pollCount = () => explorer.requests.filter(({ path }) => path.endsWith("/vote-requests")).length;
    await expect.poll(pollCount).toBeGreaterThan(2);
    explorer.ledger.openVoteRequest({ title: "Before the failover" });
    await expect.poll(() => announced("Before the failover")).toBe(1);

    await next.replicate(old);
    await next.promote();
    await old.replicate(next);
    await expect.poll(readyz).toContain("the state can't be written");
    explorer.ledger.openVoteRequest({ title: "During the failover" });

    address.leadTo(next);
    await expect.poll(readyz).toBe("ready\n");
    await expect.poll(() => announced("During the failover")).toBe(1);
    expect(announced("Before the failover")).toBe(1);
    const log = harness.bot().output();
    expect(log.match(/leads to a replica/g)).toHaveLength(2);
    expect(log).toContain("Redis is usable again");
  });

  it.concurrent("leads to a new connection of a process that writes nothing", async ({
    expect,
    onTestFinished,
  }) => {
    const { old, next, address, redis } = await connectedPair(onTestFinished);
    const role = () => redis.client.sendCommand(["ROLE"]).then((answer) => [answer].flat()[0], String);
    await expect.poll(role).toBe("master");
    await old.replicate(next);
    address.leadTo(next);
    expect(await role()).toBe("slave");
    await expect.poll(role).toBe("master");
  });

  it.concurrent("leads to a new connection if the old primary no longer answers", async ({
    expect,
    onTestFinished,
  }) => {
    const { old, next, address, redis } = await connectedPair(onTestFinished);
    await expect.poll(() => redis.usable()).toBe(true);
    old.freeze();
    address.leadTo(next);
    const write = () =>
      withTimeout(redis.client.set("crier:written", "1"), 1_000, () => "late").catch(() => "refused");
    await expect.poll(write).toBe("OK");
    await expect.poll(() => redis.usable()).toBe(true);
    old.thaw();
  });
});
