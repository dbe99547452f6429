// Preloaded into the bot's process (node --import): reports to the fuzzer and the bench when the event loop was blocked. Time in
// which the main thread could have run, and the machine was busy with something else, does not count. The report also has the
// part of the rest in which the thread worked. In what remains, it waited for a disk or another thread.
import { existsSync, readFileSync } from "node:fs";
import { Session } from "node:inspector";
import { PerformanceObserver } from "node:perf_hooks";

/** Minimum length of a reported block, in ms. */
const LONGEST_MS = Number(process.env.BLOCKS_FROM_MS ?? 200);
/** Delay before a block is reported, in ms. Garbage collections are known a turn later, the host's part at the next tick. */
const BOOKED_MS = 50;
/** Times of the main thread: "<ns on a CPU> <ns waiting for one> <turns>" (Linux: Documentation/scheduler/sched-stats.rst). */
const SCHEDSTAT = "/proc/self/schedstat";
/** Times of all CPUs, in hundredths of a second. The eighth is what the host took from a virtual machine (Linux: proc_stat(5)). */
const STAT = "/proc/stat";
const isLinux = existsSync(SCHEDSTAT) && existsSync(STAT);
/** Returns the CPU time of the main thread and the time in which the machine kept it waiting, in ms. */
const timesNow = () => {
  if (!isLinux) return { workedMs: performance.now(), keptMs: 0, stolenMs: 0 };
  const [worked, waited] = readFileSync(SCHEDSTAT, "utf8").split(" ").map(Number);
  const stolen = Number(readFileSync(STAT, "utf8").split(/\s+/, 9)[8]) * 10;
  return { workedMs: worked / 1e6, keptMs: waited / 1e6 + stolen, stolenMs: stolen };
};

/** The last garbage collections, which are reported beside a block because they may be its cause. */
let collections = [];
new PerformanceObserver((list) => {
  collections = [...collections, ...list.getEntries()].slice(-20);
}).observe({ entryTypes: ["gc"] });

/** CPU profile of the last seconds, for the report of a fuzzer that runs with FUZZ_EXPLAIN. */
const session = process.env.FUZZ_EXPLAIN ? new Session() : undefined;
const profile = () => {
  session?.post("Profiler.setSamplingInterval", { interval: 20_000 });
  session?.post("Profiler.start");
};
session?.connect();
session?.post("Profiler.enable");
profile();
/** Returns the functions that took the last ms, including the functions that they called, the busiest first. */
const explain = (ms) => {
  const found = new Map();
  session?.post("Profiler.stop", (_, { profile: { nodes, samples, timeDeltas, startTime, endTime } }) => {
    const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));
    const byId = new Map(nodes.map((node) => [node.id, node]));
    let at = startTime;
    for (const [index, sample] of samples.entries()) {
      at += timeDeltas[index];
      if (at < endTime - ms * 1_000) continue;
      const seen = new Set();
      for (let id = sample; id !== undefined; id = parents.get(id)) {
        const { functionName, url, lineNumber } = byId.get(id).callFrame;
        const name = `${functionName}@${url.split("/").at(-1)}:${lineNumber}`;
        if (!seen.has(name)) found.set(name, (found.get(name) ?? 0) + timeDeltas[index] / 1_000);
        seen.add(name);
      }
    }
  });
  profile();
  return [...found]
    .sort(([, a], [, b]) => b - a)
    .slice(0, 30)
    .map(([name, spent]) => `${name} ${Math.round(spent)}`);
};

let last = performance.now();
let before = timesNow();
/** Does work of the profiler, whose time does not count as a block of the bot. */
const leaveOut = (work) => {
  const from = { at: performance.now(), ...timesNow() };
  const result = work();
  const to = { at: performance.now(), ...timesNow() };
  last += to.at - from.at - (to.keptMs - from.keptMs);
  before = {
    workedMs: before.workedMs + to.workedMs - from.workedMs,
    keptMs: before.keptMs,
  };
  return result;
};
if (session) setInterval(() => leaveOut(() => session.post("Profiler.stop", profile)), 10_000).unref();
const tell = (block, why, from, to) => {
  const within = collections.filter(({ startTime }) => startTime >= from && startTime <= to);
  const collectingMs = within.reduce((sum, { duration }) => sum + duration, 0);
  const told = Object.entries({ ...block, collectingMs }).map(([name, ms]) => [name, Math.round(ms)]);
  process.send?.({ ...Object.fromEntries(told), ...(why.length > 0 ? { why } : {}) });
};
setInterval(() => {
  const now = performance.now();
  // Looked at in any case, or what was used up between two blocks would count as the second one's.
  const times = timesNow();
  const blockedMs = now - last - (times.keptMs - before.keptMs);
  const workedMs = times.workedMs - before.workedMs;
  const from = last;
  last = now;
  before = times;
  if (blockedMs <= LONGEST_MS) return;
  const why = leaveOut(() => explain(blockedMs));
  setTimeout(() => {
    // What the host took is booked at the kernel's next tick, and so after a block that it made.
    const left = blockedMs - (timesNow().stolenMs - times.stolenMs);
    if (left > LONGEST_MS) tell({ blockedMs: left, workedMs }, why, from, now);
  }, BOOKED_MS);
}, 10).unref();
