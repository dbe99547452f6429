import { expect, it } from "vitest";
import { withFault } from "../sandbox/faults/code-fault.js";
import { BOT_FAULTS } from "../sandbox/faults/list.js";
import { fuzz } from "../sandbox/fuzz/fuzz.js";

const SEED = 14;

it("ten seconds of random input cause no failures (npm run fuzz runs longer)", async () => {
  const { findings, interactions, answers } = await fuzz({ seed: SEED, ms: 10_000 });
  expect(findings).toEqual([]);
  expect(interactions).toBeGreaterThan(100);
  expect(answers).toBeGreaterThan(20);
});

it.each(Object.entries(BOT_FAULTS))("can put the fault %s back (npm run fuzz:faults)", (_, fault) => {
  expect(() => withFault(fault)).not.toThrow();
});
