import type { Log } from "../ops/log.js";

/**
 * Runs a job now and then every so many ms, counted from start to start. It never overlaps itself, and a failure is
 * logged and costs that one run.
 * @param name says in the log what takes longer than its interval; without one, nobody minds
 */
export function repeat(
  job: () => Promise<void>,
  everyMs: number,
  log: Log,
  name?: string,
): { stop(): Promise<void> } {
  let stopped = false;
  let stretched = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();

  const run = async () => {
    const startedAt = performance.now();
    try {
      await job();
    } catch (err) {
      log.error({ err }, "A background job failed; it runs again at its time");
    }
    const took = performance.now() - startedAt;
    if (name !== undefined && took > everyMs !== stretched) {
      stretched = !stretched;
      if (stretched)
        log.warn(
          { everyMs, tookMs: Math.round(took) },
          `The ${name} takes longer than its interval, which stretches`,
        );
      else log.info({ everyMs }, `The ${name} is back within its interval`);
    }
    if (!stopped) timer = setTimeout(start, Math.max(0, everyMs - took));
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
