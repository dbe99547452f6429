import { spawnSync } from "node:child_process";
import { describe } from "vitest";
import { chromiumPath } from "../sandbox/chromium.js";
import { redisInstalled } from "../sandbox/redis-process.js";

/** `describe` for tests that need a program. Without it, they are skipped with a warning, or fail in CI. */
function describeWith(
  there: boolean,
  program: string,
  name: string,
  tests: () => void,
  from = program,
): void {
  if (there || process.env.CI === "true") {
    describe(name, tests);
    return;
  }
  console.warn(`Skipped: "${name}" needs ${program}. Install it with: apt-get install ${from}`);
  describe.skip(name, tests);
}

export const describeWithRedis = (name: string, tests: () => void): void =>
  describeWith(redisInstalled(), "redis-server", name, tests);

export const describeWithChromium = (name: string, tests: () => void): void =>
  describeWith(chromiumPath !== undefined, "chromium", name, tests);

const hasPrlimit = spawnSync("prlimit", ["--version"]).status === 0;

/** `describe` for tests that imitate a full disk. They use prlimit to limit the file size of a running process. */
export const describeWithLimits = (name: string, tests: () => void): void =>
  describeWith(hasPrlimit, "prlimit", name, tests, "util-linux");
