// Preloaded into the bot's process (node --import): tells the fuzzer when the event loop stood still. Only time that this
// process computed counts, not time that it waited for a busy machine.
const LONGEST_MS = 200;
let last = performance.now();
let cpu = process.cpuUsage();
setInterval(() => {
  const now = performance.now();
  const { user, system } = process.cpuUsage(cpu);
  const busyMs = Math.min(now - last, (user + system) / 1_000);
  if (busyMs > LONGEST_MS) process.send?.({ blockedMs: Math.round(busyMs) });
  last = now;
  cpu = process.cpuUsage();
}, 10).unref();
