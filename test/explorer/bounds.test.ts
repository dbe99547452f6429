import { describe, expect, it } from "vitest";
import { createDirectory } from "../../src/directory/directory.js";
import { parseAnswer } from "../../src/explorer/client.js";
import { leavesOf, toName, toText } from "../../src/explorer/values.js";
import { clean } from "../../src/text/plain.js";

describe("limits on untrusted data", () => {
  it("limits the length of field paths and values, and the number of fields", () => {
    const wide = Object.fromEntries(
      Array.from({ length: 300 }, (_, place) => [`f${place}`, "y".repeat(100_000)]),
    );
    let nested: unknown = wide;
    for (let level = 0; level < 5; level += 1) nested = { ["k".repeat(1_000_000)]: nested };
    const leaves = leavesOf(nested);
    expect(leaves.size).toBe(200);
    for (const [path, leaf] of leaves) expect(path.length + leaf.length).toBeLessThan(5_000);
    expect(leavesOf(Object.fromEntries(Array.from({ length: 200_000 }, (_, at) => [at, at]))).size).toBe(200);
  });

  it("finds values in deep arguments, but not in endless ones", () => {
    const nested = (levels: number): unknown =>
      Array.from({ length: levels }).reduce((inner: unknown) => ({ a: inner }), "value");
    expect([...leavesOf(nested(16))]).toEqual([[Array.from({ length: 16 }, () => "a").join("."), "value"]]);
    expect(leavesOf(nested(10_000)).size).toBe(0);
  });

  it("shortens long text, and names even more", () => {
    expect(toText("x".repeat(10_000_000))?.length).toBe(20_000);
    expect(toName("x".repeat(2_400_000))?.length).toBe(200);
    expect(toName("  Delta\nLabs ")).toBe("Delta\nLabs");
    expect([toName(""), toName(null), toName(7)]).toEqual([null, null, "7"]);
    const token = parseAnswer("token", { name: "x".repeat(2_400_000), symbol: "y".repeat(1_000) });
    expect([token.name?.length, token.symbol?.length]).toEqual([200, 200]);
  });

  it("reads an implausible price as unknown", () => {
    const priceOf = (price: unknown) => parseAnswer("price", { price }).price;
    expect([priceOf(1e308), priceOf("1e308"), priceOf(2e9), priceOf(0.15)]).toEqual([
      null,
      null,
      null,
      "0.15",
    ]);
  });

  it("removes invisible characters and excess combining marks", () => {
    expect(clean("\u2800\u2800")).toBe("");
    expect(toName("\u2800")).toBeNull();
    expect(clean(`Delta${"\u0301".repeat(254)} Labs`)).toBe("Delta\u0301\u0301\u0301 Labs");
    expect(clean("café, Ελλάδα, हिन्दी, ไทย")).toBe("café, Ελλάδα, हिन्दी, ไทย");
  });

  it("copes with very long autocomplete input", async () => {
    const directory = createDirectory();
    const entries = Array.from({ length: 5_000 }, (_, at) => ({
      id: `party-${at}::1220${String(at).padStart(64, "0")}`,
      name: `Quartz ${at} Pavilion Custody`,
      active: null,
    }));
    await directory.replace("party", entries, Date.now());
    for (const typed of ["q".repeat(600), "quartz ".repeat(80), "ab ".repeat(200), "é".repeat(600)])
      expect(directory.search(["party"], typed, 25).length).toBeLessThanOrEqual(25);
    expect(directory.search(["party"], "quartz 17 pavilion", 1)[0]?.entry.id).toBe(entries[17]?.id);
  });
});
