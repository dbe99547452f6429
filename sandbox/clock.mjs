// Preloaded into the bot's process (node --import): its time is the real one plus an offset that the sandbox sends. With
// SANDBOX_CLOCK_AT (epoch ms) it begins there and hardly moves by itself: a millisecond in the time between two runs of a job
// that runs every second. SANDBOX_JOBS_PER_SECOND makes such jobs run that often, so that tests wait less, and SANDBOX_HURRY
// makes those that run every few minutes run so many times as often.
const RealDate = Date;
const beginsAt = Number(process.env.SANDBOX_CLOCK_AT ?? Number.NaN);
const jobsPerSecond = Number(process.env.SANDBOX_JOBS_PER_SECOND ?? 1);
const hurry = Number(process.env.SANDBOX_HURRY ?? 1);
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

/**
 * Returns the factor by which a timer is shortened. A job's wait is not a whole number of milliseconds, because it is the rest of its
 * interval. A timeout is.
 */
function speedUpOf(ms) {
  if (ms > 600 && ms < 1_000) return jobsPerSecond;
  return ms > 20_000 && !Number.isInteger(ms) ? hurry : 1;
}
if (jobsPerSecond > 1 || hurry > 1) {
  const realSetTimeout = setTimeout;
  const shortened = (job, ms = 0, ...given) => realSetTimeout(job, ms / speedUpOf(ms), ...given);
  globalThis.setTimeout = Object.assign(shortened, realSetTimeout);
}

process.on("message", (message) => {
  if (typeof message !== "object" || message === null || !("clockOffsetMs" in message)) return;
  offset = message.clockOffsetMs;
  process.send?.(message);
});
// The channel alone must not keep the process alive.
process.channel?.unref();
// The process that started the bot may have been killed before it could end the bot.
process.on("disconnect", () => process.exit(1));
