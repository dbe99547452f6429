import { expect, it } from "vitest";
import { fuzz } from "../sandbox/fuzz/fuzz.js";

const SEED = 14;

it("ten seconds of random input cause no failures (npm run fuzz runs longer)", async () => {
  const { findings, interactions, answers } = await fuzz({ seed: SEED, ms: 10_000 });
  expect(findings).toEqual([]);
  expect(interactions).toBeGreaterThan(100);
  expect(answers).toBeGreaterThan(20);
});
