import { describe, expect, it } from "vitest";
import { jsonFile } from "../../src/screens/json-file.js";

const MEGABYTE = 1024 * 1024;

function nested(depth: number, inner: unknown): unknown {
  let value = inner;
  for (let level = 0; level < depth; level += 1) value = [value];
  return value;
}

describe("JSON as a file", () => {
  it("is indented, and named for what it is", () => {
    const file = jsonFile("update-12:3", { a: [1] });
    expect(file?.name).toBe("update-12_3.json");
    expect(file?.content.toString()).toBe('{\n  "a": [\n    1\n  ]\n}\n');
  });

  it("is compact where indenting would make it many times larger", () => {
    const file = jsonFile("deep", nested(90, Array(100_000).fill(1)));
    expect(file?.content.length).toBeLessThan(MEGABYTE);
  });

  it("is left out where it is too large, or nested deeper than can be written", () => {
    expect(jsonFile("large", "x".repeat(9 * MEGABYTE))).toBeUndefined();
    expect(jsonFile("deep", nested(100_000, 1))).toBeUndefined();
    expect(jsonFile("long", Array(1_000_000).fill(nested(2, 1)))?.content.length).toBeLessThan(8 * MEGABYTE);
  });
});
