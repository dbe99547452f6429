import type { Log } from "../log.js";
import { createNotice } from "./notice.js";

/** A job that runs until it is stopped. */
export interface Job {
  /** Prevents further runs. Resolves when the current run is over. */
  stop(): Promise<void>;
}

interface RepeatOptions {
  /** Name of the job for the log message when a run takes longer than the interval. Without a name, that is not logged. */
  readonly name?: string | undefined;
  /** Delay before a failed run is repeated, in ms. */
  readonly retryMs?: number;
  /** Called with the error of a failed run. By default it is logged. */
  readonly onError?: (error: unknown) => void;
}

/**
 * Runs a job immediately and then at an interval in ms, measured from start to start. Runs never overlap. A failed run does not
 * stop the job.
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
