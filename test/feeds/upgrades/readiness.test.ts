import { expect, it } from "vitest";
import { readinessLines, reportReadiness } from "../../../src/feeds/upgrades/readiness.js";
import { surveyVersions } from "../../../src/ledger/versions.js";

const survey = surveyVersions([
  ...Array.from({ length: 30 }, () => ({ active: true, version: "0.8.0" })),
  ...Array.from({ length: 15 }, () => ({ active: true, version: "0.9.0" })),
]);

it("a version that was set for an earlier upgrade is not taken for the one that the next upgrade needs", () => {
  const words = (needed: string | undefined) =>
    readinessLines(reportReadiness(survey, needed), []).join("\n");
  expect(words("0.8.0")).toMatch(/\*\*45\*\* of 45 active validators run `0\.8\.0` or newer/);
  expect(words("0.8.0")).toMatch(/`0\.9\.0` is in common use by now.*`0\.8\.0` was for an earlier upgrade/);
  expect(words("0.9.0")).not.toContain("by now");
  expect(words(undefined)).not.toContain("by now");
});

it.each<[readonly (string | null)[], RegExp]>([
  [["0.9.0"], /^🟢 The validator that this server follows isn't behind\.$/],
  [["0.9.0", "0.9.1"], /^🟢 None of the 2 validators that this server follows is behind\.$/],
  [
    ["0.9.0", null],
    /^No validator that this server follows is known to be behind\. The version of 1 is unknown\.$/,
  ],
  [["0.9.0", "0.8.9", "newest"], /run an older version: V1 `0\.8\.9`\. The version of 1 is unknown\.$/],
  [[null], /^The version of the validator that this server follows is unknown\.$/],
  [["", null], /^The versions of those that this server follows are unknown\.$/],
  [Array.from({ length: 17 }, () => "0.8.0"), /: (V\d+ `0\.8\.0`(, )?){15} and 2 more\.$/],
])("says of followed validators with the versions %j how ready they are", (versions, expected) => {
  const followed = versions.map((version, at) => ({ name: `V${at}`, version }));
  const [, line] = readinessLines(reportReadiness(survey, "0.9.0"), followed);
  expect(String(line)).toMatch(expected);
});

it("has the verb of one validator if only one is active", () => {
  const one = surveyVersions([{ active: true, version: "0.9.0" }]);
  expect(readinessLines(reportReadiness(one, "0.9.0"), []).join()).toMatch(
    /\*\*1\*\* of 1 active validator runs `0\.9\.0`/,
  );
});

it("gives no numbers if no validator is known to be active", () => {
  const idle = surveyVersions([{ active: false, version: "0.9.0" }]);
  expect(readinessLines(reportReadiness(idle, "0.9.0"), []).join()).toBe(
    "Readiness unknown: no validator's version is known.",
  );
});
