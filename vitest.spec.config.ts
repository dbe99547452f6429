import { defineConfig } from "vitest/config";

/** The specification of the core alone: what `npm run mutate` runs for each mutant. */
export default defineConfig({ test: { include: ["test/spec/**/*.spec.ts"], maxWorkers: 1 } });
