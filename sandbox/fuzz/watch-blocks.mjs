// Preloaded into the bot's process (node --import): tells the fuzzer when the event loop stood still. Time that the main thread
// was ready to run and waited for a busy machine does not count.
import { existsSync, readFileSync } from "node:fs";

const LONGEST_MS = 200;
/** Of the main thread: "<ns on a CPU> <ns waiting for one> <turns>" (Linux: Documentation/scheduler/sched-stats.rst). */
const SCHEDSTAT = "/proc/self/schedstat";
const waits = existsSync(SCHEDSTAT);
const waitedMs = () => (waits ? Number(readFileSync(SCHEDSTAT, "utf8").split(" ")[1]) / 1e6 : 0);

let last = performance.now();
let waited = waitedMs();
setInterval(() => {
  const now = performance.now();
  if (now - last > LONGEST_MS) {
    const blockedMs = now - last - (waitedMs() - waited);
    if (blockedMs > LONGEST_MS) process.send?.({ blockedMs: Math.round(blockedMs) });
  }
  last = now;
  waited = waitedMs();
}, 10).unref();
