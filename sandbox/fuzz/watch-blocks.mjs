// Preloaded into the bot's process (node --import): tells the fuzzer when the event loop stood still. Time in which the main
// thread could have run, and the machine was busy with something else, does not count.
import { existsSync, readFileSync } from "node:fs";
import { PerformanceObserver } from "node:perf_hooks";

const LONGEST_MS = 200;
/** Of the main thread: "<ns on a CPU> <ns waiting for one> <turns>" (Linux: Documentation/scheduler/sched-stats.rst). */
const SCHEDSTAT = "/proc/self/schedstat";
/** Of all CPUs, in hundredths of a second; the eighth is what the host took from a virtual machine (Linux: proc_stat(5)). */
const STAT = "/proc/stat";
const isLinux = existsSync(SCHEDSTAT) && existsSync(STAT);
/** What the machine has kept from this thread since it began, in ms. */
const keptMs = () => {
  if (!isLinux) return 0;
  const waited = Number(readFileSync(SCHEDSTAT, "utf8").split(" ")[1]) / 1e6;
  const stolen = Number(readFileSync(STAT, "utf8").split(/\s+/, 9)[8]) * 10;
  return waited + stolen;
};

/** Garbage collections of late, which are told beside a block: they are its cause, or not. */
let collections = [];
new PerformanceObserver((list) => {
  collections = [...collections, ...list.getEntries()].slice(-20);
}).observe({ entryTypes: ["gc"] });

/** What runs every few minutes runs so many times as often: the fuzzer's time passes quickly. */
const HURRY = Number(process.env.FUZZ_HURRY ?? 1);
const LONG_MS = 20_000;
const { setTimeout: set } = globalThis;
if (HURRY > 1)
  globalThis.setTimeout = (work, ms = 0, ...given) => set(work, ms > LONG_MS ? ms / HURRY : ms, ...given);

let last = performance.now();
let kept = keptMs();
const tell = (blockedMs, from, to) => {
  const within = collections.filter(({ startTime }) => startTime >= from && startTime <= to);
  const collectingMs = Math.round(within.reduce((sum, { duration }) => sum + duration, 0));
  process.send?.({ blockedMs, collectingMs });
};
setInterval(() => {
  const now = performance.now();
  if (now - last > LONGEST_MS) {
    const blockedMs = now - last - (keptMs() - kept);
    // The observer is told of them a turn later.
    if (blockedMs > LONGEST_MS) setTimeout(tell, 50, Math.round(blockedMs), last, now);
  }
  last = now;
  kept = keptMs();
}, 10).unref();
