import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** As anybody runs it, in a process of its own: its clock is virtual. */
async function simulate(...given: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)("npm", ["run", "--silent", "simulate", "--", ...given], {
    cwd: ROOT,
  });
  return stdout;
}

it("lives through thirty hours of faults, kills and silences on two networks, and tells everyone what they must know", {
  timeout: 120_000,
}, async () => {
  const said = await simulate("--days", "1.3", "--seed", "18", "--networks", "2");
  expect(said).toContain("Nothing was told wrongly.");
  expect(said).toContain('"test:requests"');
  const [, processes, messages] = /, (\d+) processes, (\d+) messages/.exec(said) ?? [];
  expect(Number(processes)).toBeGreaterThan(1);
  expect(Number(messages)).toBeGreaterThan(30);
});
