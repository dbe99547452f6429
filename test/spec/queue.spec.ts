import { describe, expect, it } from "vitest";
import type { Delivery } from "../../src/delivery/collections.js";
import { mayBeNext } from "../../src/delivery/decisions.js";

describe("the deliveries to a channel that may be sent next", () => {
  const delivery = (subject: string, attempts: number): Delivery => ({
    feed: "governance",
    channelId: "1",
    subject: null,
    event: subject,
    at: 0,
    order: 0,
    attempts,
    notBefore: 0,
  });
  it.each<[string, readonly (readonly [string, number])[], readonly number[]]>([
    [
      "are the first one",
      [
        ["a", 0],
        ["b", 0],
      ],
      [0],
    ],
    [
      "are the first one, after it has failed a few times",
      [
        ["a", 4],
        ["b", 0],
      ],
      [0],
    ],
    [
      "are the first two, after one has failed for half a minute",
      [
        ["a", 5],
        ["b", 0],
        ["c", 0],
      ],
      [0, 1],
    ],
    [
      "do not overtake news about the same subject",
      [
        ["a", 5],
        ["a", 0],
        ["b", 0],
      ],
      [0, 2],
    ],
    [
      "are as many as needed",
      [
        ["a", 9],
        ["b", 7],
        ["c", 1],
        ["d", 0],
      ],
      [0, 1, 2],
    ],
  ])("%s", (_, all, expected) => {
    const waiting = new Map(all.map(([subject, attempts], at) => [String(at), delivery(subject, attempts)]));
    const next = [...mayBeNext(waiting, ({ event }) => [String(event)])];
    expect(next.map(([id]) => Number(id))).toEqual(expected);
  });

  it("come before tests, however many were asked for earlier", () => {
    const tests = ["0", "1"].map((id) => [id, { ...delivery("a", 0), drill: true }] as const);
    const next = (all: readonly (readonly [string, Delivery])[]) =>
      [...mayBeNext(new Map(all), () => [])].map(([id]) => id);
    expect(next([...tests, ["2", delivery("b", 0)]])).toEqual(["2"]);
    expect(next(tests)).toEqual(["0"]);
  });

  it("wait if one of their subjects has news that fails", () => {
    const waiting = new Map([
      ["0", delivery("a", 5)],
      ["1", delivery("a b", 5)],
      ["2", delivery("c", 0)],
    ]);
    const next = [...mayBeNext(waiting, ({ event }) => String(event).split(" "))];
    expect(next.map(([id]) => id)).toEqual(["0", "2"]);
  });
});
