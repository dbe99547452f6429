import type { Client } from "discord.js";
import * as z from "zod";
import { gatewayOf } from "../discord/gateway.js";
import { defineCollection } from "../storage/collection.js";
import type { State } from "../storage/state.js";
import { SECOND } from "../util/units.js";

/** The document that is written to find out if the state can be written. */
export const writeProbes = defineCollection({
  name: "probe",
  schema: z.object({ at: z.number() }),
  lifetime: "forever: one document, rewritten by /readyz",
  isShared: true,
});

/** Minimum time between two probes, in ms. Anybody who reaches the port can ask as often as they like. */
const PROBE_EVERY_MS = 3 * SECOND;

/** Returns a check that resolves to true if the state can be written. It writes at most once every 3 s. */
export function createWriteProbe(state: State, now: () => number = Date.now): () => Promise<boolean> {
  const probes = state.open(writeProbes);
  let probedAt = Number.NEGATIVE_INFINITY;
  let lastProbe = Promise.resolve(true);
  return () => {
    const at = now();
    if (Math.abs(at - probedAt) >= PROBE_EVERY_MS) {
      probedAt = at;
      lastProbe = state.commit([probes.put("write", { at })]).then(
        () => true,
        () => false,
      );
    }
    return lastProbe;
  };
}

interface Parts {
  readonly client: Client;
  readonly canWrite: () => Promise<boolean>;
  readonly isStopping: boolean;
  /** True once the commands are registered. */
  readonly isRegistered: boolean;
}

/** Returns the reasons why the bot is not ready. Empty if it is ready. */
export async function findUnready({
  client,
  canWrite,
  isStopping,
  isRegistered,
}: Parts): Promise<readonly string[]> {
  const { ready, all } = gatewayOf(client);
  const reasons: string[] = [];
  if (isStopping) reasons.push("it is stopping");
  if (all === 0 || ready < all) reasons.push(`${ready} of ${all || "?"} shards are connected`);
  if (!isRegistered) reasons.push("the commands are not registered yet");
  if (!(await canWrite())) reasons.push("the state cannot be written");
  return reasons;
}
