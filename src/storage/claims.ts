import { withTimeout } from "../util/timeouts.js";
import type { Redis } from "./redis.js";

/** Maximum time for Redis to answer, in ms. */
const ANSWER_MS = 1_000;

/**
 * Claims a key in Redis for this process, until it expires.
 * @returns false if it is claimed already; `undefined` if Redis does not answer
 */
export async function claim(
  { client }: Pick<Redis, "client">,
  key: string,
  expiresMs: number,
): Promise<boolean | undefined> {
  try {
    const claimed = client.set(key, "1", { NX: true, PX: expiresMs }).then((answer) => answer !== null);
    return await withTimeout(claimed, ANSWER_MS, () => undefined);
  } catch {
    return undefined;
  }
}
