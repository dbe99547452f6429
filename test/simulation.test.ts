import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { FAULTS } from "../simulation/faults/list.js";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** Runs the simulation in a separate process, because it uses a virtual clock. */
async function simulate(...given: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)("npm", ["run", "--silent", "simulate", "--", ...given], {
    cwd: ROOT,
  });
  return stdout;
}

it("sends every announcement correctly during thirty hours of faults, kills and silences on two networks", async () => {
  const said = await simulate("--days", "1.3", "--seed", "18", "--networks", "2");
  expect(said).toContain("Nothing was told wrongly.");
  expect(said).toContain('"test:requests"');
  const [, processes, messages] = /, (\d+) processes, (\d+) messages/.exec(said) ?? [];
  expect(Number(processes)).toBeGreaterThan(1);
  expect(Number(messages)).toBeGreaterThan(30);
});

it.each(Object.entries(FAULTS))(
  "can put the fault %s back (npm run simulate:faults)",
  (_, { file, changes }) => {
    const code = readFileSync(new URL(`../${file}`, import.meta.url), "utf8");
    for (const [from] of changes) expect(code).toContain(from);
  },
);
