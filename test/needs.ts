import { describe } from "vitest";
import { chromiumPath } from "../sandbox/chromium.js";
import { redisInstalled } from "../sandbox/redis-process.js";

/** describe for tests that need a program: skipped with a line where it is not installed, and failing under CI. */
function describeWith(there: boolean, program: string, name: string, tests: () => void): void {
  if (there || process.env.CI === "true") {
    describe(name, tests);
    return;
  }
  console.warn(`Skipped: "${name}" needs ${program}. Install it with: apt-get install ${program}`);
  describe.skip(name, tests);
}

export const describeWithRedis = (name: string, tests: () => void): void =>
  describeWith(redisInstalled(), "redis-server", name, tests);

export const describeWithChromium = (name: string, tests: () => void): void =>
  describeWith(chromiumPath !== undefined, "chromium", name, tests);
