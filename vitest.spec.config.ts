import { defineConfig } from "vitest/config";

/** The specification of the core alone, with the table of ids: what `npm run mutate` runs for each mutant. */
export default defineConfig({
  test: { include: ["test/spec/**/*.spec.ts", "test/text/ids.test.ts"], maxWorkers: 1 },
});
