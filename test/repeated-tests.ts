import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { TestCase, TestModule } from "vitest/node";
import type { Reporter } from "vitest/reporters";

/** Maximum length of a printed difference, in characters. */
const MAX_DIFF = 3_000;
/** Lists the test files that failed, one in each line. `.ci/run` runs them again. */
const FAILED_FILES = "node_modules/.cache/failed-tests.txt";

/** Reports what failed at first: prints the errors of tests that passed when they ran again, and lists the files that failed. */
export class RepeatedTests implements Reporter {
  onTestCaseResult(test: TestCase): void {
    const { state, errors = [] } = test.result();
    if (state !== "passed") return;
    for (const { message, diff = "", stacks = [] } of errors) {
      const at = stacks[0] ? ` (${stacks[0].file}:${stacks[0].line})` : "";
      console.warn(`Failed at first: ${test.fullName}: ${message}${at}\n${diff.slice(0, MAX_DIFF)}`);
    }
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    // An error outside of the tests is not repeated, so that it fails the run.
    const failed = unhandledErrors.length > 0 ? [] : modules.filter((module) => !module.ok());
    mkdirSync(dirname(FAILED_FILES), { recursive: true });
    writeFileSync(FAILED_FILES, failed.map(({ relativeModuleId }) => `${relativeModuleId}\n`).join(""));
  }
}
