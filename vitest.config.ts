import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.{test,spec}.ts"],
    globalSetup: ["test/temporary.ts"],
    testTimeout: 20_000,
    hookTimeout: 30_000,
    // A condition is waited for as long as a busy machine may take: one second is vitest's own.
    expect: { poll: { timeout: 10_000 } },
    // They wait for the bot more than they reckon: eight at once keep two cores busy.
    maxWorkers: 8,
    // Loading discord.js and the rest once for each worker, and not for each file, takes a third off the CPU time.
    isolate: false,
  },
});
