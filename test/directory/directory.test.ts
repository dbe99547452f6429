import { beforeAll, describe, expect, it } from "vitest";
import type { NamedEntry } from "../../src/directory/collections.js";
import { createDirectory, type Directory } from "../../src/directory/directory.js";
import { entryLabel } from "../../src/directory/labels.js";

const idOf = (hint: string, at: number) => `${hint}::1220${at.toString(16).padStart(64, "a")}`;
const entry = (name: string | null, hint: string, at: number, active: boolean | null = true): NamedEntry => ({
  id: idOf(hint, at),
  name,
  active,
});

describe("the directory", () => {
  let directory: Directory;
  const names = (text: string) =>
    directory.search(["validator"], text, 25).map(({ entry }) => entry.name ?? entry.id.split("::")[0]);

  beforeAll(async () => {
    directory = createDirectory();
    await directory.replace(
      "validator",
      [
        entry("Old Quartz", "old-quartz", 1, false),
        entry("Quartz Digital", "qd-node", 2, false),
        entry("Quartz Labs", "labs-node", 3),
        entry(null, "quartz-partners", 4),
        entry("Willow", "willow-quartz-9", 5),
        entry("Maple Custody", "maple", 6),
        entry("Cedar Node 12346", "cedar", 7, false),
      ],
      1,
    );
  });

  it("ranks matches by start of the name, start of the id and words, with active entries first among equals", () => {
    expect(names("quartz")).toEqual([
      "Quartz Labs",
      "Quartz Digital",
      "quartz-partners",
      "Willow",
      "Old Quartz",
    ]);
  });

  it("tolerates typos, and finds entries by the start of an id or a fingerprint", () => {
    expect(names("qartz labz")).toEqual(["Quartz Labs"]);
    expect(names("mapel custdy")).toEqual(["Maple Custody"]);
    expect(names("labs-node::1220aaa")).toEqual(["Quartz Labs"]);
    expect(names(`1220${(6).toString(16).padStart(64, "a")}`)[0]).toBe("Maple Custody");
    expect(names("nothing of the sort")).toEqual([]);
    // Another number is another thing.
    expect(names("12346")).toEqual(["Cedar Node 12346"]);
    expect(names("12345")).toEqual([]);
  });

  it("lists active validators first if nothing is typed", () => {
    expect(names("").slice(0, 2)).toEqual(["Quartz Labs", "quartz-partners"]);
  });

  it("finds an entry by its exact name, id or shortened id", () => {
    const ids = (text: string) => directory.named(["validator"], text).map(({ entry: { id } }) => id);
    expect(ids(" quartz labs ")).toEqual([idOf("labs-node", 3)]);
    expect(ids(idOf("maple", 6).toUpperCase())).toEqual([idOf("maple", 6)]);
    expect(ids("maple::1220aa…aaa6")).toEqual([idOf("maple", 6)]);
    expect(ids("quartz")).toEqual([]);
  });

  it("finds only what has all words of a long text that looks like an id", async () => {
    const towns = createDirectory();
    await towns.replace("validator", [entry("Cafe of the old town by the sea", "cafe", 1)], 1);
    const found = (text: string) => towns.search(["validator"], text, 25).map(({ entry: { id } }) => id);
    expect(found("cafe of the old town by the se")).toEqual([idOf("cafe", 1)]);
    expect(found("cafe of the old town by the river")).toEqual([]);
    expect(found("cafe of the old town by th river sea")).toEqual([]);
  });

  it("tolerates a typing error in each word of a long name that looks like an id", async () => {
    const requests = createDirectory();
    const name = "Deactivate the featured application of the Delta Laboratories company";
    await requests.replace("proposal", [{ id: "c1", name, active: true }], 1);
    const found = (text: string) => requests.search(["proposal"], text, 25).map(({ entry: { id } }) => id);
    expect(found("deactivat the featured application of the delta laboratories")).toEqual(["c1"]);
    expect(found("deactivate the featured application of the delta laboratores company")).toEqual(["c1"]);
    expect(found("deactivate the featured application of the delta observatories")).toEqual([]);
  });

  it("limits a label's length, and always keeps the end of the id", () => {
    const long = { ...entry("x".repeat(300), "y".repeat(180), 1) };
    const label = entryLabel(long, 98);
    expect(label.length).toBeLessThanOrEqual(98);
    expect(label.endsWith(long.id.slice(-4))).toBe(true);
  });

  it("derives the upgrade's schedule again after each change of a vote request", async () => {
    const request = (upgradeAt: number | null, acceptedFor: number): NamedEntry => ({
      id: `r${acceptedFor}`,
      name: null,
      active: false,
      upgradeChange: { upgradeAt },
      acceptedFor,
    });
    expect(directory.upgradeDecision()?.schedule).toBeUndefined();
    directory.add("proposal", request(100, 1));
    expect(directory.upgradeDecision()?.schedule).toEqual({ upgradeAt: 100, freezeAt: null });
    directory.add("proposal", request(200, 1));
    expect(directory.upgradeDecision()?.schedule?.upgradeAt).toBe(200);
    await directory.replace("proposal", [request(200, 1), request(null, 2)], Date.now() + 1);
    expect(directory.upgradeDecision()?.schedule).toBeUndefined();
  });
});

it("offers no vote request that the explorer no longer lists, and finds it by its id", async () => {
  const directory = createDirectory();
  const gone = { ...entry("Feature Delta Labs", "gone", 1, false), goneAt: 1 };
  await directory.replace("proposal", [entry("Feature Onyx", "open", 2), gone], 1);
  expect(directory.suggest(["proposal"], "delta", 25)).toEqual([]);
  expect(directory.suggest(["proposal"], "", 25)).toHaveLength(1);
  expect(directory.entry("proposal", gone.id)).toEqual(gone);
});
