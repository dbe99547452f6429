import { describe, expect, it } from "vitest";
import { jsonFile } from "../../src/screens/json-file.js";

const MEGABYTE = 1024 * 1024;

function nested(depth: number, inner: unknown): unknown[] {
  let value: unknown[] = [inner];
  for (let level = 1; level < depth; level += 1) value = [value];
  return value;
}

describe("JSON as a file", () => {
  it("is indented, and has a suitable name", async () => {
    const file = await jsonFile("update-12:3", { a: [1] });
    expect(file?.name).toBe("update-12_3.json");
    expect(file?.content.toString()).toBe('{\n  "a": [\n    1\n  ]\n}\n');
  });

  it("is compact if indenting would make it many times larger", async () => {
    const file = await jsonFile("deep", nested(90, Array(100_000).fill(1)));
    expect(file?.content.length).toBeLessThan(MEGABYTE);
  });

  it("is left out if it is too large, or nested too deeply", async () => {
    expect(await jsonFile("large", ["x".repeat(9 * MEGABYTE)])).toBeUndefined();
    expect(await jsonFile("deep", nested(100_000, 1))).toBeUndefined();
    expect((await jsonFile("long", Array(1_000_000).fill(nested(2, 1))))?.content.length).toBeLessThan(
      8 * MEGABYTE,
    );
  });

  it("is created once for all callers with the same data", async () => {
    const details = { events: Array(1_000).fill({ a: 1 }) };
    const all = await Promise.all(Array.from({ length: 40 }, () => jsonFile("update-1", details)));
    expect(new Set(all.map((file) => file?.content)).size).toBe(1);
    expect((await jsonFile("event-1", details))?.name).toBe("event-1.json");
  });
});
