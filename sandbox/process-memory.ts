import { readFileSync } from "node:fs";

/** Returns the memory usage of a process in MB. Linux only. */
export function memoryOf(pid: number): number {
  try {
    const [, kb = "0"] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return Number(kb) / 1_024;
  } catch {
    return 0;
  }
}
