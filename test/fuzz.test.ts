import { expect, it } from "vitest";
import { fuzz } from "../sandbox/fuzz/fuzz.js";

const SEED = 14;

it("ten seconds of random input break nothing and are refused by no one (npm run fuzz does more)", async () => {
  const { findings, interactions, answers } = await fuzz({ seed: SEED, ms: 10_000 });
  expect(findings).toEqual([]);
  expect(interactions).toBeGreaterThan(100);
  expect(answers).toBeGreaterThan(20);
});
