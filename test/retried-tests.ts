import type { TestCase } from "vitest/node";
import type { Reporter } from "vitest/reporters";

/** Maximum length of a printed difference, in characters. */
const MAX_DIFF = 3_000;

/** Prints the errors of tests that passed only when they ran again, so that a log of CI shows what was wrong at first. */
export class RetriedTests implements Reporter {
  onTestCaseResult(test: TestCase): void {
    const { state, errors = [] } = test.result();
    if (state !== "passed") return;
    for (const { message, diff = "", stacks = [] } of errors) {
      const at = stacks[0] ? ` (${stacks[0].file}:${stacks[0].line})` : "";
      console.warn(`Failed at first: ${test.fullName}: ${message}${at}\n${diff.slice(0, MAX_DIFF)}`);
    }
  }
}
