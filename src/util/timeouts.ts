import { setMaxListeners } from "node:events";

/**
 * What the work gives within so many ms, else what `late` gives or throws. The work itself goes on; how it ends after that
 * is ignored, also where it fails.
 */
export async function withTimeout<T, Late>(
  work: Promise<T>,
  ms: number,
  late: () => Late,
): Promise<T | Late> {
  let timer: NodeJS.Timeout | undefined;
  work.catch(() => {});
  const deadline = new Promise<Late>((resolve, reject) => {
    timer = setTimeout(() => {
      try {
        resolve(late());
      } catch (error) {
        reject(error);
      }
    }, ms);
  });
  try {
    return await Promise.race([work, deadline]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Does work under a signal that aborts after so many ms, or with another one. Not by AbortSignal.any: it holds a timeout's
 * signal only weakly, and in Node 20 the garbage collector takes it and its timer, so that nothing ever ends the work.
 */
export async function withDeadline<T>(
  ms: number,
  other: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const deadline = new AbortController();
  const abort = () => deadline.abort();
  const timer = setTimeout(abort, ms);
  // Hundreds may be under way at once: that is no leak.
  setMaxListeners(0, other);
  other.addEventListener("abort", abort, { once: true });
  if (other.aborted) abort();
  try {
    return await work(deadline.signal);
  } finally {
    clearTimeout(timer);
    other.removeEventListener("abort", abort);
  }
}
