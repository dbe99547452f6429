// Preloaded into the bot's process (node --import): its time is the real one plus an offset that the sandbox sends.
const RealDate = Date;
let offset = 0;

globalThis.Date = class extends RealDate {
  constructor(...given) {
    if (given.length === 0) super(RealDate.now() + offset);
    else super(...given);
  }

  static now() {
    return RealDate.now() + offset;
  }
};

process.on("message", (message) => {
  if (typeof message === "object" && message !== null && "clockOffsetMs" in message)
    offset = message.clockOffsetMs;
});
// The channel alone must not keep the process alive.
process.channel?.unref();
