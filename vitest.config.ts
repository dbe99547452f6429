import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.{test,spec}.ts"],
    globalSetup: ["test/temporary.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Long, for a busy machine: vitest gives a condition one second.
    expect: { poll: { timeout: 10_000 } },
    // The tests wait for the bot more than they compute: twelve workers keep two cores busy.
    maxWorkers: 12,
    // Loading discord.js and the rest once for each worker, and not for each file, takes a third off the CPU time.
    isolate: false,
  },
});
