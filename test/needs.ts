import { describe } from "vitest";
import { redisInstalled } from "../sandbox/redis-process.js";

/** describe for tests that need a redis-server: skipped with a line where none is installed, and failing under CI. */
export function describeWithRedis(name: string, tests: () => void): void {
  if (redisInstalled() || process.env.CI === "true") {
    describe(name, tests);
    return;
  }
  console.warn(`Skipped: "${name}" needs redis-server. Install it with: apt-get install redis-server`);
  describe.skip(name, tests);
}
