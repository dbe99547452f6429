import { describe, expect, it } from "vitest";
import { createDirectory } from "../../src/directory/directory.js";
import {
  compareVersions,
  isMajority,
  isVersion,
  surveyVersions,
  versionsBehind,
} from "../../src/ledger/versions.js";
import { versionLists } from "../../src/screens/validators.js";
import { HOUR, MINUTE } from "../../src/util/units.js";

const run = (version: string | null, count: number, active = true) =>
  Array.from({ length: count }, () => ({ version, active }));

it("lists versions in menus only if they fit into an address", async () => {
  const directory = createDirectory();
  const long = `${"999999999.".repeat(4)}9-${"a".repeat(24)}+${"b".repeat(24)}`;
  const entries = [long, "0.6.2"].map((version, at) => ({ id: `v${at}`, name: null, active: true, version }));
  await directory.replace("validator", entries, Date.now());
  expect(versionLists(directory.versions(() => ({ ms: HOUR })))).toEqual([{ version: "0.6.2", count: 1 }]);
});

it("counts a validator as active by its reports, and by the explorer's word only without them", async () => {
  const now = Date.now();
  const directory = createDirectory();
  const survey = async (
    rows: readonly (readonly [seenAgoMs: number | null, active: boolean | null])[],
    readAt = now,
  ) => {
    const entries = rows.map(([ago, active], at) => ({
      ...{ id: `v${at}`, name: null, active, version: "1.0.0" },
      seenAt: ago === null ? null : now - ago,
    }));
    await directory.replace("validator", entries, readAt);
    return directory.versions(() => ({ ms: HOUR })).active;
  };
  // The explorer calls only those active that have just reported, or none.
  expect(
    await survey([
      [MINUTE, true],
      [50 * MINUTE, false],
      [100 * MINUTE, null],
    ]),
  ).toBe(3);
  expect(
    await survey([
      [MINUTE, true],
      [5 * HOUR, true],
      [null, true],
      [null, null],
      [null, false],
    ]),
  ).toBe(2);
  // Just after the network stood still, only the first ones have reported again.
  const still = Array.from({ length: 9 }, () => [5 * HOUR, true] as const);
  expect(await survey([[MINUTE, true], ...still])).toBe(10);
  // An explorer that is behind shows nobody's last report.
  expect(
    await survey([
      [5 * HOUR, true],
      [5.5 * HOUR, false],
      [9 * HOUR, true],
    ]),
  ).toBe(2);
  const before = directory.versions(() => ({ ms: HOUR }));
  directory.add("validator", {
    id: "v0",
    name: null,
    active: null,
    version: "1.0.0",
    seenAt: now - 5 * HOUR,
  });
  expect(directory.versions(() => ({ ms: HOUR }))).toBe(before);
});

describe("versions", () => {
  // Sorted from oldest to newest
  const ordered = [
    "0.4.9",
    "0.4.16",
    "0.6.2",
    "0.6.2.1",
    "0.6.2.10",
    "0.6.3-alpha",
    "0.6.3-rc.2",
    "0.6.3-rc.10",
    "0.6.3-rc.10.1",
    "0.6.3-snapshot.20260801.12345.0.v1a2b3c4d",
    "0.6.3",
    "v0.10",
    "1.0.0",
  ];

  it("are compared numerically, including fourth parts and pre-releases", () => {
    for (const [place, older] of ordered.entries()) {
      for (const newer of ordered.slice(place + 1)) {
        expect(compareVersions(older, newer), `${older} and ${newer}`).toBeLessThan(0);
        expect(compareVersions(newer, older), `${newer} and ${older}`).toBeGreaterThan(0);
      }
      expect(compareVersions(older, older)).toBe(0);
    }
    expect(compareVersions("v0.6.3", "0.6.3+build.7")).toBe(0);
    expect(compareVersions("0.6", "0.6.0")).toBe(0);
  });

  it.each(["soon", "6", "0.6.", "0.6.3 ", "0.6.3-", `0.6.3-${"x".repeat(40)}`, "1.2.3.4.5.6", "0.6.3\n"])(
    "do not include %j",
    (text) => expect(isVersion(text)).toBe(false),
  );

  const survey = surveyVersions([
    ...run("0.6.2", 62),
    ...run("0.6.3", 3),
    ...run("0.6.1", 20),
    ...run("0.6.1.1", 5),
    ...run("0.7.0", 99, false),
    ...run("soon", 90),
    ...run(null, 4),
  ]);

  it("are surveyed for the most common and the newest one among active validators", () => {
    expect(survey).toMatchObject({ active: 184, mostCommon: "0.6.2", newest: "0.6.3" });
    expect(surveyVersions([])).toMatchObject({ active: 0, mostCommon: null, newest: null });
    expect(surveyVersions([...run("0.1.0", 2), ...run("0.2.0", 2)]).mostCommon).toBe("0.2.0");
  });

  it.each([
    ["0.6.3", 0, 0],
    ["0.6.2", 0, 1],
    ["0.6.1.1", 1, 2],
    ["0.6.1", 2, 3],
    ["0.0.1", 3, 4],
    ["0.8.0", 0, 0],
    ["soon", undefined, undefined],
    [null, undefined, undefined],
  ])("are behind by the correct number of versions: %s", (version, mostCommon, newest) => {
    expect(versionsBehind(version, survey.mostCommon, survey)).toBe(mostCommon);
    expect(versionsBehind(version, survey.newest, survey)).toBe(newest);
  });
});

it.each([
  [["0.6.2", "0.6.2", "0.6.1"], true],
  [["0.6.2", "0.6.2", "0.6.1", "0.6.1"], false],
  [["0.6.2", "0.6.2", "0.6.1", "0.6.0", "0.5.9"], false],
  [[], false],
])("a majority runs the most common version of %j: %s", (running, expected) => {
  expect(isMajority(surveyVersions(running.map((version) => ({ active: true, version }))))).toBe(expected);
});
