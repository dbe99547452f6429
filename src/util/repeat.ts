import type { Log } from "../log.js";
import { createNotice } from "./notice.js";

/** A job that is stopped once, and waited for. */
export interface Job {
  /** Resolves once the run under way is over. */
  stop(): Promise<void>;
}

interface RepeatOptions {
  /** Names the job in the log if it takes longer than its interval; without a name that is not logged. */
  readonly name?: string;
  /** Delay before a failed run is repeated, in ms. */
  readonly retryMs?: number;
  /** Takes what a run failed with; by default it is logged. */
  readonly onError?: (error: unknown) => void;
}

/**
 * Runs a job now and then at an interval in ms, counted from start to start. Runs never overlap, and a failure affects only its
 * own run.
 */
export function repeat(
  job: () => Promise<void>,
  everyMs: number,
  log: Log,
  {
    name,
    retryMs = everyMs,
    onError = (err) => log.error({ err }, "A background job failed; retrying at its next run"),
  }: RepeatOptions = {},
): Job {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let runningJob: Promise<void> = Promise.resolve();
  const slow = createNotice<number>(
    (tookMs) => log.warn({ everyMs, tookMs }, `The ${name} takes longer than its interval`),
    () => log.info({ everyMs }, `The ${name} is back within its interval`),
  );

  const runJob = async () => {
    const startedAt = performance.now();
    let nextMs = everyMs;
    try {
      await job();
    } catch (error) {
      nextMs = retryMs;
      onError(error);
    }
    const took = performance.now() - startedAt;
    if (name !== undefined && took > everyMs) slow.begins(Math.round(took));
    else slow.ends();
    if (!stopped) timer = setTimeout(startJob, Math.max(0, nextMs - took));
  };
  const startJob = () => {
    runningJob = runJob();
  };
  startJob();

  return {
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await runningJob;
    },
  };
}
