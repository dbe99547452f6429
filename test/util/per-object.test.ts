import { expect, it } from "vitest";
import { perObject, rememberLast } from "../../src/util/per-object.js";

it("computes a result once per object", () => {
  const made: object[] = [];
  const of = perObject((from: object) => made.push(from));
  const [first, second] = [{}, {}];
  expect([of(first), of(second), of(first), of(second)]).toEqual([1, 2, 1, 2]);
});

it("computes a result again if an argument is another object", () => {
  let calls = 0;
  const of = rememberLast((rows: readonly number[], unit: string) => `${rows} ${unit} ${++calls}`);
  const rows = [1, 2];
  expect([of(rows, "ms"), of(rows, "ms")]).toEqual(["1,2 ms 1", "1,2 ms 1"]);
  expect([of(rows, "s"), of(rows, "ms"), of([1, 2], "ms")]).toEqual(["1,2 s 2", "1,2 ms 3", "1,2 ms 4"]);
});
