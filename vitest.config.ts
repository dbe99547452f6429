import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.{test,spec}.ts"],
    globalSetup: ["test/temporary.ts"],
    testTimeout: 20_000,
    hookTimeout: 30_000,
    // They wait for the bot, and reckon as well: four at once keep two cores busy, and keep nobody's answer waiting.
    maxWorkers: 4,
  },
});
