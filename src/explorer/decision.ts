import { type Freshness, MISSING_MS } from "./freshness.js";

/** A cached answer: its age in ms, and `missing` if it says that the thing does not exist. */
interface HeldAnswer {
  readonly ageMs: number;
  readonly missing: boolean;
}

/**
 * Decision about a cached answer: return it (cache hit), return it and refresh it (stale-while-revalidate), or wait for a new
 * one.
 */
export type Decision = "answer" | "revalidate" | "fetch";

/**
 * Decides how to answer from the cache.
 * @param maxAgeMs maximum age in ms; by default the endpoint's freshness applies
 */
export function decide(
  held: HeldAnswer | undefined,
  { fresh, stale }: Freshness,
  maxAgeMs: number | undefined,
): Decision {
  if (!held) return "fetch";
  const maximumAgeMs = maxAgeMs ?? fresh;
  if (held.ageMs <= (held.missing ? Math.min(MISSING_MS, maxAgeMs ?? MISSING_MS) : maximumAgeMs))
    return "answer";
  return !held.missing && maxAgeMs === undefined && held.ageMs <= stale ? "revalidate" : "fetch";
}
