import { defineConfig } from "vitest/config";
import { LongFirst } from "./test/long-first.js";
import { RepeatedTests } from "./test/repeated-tests.js";

const { CI } = process.env;

export default defineConfig({
  test: {
    include: ["test/**/*.{test,spec}.ts"],
    globalSetup: ["test/temporary.ts"],
    setupFiles: ["test/failed-tests.ts"],
    // Long, for a busy machine: vitest gives a test five seconds, and a condition one.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    // The tests wait for the bot more than they compute. With more workers, bots poll while they wait for a core on a slow machine,
    // and one that is stalled for longer than 2.5 s drops an interaction.
    maxWorkers: 5,
    sequence: { sequencer: LongFirst },
    // With a larger young generation, the workers need a tenth less CPU time.
    execArgv: ["--max-semi-space-size=64"],
    // On somebody else's machine, a test that a stall has broken runs again, with the same expectations. If it depends on the
    // tests before it, that cannot help, so .ci/run runs its whole file again.
    retry: CI ? 1 : 0,
    reporters: ["default", new RepeatedTests()],
    // Loading discord.js and the rest once for each worker, and not for each file, takes a third off the CPU time.
    isolate: false,
  },
});
