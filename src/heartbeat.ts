import ky, { HTTPError } from "ky";
import type { Log } from "./log.js";
import type { LeasedWork } from "./storage/lease.js";
import { createNotice } from "./util/notice.js";
import { type Job, repeat } from "./util/repeat.js";
import { MINUTE, SECOND } from "./util/units.js";

interface HeartbeatDeps {
  /** What a dead man's switch wants to be called, such as one of healthchecks.io or Uptime Kuma. */
  readonly url: string;
  /** What does not go on, in words; empty where all does. */
  readonly stalled: () => Promise<readonly string[]>;
  readonly log: Log;
}

const TIMEOUT_MS = 10 * SECOND;
/** While the work stands still, it is looked at again after so long, in ms. */
const LOOK_AGAIN_MS = 5 * SECOND;

/** The background work does not go on. */
class Stalled extends Error {
  constructor(readonly reasons: readonly string[]) {
    super(reasons.join("; "));
  }
}

/** Why a monitor could not be called, without its address, which is a secret. */
function reasonOf(error: unknown): string {
  if (error instanceof HTTPError) return `it answered ${error.response.status}`;
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  return code || (cause instanceof Error ? cause.name : "no connection");
}

/**
 * Calls a monitor each minute while the background work goes on, by whoever does it. Once that stands still, or the process is
 * gone, nobody calls, and the monitor raises its alarm.
 */
export function createHeartbeat({ url, stalled, log }: HeartbeatDeps): LeasedWork {
  const resting = createNotice<readonly string[]>(
    (reasons) => log.warn({ reasons }, "The heartbeat rests: the background work does not go on"),
    () => log.info({}, "The heartbeat goes on"),
  );
  const unheard = createNotice<string>(
    (reason) => log.warn({ reason }, "HEARTBEAT_URL cannot be called; it is tried again each minute"),
    () => log.info({}, "HEARTBEAT_URL can be called again"),
  );
  let stopping = new AbortController();
  const beat = async () => {
    const reasons = await stalled();
    if (reasons.length > 0) throw new Stalled(reasons);
    resting.ends();
    try {
      // Not tried again within the minute: a Retry-After of hours would hold up the one who stops it.
      const response = await ky.get(url, { timeout: TIMEOUT_MS, retry: 0, signal: stopping.signal });
      await response.body?.cancel();
      unheard.ends();
    } catch (error) {
      if (!stopping.signal.aborted) unheard.begins(reasonOf(error));
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
          if (!(error instanceof Stalled))
            log.error({ err: error }, "The heartbeat failed; it is tried again");
          // Everything is read once before the first beat.
          else if (performance.now() - startedAt > MINUTE) resting.begins(error.reasons);
        },
      });
    },
    async stop() {
      stopping.abort();
      await job?.stop();
    },
  };
}
