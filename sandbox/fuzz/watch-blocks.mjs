// Preloaded into the bot's process (node --import): tells the fuzzer when the event loop stood still. Time that the main thread
// was ready to run and waited for a busy machine does not count.
import { existsSync, readFileSync } from "node:fs";
import { PerformanceObserver } from "node:perf_hooks";

const LONGEST_MS = 200;
/** Of the main thread: "<ns on a CPU> <ns waiting for one> <turns>" (Linux: Documentation/scheduler/sched-stats.rst). */
const SCHEDSTAT = "/proc/self/schedstat";
const waits = existsSync(SCHEDSTAT);
const waitedMs = () => (waits ? Number(readFileSync(SCHEDSTAT, "utf8").split(" ")[1]) / 1e6 : 0);

/** Garbage collections of late, which are told beside a block: they are its cause, or not. */
let collections = [];
new PerformanceObserver((list) => {
  collections = [...collections, ...list.getEntries()].slice(-20);
}).observe({ entryTypes: ["gc"] });

let last = performance.now();
let waited = waitedMs();
const tell = (blockedMs, from, to) => {
  const within = collections.filter(({ startTime }) => startTime >= from && startTime <= to);
  const collectingMs = Math.round(within.reduce((sum, { duration }) => sum + duration, 0));
  process.send?.({ blockedMs, collectingMs });
};
setInterval(() => {
  const now = performance.now();
  if (now - last > LONGEST_MS) {
    const blockedMs = now - last - (waitedMs() - waited);
    // The observer is told of them a turn later.
    if (blockedMs > LONGEST_MS) setTimeout(tell, 50, Math.round(blockedMs), last, now);
  }
  last = now;
  waited = waitedMs();
}, 10).unref();
