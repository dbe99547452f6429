import ky, { HTTPError } from "ky";
import type { Log } from "./log.js";
import type { LeasedWork } from "./storage/lease.js";
import { StateError } from "./storage/store.js";
import { connectionProblem } from "./util/error-code.js";
import { createNotice } from "./util/notice.js";
import { type Job, repeat } from "./util/repeat.js";
import { MINUTE, SECOND } from "./util/units.js";

interface HeartbeatDeps {
  /** Address of a dead man's switch, such as healthchecks.io or Uptime Kuma. */
  readonly url: string;
  /** Describes the stalled jobs. Empty if all jobs are running. */
  readonly stalled: () => Promise<readonly string[]>;
  readonly log: Log;
}

const TIMEOUT_MS = 10 * SECOND;
/** Interval of checks while the work is stalled, in ms. */
const LOOK_AGAIN_MS = 5 * SECOND;

/** Thrown if the background work is stalled. */
class Stalled extends Error {
  constructor(readonly reasons: readonly string[]) {
    super(reasons.join("; "));
  }
}

/** Returns the reason why a monitor could not be called. The monitor's address is left out because it is a secret. */
const reasonOf = (error: unknown): string =>
  error instanceof HTTPError ? `it answered ${error.response.status}` : connectionProblem(error);

/**
 * Calls a monitor each minute while the background work is running. If the work stalls or the process ends, the calls stop and
 * the monitor raises an alarm.
 */
export function createHeartbeat({ url, stalled, log }: HeartbeatDeps): LeasedWork {
  const resting = createNotice<readonly string[]>(
    (reasons) => log.warn({ reasons }, "Heartbeat paused: background work is stalled"),
    () => log.info({}, "Heartbeat resumed"),
  );
  const unreachableNotice = createNotice<string>(
    (reason) => log.warn({ reason }, "HEARTBEAT_URL cannot be called; retrying each minute"),
    () => log.info({}, "HEARTBEAT_URL can be called again"),
  );
  const reasonsOf = (error: unknown): readonly string[] | undefined => {
    if (error instanceof StateError) return ["the state cannot be read"];
    return error instanceof Stalled ? error.reasons : undefined;
  };
  let stopping = new AbortController();
  const beat = async () => {
    const reasons = await stalled();
    if (reasons.length > 0) throw new Stalled(reasons);
    resting.ends();
    try {
      // No retries within the minute. A Retry-After of hours would block the bot's shutdown.
      const response = await ky.get(url, { timeout: TIMEOUT_MS, retry: 0, signal: stopping.signal });
      await response.body?.cancel();
      unreachableNotice.ends();
    } catch (error) {
      if (!stopping.signal.aborted) unreachableNotice.begins(reasonOf(error));
    }
  };
  let job: Job | undefined;
  return {
    async start() {
      stopping = new AbortController();
      const startedAt = performance.now();
      job = repeat(beat, MINUTE, log, {
        retryMs: LOOK_AGAIN_MS,
        onError(error) {
          const reasons = reasonsOf(error);
          if (!reasons) log.error({ err: error }, "The heartbeat failed; retrying");
          // In the first minute after the start, the feeds may not have been read yet.
          else if (performance.now() - startedAt > MINUTE) resting.begins(reasons);
        },
      });
    },
    async stop() {
      stopping.abort();
      await job?.stop();
    },
  };
}
