import { AsyncLocalStorage } from "node:async_hooks";
import { createRequire, syncBuiltinESMExports } from "node:module";

/** A process of the bot, as far as time is concerned. */
export interface Owner {
  /** How far ahead of the true time its wall clock is, in ms. */
  offset: number;
  /** Its timers never fire again. */
  isDead: boolean;
}

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
  readonly owner: Owner | undefined;
  isCleared: boolean;
}

/** A binary heap of timers, the earliest first. */
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
 * Time that passes as fast as the work in it is done. It stands in for Node's timers, for Date and for performance.now(): nothing
 * else of a process may wait for anything real.
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

  /** Runs something whose timers belong to a process. */
  runAs<T>(owner: Owner, work: () => T): T {
    return this.#owners.run(owner, work);
  }

  /** Runs something that belongs to the world, also if a process is at work. */
  runOutside<T>(work: () => T): T {
    return this.#owners.run(undefined, work);
  }

  /** The process that is at work; undefined in the world around it. */
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

  /** Lets time pass until a moment, epoch ms. */
  async run(until: number): Promise<void> {
    for (;;) {
      // Whatever follows without waiting from what was done before is done before time goes on.
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

  /** Puts it in the place of this process's own time, for good. */
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
