import { AsyncLocalStorage } from "node:async_hooks";
import { createRequire, syncBuiltinESMExports } from "node:module";

/** The clock-related state of a bot process. */
export interface Owner {
  /** Offset of its wall clock from the true time, in ms. */
  offset: number;
  /** True if its timers must not fire any more. */
  isDead: boolean;
}

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
  readonly owner: Owner | undefined;
  isCleared: boolean;
}

/** A binary heap of timers, earliest first. */
class Heap {
  readonly #items: Timer[] = [];

  get size(): number {
    return this.#items.length;
  }

  push(timer: Timer): void {
    const items = this.#items;
    let index = items.push(timer) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!isBefore(timer, items[parent])) break;
      items[index] = items[parent] as Timer;
      index = parent;
    }
    items[index] = timer;
  }

  pop(): Timer | undefined {
    const items = this.#items;
    const first = items[0];
    const last = items.pop();
    if (items.length === 0 || last === undefined) return first;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && isBefore(items[child + 1], items[child])) child += 1;
      if (!isBefore(items[child], last)) break;
      items[index] = items[child] as Timer;
      index = child;
    }
    items[index] = last;
    return first;
  }
}

const isBefore = (a: Timer | undefined, b: Timer | undefined): boolean =>
  a !== undefined && b !== undefined && (a.at < b.at || (a.at === b.at && a.order < b.order));

/**
 * A virtual clock that advances as soon as all work is done. It replaces Node's timers, Date and
 * performance.now(), so a process must not wait for anything else.
 */
export class VirtualClock {
  /** The true time, epoch ms. */
  now: number;
  readonly #startedAt: number;
  readonly #timers = new Heap();
  readonly #owners = new AsyncLocalStorage<Owner | undefined>();
  readonly #nextTurn = setImmediate;
  #order = 0;

  constructor(startedAt: number) {
    this.now = startedAt;
    this.#startedAt = startedAt;
  }

  /** Runs a function whose timers belong to a process. */
  runAs<T>(owner: Owner, work: () => T): T {
    return this.#owners.run(owner, work);
  }

  /** Runs a function outside of any process, even if one is running. */
  runOutside<T>(work: () => T): T {
    return this.#owners.run(undefined, work);
  }

  /** Returns the running process, `undefined` outside of processes. */
  owner(): Owner | undefined {
    return this.#owners.getStore();
  }

  after(ms: number, run: () => void): Timer {
    this.#order += 1;
    const timer: Timer = {
      at: this.now + Math.ceil(Math.max(0, ms || 0)),
      order: this.#order,
      run,
      owner: this.#owners.getStore(),
      isCleared: false,
    };
    this.#timers.push(timer);
    return timer;
  }

  delay(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve));
  }

  /** Advances the clock to a time, epoch ms. */
  async run(until: number): Promise<void> {
    for (;;) {
      // Run everything that does not wait for time before the clock advances.
      await new Promise((resolve) => this.#nextTurn(resolve));
      const next = this.#timers.pop();
      if (!next) break;
      if (next.at > until) {
        this.#timers.push(next);
        break;
      }
      if (next.isCleared || next.owner?.isDead) continue;
      this.now = Math.max(this.now, next.at);
      if (next.owner) this.runAs(next.owner, next.run);
      else next.run();
    }
    this.now = until;
  }

  /** Permanently replaces this process's own time. */
  install(): void {
    const handle = (timer: Timer, again?: () => Timer) => ({
      timer,
      again,
      ref() {
        return this;
      },
      unref() {
        return this;
      },
      hasRef: () => true,
      refresh() {
        return this;
      },
    });
    const set = (run: (...given: unknown[]) => void, ms = 0, ...given: unknown[]) =>
      handle(this.after(ms, () => run(...given)));
    const every = (run: (...given: unknown[]) => void, ms = 0, ...given: unknown[]) => {
      const interval = handle(this.after(ms, () => {}));
      const start = (): void => {
        interval.timer.isCleared = true;
        interval.timer = this.after(ms, () => {
          start();
          run(...given);
        });
      };
      start();
      return interval;
    };
    const clear = (given: { timer?: Timer } | undefined) => {
      if (given?.timer) given.timer.isCleared = true;
    };
    const RealDate = Date;
    const wall = () => this.now + (this.owner()?.offset ?? 0);
    class VirtualDate extends RealDate {
      constructor(...given: [] | [string | number | Date]) {
        super(...((given.length === 0 ? [wall()] : given) as [number]));
      }
      static override now(): number {
        return Math.floor(wall());
      }
    }
    const immediate = (run: (...given: unknown[]) => void, ...given: unknown[]) => set(run, 0, ...given);
    Object.assign(globalThis, {
      Date: VirtualDate,
      setTimeout: set,
      setInterval: every,
      setImmediate: immediate,
      clearTimeout: clear,
      clearInterval: clear,
      clearImmediate: clear,
    });
    performance.now = () => this.now - this.#startedAt;
    const require = createRequire(import.meta.url);
    const wait = (ms = 0, value?: unknown, { signal }: { signal?: AbortSignal } = {}) =>
      new Promise((resolve, reject) => {
        const timer = this.after(ms, () => resolve(value));
        signal?.addEventListener("abort", () => {
          timer.isCleared = true;
          reject(signal.reason);
        });
      });
    Object.assign(require("node:timers/promises"), {
      setTimeout: wait,
      setImmediate: (value?: unknown) => wait(0, value),
    });
    Object.assign(require("node:timers"), { setTimeout: set, setInterval: every, setImmediate: immediate });
    syncBuiltinESMExports();
  }
}
