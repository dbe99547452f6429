import { SECOND } from "../src/util/units.js";
import type { VirtualClock } from "./clock.js";
import type { SimulatedExplorer } from "./explorer.js";
import type { Front } from "./front.js";
import type { History } from "./history/index.js";
import { type Window, windowAt } from "./history/windows.js";
import { LeaseKeeper, startProcess } from "./process.js";
import type { MemoryStore } from "./store.js";
import type { SimulatedProcess, Surroundings } from "./world.js";

/** Time until another process takes over the lease of a killed one, in ms. */
const LEASE_MS = 10 * SECOND;

interface LivesDeps {
  readonly clock: VirtualClock;
  readonly history: History;
  readonly surroundings: Surroundings;
  readonly explorers: readonly SimulatedExplorer[];
  readonly store: MemoryStore;
  readonly onFault: (line: string) => void;
}

interface Life {
  readonly process: SimulatedProcess;
  readonly fronts: readonly Front[];
}

/**
 * The bot's processes during a history: one that is restarted whenever it is killed, and sometimes a second
 * one.
 */
export interface Lives {
  /** Times without a running process, or without one that can write its state. */
  readonly down: readonly Window[];
  /** Number of processes that were started. */
  count(): number;
  /** Returns a running process's fronts by network, or `undefined` if no process runs. */
  fronts(): Life["fronts"] | undefined;
  end(): void;
}

/** Starts the first process, and schedules kills and restarts. */
export function startLives(deps: LivesDeps): Lives {
  const { clock, history } = deps;
  const down: Window[] = [...history.fullDisks];
  const alive: Life[] = [];
  const lease = new LeaseKeeper(() => clock.now);
  let count = 0;

  const start = (onDeath: () => void): SimulatedProcess => {
    const process: SimulatedProcess = {
      offset: windowAt(history.jumps, clock.now)?.offset ?? 0,
      isDead: false,
      doom: undefined,
      onDeath: () => {
        // If it does several things at once, any of them may be the last.
        if (process.isDead) return;
        process.isDead = true;
        alive.splice(
          alive.findIndex((each) => each.process === process),
          1,
        );
        clock.runOutside(onDeath);
      },
    };
    count += 1;
    alive.push({ process, fronts: startProcess({ ...deps, lease }, process) });
    return process;
  };

  let downMs = 5 * SECOND;
  let main: SimulatedProcess;
  const startMain = () => {
    main = start(() => {
      down.push({ from: clock.now, to: clock.now + downMs + LEASE_MS });
      clock.after(downMs, startMain);
    });
  };
  startMain();
  const at = (moment: number, happens: () => void) => clock.after(moment - history.startAt, happens);
  for (const kill of history.kills)
    at(kill.at, () => {
      downMs = kill.downMs;
      main.doom = kill;
    });
  for (const { from, to } of history.doubles)
    at(from, () => {
      const second = start(() => {});
      clock.after(to - from, () => {
        if (!second.isDead) second.onDeath();
        down.push({ from: clock.now, to: clock.now + LEASE_MS });
      });
    });
  for (const { from, to, offset } of history.jumps) {
    const set = (ms: number) => {
      for (const { process } of alive) process.offset = ms;
    };
    at(from, () => set(offset));
    at(to, () => set(0));
  }
  return {
    down,
    count: () => count,
    fronts: () => alive[0]?.fronts,
    end() {
      for (const { process } of alive) process.isDead = true;
    },
  };
}
