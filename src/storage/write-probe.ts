import * as z from "zod";
import { SECOND } from "../util/units.js";
import { defineCollection } from "./collection.js";
import type { State } from "./state.js";
import { timestampSchema } from "./timestamp.js";

/** The document that is written to find out if the state can be written. */
const writeProbes = defineCollection({
  name: "probe",
  schema: z.object({ at: timestampSchema }),
  lifetime: "forever: one document, rewritten by /readyz",
  isShared: true,
});

/** Minimum time between two probes, in ms. Anybody who reaches the port can ask as often as they like. */
const PROBE_EVERY_MS = 3 * SECOND;

/** Returns a check that resolves to true if the state can be written. It writes at most once every 3 s. */
export function createWriteProbe(state: State): () => Promise<boolean> {
  const probes = state.open(writeProbes);
  let probedAt = Number.NEGATIVE_INFINITY;
  let lastProbe = Promise.resolve(true);
  return () => {
    const askedAt = Date.now();
    if (Math.abs(askedAt - probedAt) >= PROBE_EVERY_MS) {
      probedAt = askedAt;
      lastProbe = state.commit([probes.put("write", { at: askedAt })]).then(
        () => true,
        () => false,
      );
    }
    return lastProbe;
  };
}
