import { setMaxListeners } from "node:events";

/** Longest time of a timer, in ms (Node: 2^31 - 1). A longer one would fire at once. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * Resolves with the work's result, or with `late` if it takes longer than this time in ms. The work continues, and its later
 * result or failure is ignored.
 */
export async function withTimeout<T, Late>(
  work: Promise<T>,
  ms: number,
  late: () => Late,
): Promise<T | Late> {
  let timer: NodeJS.Timeout | undefined;
  work.catch(() => {});
  const deadline = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.min(ms, LONGEST_MS));
  }).then(late);
  try {
    return await Promise.race([work, deadline]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Resolves with the work's result, or with `undefined` as soon as the signal is aborted. The work continues, and its later result or
 * failure is ignored. It leaves nothing behind on the signal, unlike a race with one promise that all calls share.
 */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const leave = () => resolve(undefined);
    setMaxListeners(0, signal);
    signal.addEventListener("abort", leave, { once: true });
    if (signal.aborted) leave();
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", leave));
  });
}

/**
 * Runs work with a signal that aborts after a time in ms, or together with another signal if there is one. The time may be
 * infinite. It does not use AbortSignal.any, which has only a weak reference to a timeout's signal. In Node 20, the garbage
 * collector then removes the timer, and the work never ends.
 */
export async function withDeadline<T>(
  ms: number,
  other: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const deadline = new AbortController();
  const abort = () => deadline.abort();
  const timer = setTimeout(abort, Math.min(ms, LONGEST_MS));
  // Hundreds of listeners at once are normal here, and not a leak.
  if (other) setMaxListeners(0, other);
  other?.addEventListener("abort", abort, { once: true });
  if (other?.aborted) abort();
  try {
    return await work(deadline.signal);
  } finally {
    clearTimeout(timer);
    other?.removeEventListener("abort", abort);
  }
}
