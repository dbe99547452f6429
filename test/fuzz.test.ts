import { expect, it } from "vitest";
import { withFault } from "../sandbox/faults/code-fault.js";
import { BOT_FAULTS } from "../sandbox/faults/list.js";
import { fuzz } from "../sandbox/fuzz/fuzz.js";

const SEED = 14;
/**
 * Six workers share two cores, so only a block that endangers an answer counts (Discord: 3 s). `npm run fuzz` has the machine
 * to itself and reports blocks from 200 ms.
 */
const BLOCKS_FROM_MS = 1_500;

it("ten seconds of random input cause no failures (npm run fuzz runs longer)", async () => {
  const { findings, interactions, answers } = await fuzz({
    seed: SEED,
    ms: 10_000,
    blocksFromMs: BLOCKS_FROM_MS,
  });
  expect(findings).toEqual([]);
  expect(interactions).toBeGreaterThan(100);
  expect(answers).toBeGreaterThan(20);
});

it.each(Object.entries(BOT_FAULTS))("can put the fault %s back (npm run fuzz:faults)", (_, fault) => {
  expect(() => withFault(fault)).not.toThrow();
});
