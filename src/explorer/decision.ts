import { type Freshness, MISSING_MS } from "./freshness.js";

/** An answer that is held: how old it is, in ms, and whether it says that there is no such thing. */
interface Held {
  readonly ageMs: number;
  readonly missing: boolean;
}

/** What to do with what is held: answer with it, answer with it and renew it, or wait for a new one. */
export type Decision = "answer" | "revalidate" | "fetch";

/**
 * Decides how a question is answered.
 * @param maxAgeMs nothing older will do; undefined where the endpoint's own freshness counts
 */
export function decide(
  held: Held | undefined,
  { fresh, stale }: Freshness,
  maxAgeMs: number | undefined,
): Decision {
  if (!held) return "fetch";
  const wanted = maxAgeMs ?? fresh;
  if (held.ageMs <= (held.missing ? Math.min(MISSING_MS, maxAgeMs ?? MISSING_MS) : wanted)) return "answer";
  return !held.missing && maxAgeMs === undefined && held.ageMs <= stale ? "revalidate" : "fetch";
}
