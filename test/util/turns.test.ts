import { describe, expect, it } from "vitest";
import { createTurns } from "../../src/util/turns.js";

/** Takes all items in order. */
function drain<Item>(turns: ReturnType<typeof createTurns<Item>>): Item[] {
  const taken: Item[] = [];
  for (let turn = turns.next(); turn; turn = turns.next()) taken.push(turn.item);
  return taken;
}

describe("a queue of lines that take turns", () => {
  it("serves the lines in turn, and each line first in, first out", () => {
    const turns = createTurns<string>();
    for (const item of ["a1", "a2", "a3", "b1", "c1", "b2"]) turns.add(item.slice(0, 1), item);
    expect(drain(turns)).toEqual(["a1", "b1", "c1", "a2", "b2", "a3"]);
    expect(turns.size).toBe(0);
  });

  it("takes an item that is in two lines only once", () => {
    const turns = createTurns<string>();
    turns.add("a", "shared");
    turns.add("b", "shared");
    turns.add("b", "own");
    expect(drain(turns)).toEqual(["shared", "own"]);
  });

  it("skips a line that may not have a turn, and keeps its place", () => {
    const turns = createTurns<string>();
    turns.add("a", "a1");
    turns.add("b", "b1");
    expect(turns.next((line) => line !== "a")?.item).toBe("b1");
    expect(turns.next((line) => line !== "a")).toBeUndefined();
    expect(turns.peek()).toBe("a1");
    expect([turns.has("a1"), turns.has("b1")]).toEqual([true, false]);
    expect(drain(turns)).toEqual(["a1"]);
  });

  it("drops removed items, and all items when cleared", () => {
    const turns = createTurns<string>();
    turns.add("a", "a1");
    turns.add("a", "a2");
    expect([turns.delete("a1"), turns.delete("a1")]).toEqual([true, false]);
    expect(turns.clear()).toEqual(["a2"]);
    expect(drain(turns)).toEqual([]);
  });
});
