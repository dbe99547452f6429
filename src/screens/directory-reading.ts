import { ExplorerError } from "../explorer/errors.js";
import type { Explorer, Reading } from "../explorer/service.js";
import { ageOf } from "../util/clock.js";
import { defined } from "../util/present.js";
import { HOUR } from "../util/units.js";
import { NEWEST } from "./standings.js";

/** Checks that the list of validators can be read, so that it is only a matter of time. @throws {ExplorerError} if it cannot */
export const checkReadable = (explorer: Pick<Explorer, "validators">) => explorer.validators(NEWEST);

/** Age of the directory's list from which its screens say why there is no newer one, in ms. It is read every half hour. */
const OLD_MS = HOUR;

/**
 * Returns data from the directory as a reading. If it is old, it says why the explorer's list could not be read since then.
 * @param readAt epoch ms
 */
export async function directoryReading<T>(
  explorer: Pick<Explorer, "validators">,
  data: T,
  readAt: number,
): Promise<Reading<T>> {
  if (ageOf(readAt, Date.now()) < OLD_MS) return { data, fetchedAt: readAt, stale: false };
  const problem = await checkReadable(explorer).then(
    (reading) => reading.problem,
    (error: unknown) => {
      if (error instanceof ExplorerError) return error.problem;
      throw error;
    },
  );
  return { data, fetchedAt: readAt, stale: true, ...defined({ problem }) };
}
