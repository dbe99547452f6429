import { expect, it } from "vitest";
import { startRedis } from "../../sandbox/redis-process.js";
import { makeStack, SMALL } from "../../sandbox/stack.js";
import { describeWithRedis } from "../needs.js";

describeWithRedis("networks that old buttons cannot distinguish, with the state in Redis", () => {
  it("end the bot, which says why", async () => {
    const redis = await startRedis();
    const place = await makeStack({
      explorer: { size: SMALL, lively: false },
      second: { size: SMALL, lively: false },
      env: () => ({ REDIS_URL: redis.url }),
    });
    await place.start();
    const { identifies } = place.discord.gateway;
    const { url = "", key = "" } = place.second ?? {};
    await place
      .restart({
        NETWORKS: "main,testnet",
        NETWORK_NAME_TESTNET: "TestNet",
        EXPLORER_API_URL_TESTNET: url,
        EXPLORER_API_KEY_TESTNET: key,
      })
      .catch(() => {});
    expect(await place.bot().exited).toBe(1);
    expect(place.discord.gateway.identifies).toBe(identifies);
    expect(place.bot().output()).toMatch(/^NETWORKS: testnet and test begin with the same two characters/m);
    await place.close();
    await redis.close();
  });
});
