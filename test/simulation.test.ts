import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** A process of its own: its clock is virtual. */
async function simulate(...given: string[]): Promise<{ stdout: string; messages: number }> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--max-semi-space-size=64", "--import", "tsx", "simulation/main.ts", ...given],
    { cwd: ROOT },
  );
  return { stdout, messages: Number(/, (\d+) messages/.exec(stdout)?.[1]) };
}

it("lives through two days of faults, kills and silences, and tells everybody what they must be told", {
  timeout: 120_000,
}, async () => {
  const { stdout, messages } = await simulate("--days", "2", "--seed", "21");
  expect(stdout).toContain("Nothing was told wrongly.");
  expect(messages).toBeGreaterThan(5);
});

it("does so on two networks, each with a community of its own", { timeout: 120_000 }, async () => {
  const { stdout, messages } = await simulate("--days", "1", "--seed", "21", "--networks", "2");
  expect(stdout).toContain("Nothing was told wrongly.");
  expect(stdout).toContain('"test:requests"');
  expect(messages).toBeGreaterThan(5);
});
