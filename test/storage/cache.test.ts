import { describe, expect, it } from "vitest";
import { createCache } from "../../src/storage/cache.js";

describe("the cache in memory", () => {
  const wish = { newerThan: 0, parse: (data: unknown) => data };

  it("is bounded in bytes, and evicts the least recently used entry", async () => {
    const cache = createCache({ memoryMb: 1, log: { warn: () => {} } });
    const entry = (at: number) => ({ data: { at }, fetchedAt: Date.now(), bytes: 10_000 });
    for (let at = 0; at < 200; at += 1) {
      await cache.set(`key ${at}`, entry(at), 60_000);
      await cache.get("key 0", wish);
    }
    const held = await Promise.all(Array.from({ length: 200 }, (_, at) => cache.get(`key ${at}`, wish)));
    const kept = held.flatMap((each, at) => (each ? [at] : []));
    // An object takes about twice the size of its JSON, so 1 MB holds about fifty objects of 10 kB.
    expect(kept.length).toBeGreaterThan(40);
    expect(kept.length).toBeLessThan(60);
    expect(kept[0]).toBe(0);
    expect(kept.at(-1)).toBe(199);
  });

  it("accepts a fractional size, because several networks share the memory", async () => {
    const cache = createCache({ memoryMb: 64 / 3, log: { warn: () => {} } });
    await cache.set("key", { data: 1, fetchedAt: Date.now(), bytes: 1 }, 60_000);
    expect(await cache.get("key", wish)).toBeDefined();
  });

  it("does not store an entry that is larger than the cache, and expires entries", async () => {
    const cache = createCache({ memoryMb: 1, log: { warn: () => {} } });
    await cache.set("huge", { data: 1, fetchedAt: Date.now(), bytes: 5_000_000 }, 60_000);
    await cache.set("brief", { data: 1, fetchedAt: Date.now(), bytes: 1 }, 1);
    expect(await cache.get("huge", wish)).toBeUndefined();
    await expect.poll(() => cache.get("brief", wish)).toBeUndefined();
  });
});
