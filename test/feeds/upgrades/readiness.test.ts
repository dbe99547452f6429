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
