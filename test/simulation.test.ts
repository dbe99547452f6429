import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** A process of its own: its clock is virtual. */
it("lives through two days of faults, kills and silences, and tells everybody what they must be told", {
  timeout: 120_000,
}, async () => {
  const given = ["--import", "tsx", "simulation/main.ts", "--days", "2", "--seed", "21"];
  const { stdout } = await promisify(execFile)(process.execPath, given, { cwd: ROOT });
  expect(stdout).toContain("Nothing was told wrongly.");
  expect(Number(/, (\d+) messages/.exec(stdout)?.[1])).toBeGreaterThan(5);
});
