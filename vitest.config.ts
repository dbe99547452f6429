import { defineConfig } from "vitest/config";

const { CI } = process.env;

export default defineConfig({
  test: {
    include: ["test/**/*.{test,spec}.ts"],
    globalSetup: ["test/temporary.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Long, for a busy machine: vitest gives a condition one second.
    expect: { poll: { timeout: 10_000 } },
    // The tests wait for the bot more than they compute. With more workers, a slow machine stalls a bot for longer than
    // the 2.5 s after which it drops an interaction (eight on two slow cores took as long, and thirteen tests failed).
    maxWorkers: 5,
    // On somebody else's machine, a test that a stall has broken runs again, with the same expectations.
    retry: CI ? 2 : 0,
    // Loading discord.js and the rest once for each worker, and not for each file, takes a third off the CPU time.
    isolate: false,
  },
});
