// Preloaded into the bot's process (node --import): its time is the real one plus an offset that the sandbox sends. With
// SANDBOX_CLOCK_AT (epoch ms) it begins there and runs a thousand times slower, so that it hardly moves by itself.
const RealDate = Date;
const beginsAt = Number(process.env.SANDBOX_CLOCK_AT ?? Number.NaN);
let offset = 0;

globalThis.Date = class extends RealDate {
  constructor(...given) {
    if (given.length === 0) super(Date.now());
    else super(...given);
  }

  static now() {
    return (
      (Number.isNaN(beginsAt) ? RealDate.now() : beginsAt + Math.floor(performance.now() / 1_000)) + offset
    );
  }
};

process.on("message", (message) => {
  if (typeof message !== "object" || message === null || !("clockOffsetMs" in message)) return;
  offset = message.clockOffsetMs;
  process.send?.(message);
});
// The channel alone must not keep the process alive.
process.channel?.unref();
