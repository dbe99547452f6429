import { expect, it } from "vitest";
import { progress } from "../../../src/delivery/collections.js";
import type { Subscribers } from "../../../src/delivery/module.js";
import type { Names } from "../../../src/directory/names.js";
import { ExplorerError } from "../../../src/explorer/errors.js";
import type { Explorer } from "../../../src/explorer/service.js";
import { trackedVoteRequests } from "../../../src/feeds/governance/collections.js";
import { EXAMINED, UPGRADES_FEED, upgrades } from "../../../src/feeds/upgrades/collections.js";
import { readEvent } from "../../../src/feeds/upgrades/events.js";
import { createUpgradesWatch } from "../../../src/feeds/upgrades/watch.js";
import type { UpgradeChange } from "../../../src/ledger/upgrades.js";
import { DAY, MINUTE } from "../../../src/util/units.js";
import { newState } from "../../harness.js";
import { tracked } from "../../spec/vote-requests.js";

const START = Date.UTC(2026, 10, 28);
const subscribers = { subscriptions: async () => [{}], isHeard: async () => true } as unknown as Subscribers;
/** An explorer that does not answer. */
const silent = new Proxy({} as Explorer, {
  get: () => async () => {
    throw new ExplorerError("failing", "No answer");
  },
});

/** Plays polls of the upgrades on a state and a clock of their own. */
function play() {
  let now = START;
  const state = newState();
  const known = new Map<string, UpgradeChange>();
  const names = {
    kindOf: ({ identity }: { identity: string }) => (known.has(identity) ? "configuration" : undefined),
    actionOf: (id: string) => (known.has(id) ? "SRARC_SetConfig" : undefined),
    upgradeOf: (id: string) => known.get(id),
    learn() {},
  } as unknown as Names;
  const createWatch = () => createUpgradesWatch({ explorer: silent, state, names, now: () => now });
  let watch = createWatch();
  return {
    state,
    known,
    put: (id: string, given: Partial<ReturnType<typeof tracked>>) =>
      state.commit([
        state.open(trackedVoteRequests).put(
          id,
          tracked(
            {
              identity: id,
              phase: "closed",
              closedAt: START - 2 * DAY,
              openUntil: START - 2 * DAY,
              ...given,
            },
            { voteBefore: null, targetEffectiveAt: null },
          ),
        ),
      ]),
    restart() {
      known.clear();
      watch = createWatch();
    },
    async poll() {
      now += MINUTE;
      await state.commit([
        state.open(progress).put("governance", { completeAt: now }),
        state.open(progress).put(UPGRADES_FEED, { completeAt: START - 5 * DAY }),
      ]);
      const kinds: string[] = [];
      for await (const { events = [], writes = [] } of watch(subscribers)) {
        kinds.push(...events.flatMap((event) => readEvent(event)?.kind ?? []));
        await state.commit([...writes]);
      }
      return kinds;
    },
    now: () => now,
  };
}

it.each(["a", "b"])(
  "an outcome in doubt after a restart changes nothing although its details cannot be read: %s",
  async (doubted) => {
    const { state, known, put, restart, poll, now } = play();
    const upgradeAt = START + 10 * DAY;
    known.set("a", { upgradeAt, freezeAt: null }).set("b", { upgradeAt: upgradeAt + DAY });
    await put("a", { status: "Accepted" });
    await put("b", { status: "Accepted", openUntil: START - DAY });
    expect(await poll()).toEqual(["scheduled"]);
    restart();
    expect(await poll()).toEqual([]);
    await put(doubted, { status: "Rejected", toldStatus: "Accepted", restatedAt: now() });
    expect(await poll()).toEqual([]);
    await put(doubted, { status: "Accepted" });
    expect(await poll()).toEqual([]);
    const [upgrade] = (await state.open(upgrades).list()).values();
    expect(upgrade?.changes).toEqual({ a: { upgradeAt, freezeAt: null }, b: { upgradeAt: upgradeAt + DAY } });
    await state.close();
  },
);

it("an accepted request whose details are unknown leaves open what is scheduled", async () => {
  const { state, known, put, poll } = play();
  await put("a", { status: "Accepted" });
  await poll();
  expect(await state.open(progress).get(EXAMINED)).toBeUndefined();
  known.set("a", {});
  await poll();
  expect(await state.open(progress).get(EXAMINED)).toBeDefined();
  await state.close();
});
