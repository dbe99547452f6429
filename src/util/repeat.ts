import type { Log } from "../log.js";
import { createNotice } from "./notice.js";

/** A job that is stopped once, and waited for. */
export interface Job {
  /** Resolves once the run under way is over. */
  stop(): Promise<void>;
}

interface RepeatOptions {
  /** Names the job in the log where it takes longer than its interval; without a name that is not logged. */
  readonly name?: string;
  /** A run that failed is tried again after so many ms instead of at its time. */
  readonly retryMs?: number;
  /** Takes what a run failed with; by default it is logged. */
  readonly onError?: (error: unknown) => void;
}

/**
 * Runs a job now and then every so many ms, counted from start to start. It never overlaps itself, and a failure costs that
 * one run.
 */
export function repeat(
  job: () => Promise<void>,
  everyMs: number,
  log: Log,
  {
    name,
    retryMs = everyMs,
    onError = (err) => log.error({ err }, "A background job failed; it runs again at its time"),
  }: RepeatOptions = {},
): Job {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  const slow = createNotice<number>(
    (tookMs) => log.warn({ everyMs, tookMs }, `The ${name} takes longer than its interval, which stretches`),
    () => log.info({ everyMs }, `The ${name} is back within its interval`),
  );

  const run = async () => {
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
    if (!stopped) timer = setTimeout(start, Math.max(0, nextMs - took));
  };
  const start = () => {
    running = run();
  };
  start();

  return {
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
