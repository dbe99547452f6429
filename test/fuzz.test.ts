import { expect, it } from "vitest";
import { fuzz } from "../sandbox/fuzz/fuzz.js";

const SEED = 14;

it("ten seconds of anything end nothing, stop nothing, and are refused by nobody (npm run fuzz does more)", async () => {
  const { findings, interactions, answers } = await fuzz({ seed: SEED, ms: 10_000 });
  expect(findings).toEqual([]);
  expect(interactions).toBeGreaterThan(100);
  expect(answers).toBeGreaterThan(20);
});
