// Preloaded into the bot's process (node --import): its time is the real one plus an offset that the sandbox sends. With
// SANDBOX_JOBS_PER_SECOND, its jobs that run every second run that often, so that tests wait less. With SANDBOX_CLOCK_AT (epoch
// ms) it begins there and hardly moves by itself: a millisecond in the time between two runs of such a job.
const RealDate = Date;
const beginsAt = Number(process.env.SANDBOX_CLOCK_AT ?? Number.NaN);
const jobsPerSecond = Number(process.env.SANDBOX_JOBS_PER_SECOND ?? 1);
let offset = 0;

globalThis.Date = class extends RealDate {
  constructor(...given) {
    if (given.length === 0) super(Date.now());
    else super(...given);
  }

  static now() {
    const own = Number.isNaN(beginsAt)
      ? RealDate.now()
      : beginsAt + Math.floor((performance.now() * jobsPerSecond) / 1_000);
    return own + offset;
  }
};

if (jobsPerSecond > 1) {
  const realSetTimeout = setTimeout;
  // A job waits for what its run has left of the second. Deadlines and pauses have other lengths or their own import.
  const isJobs = (ms) => ms > 600 && ms < 1_000;
  globalThis.setTimeout = Object.assign(
    (job, ms, ...given) => realSetTimeout(job, isJobs(ms) ? ms / jobsPerSecond : ms, ...given),
    realSetTimeout,
  );
}

process.on("message", (message) => {
  if (typeof message !== "object" || message === null || !("clockOffsetMs" in message)) return;
  offset = message.clockOffsetMs;
  process.send?.(message);
});
// The channel alone must not keep the process alive.
process.channel?.unref();
