import { expect, it } from "vitest";
import { type UpgradeSetting, upgradeMotion, upgradeSetting } from "../../../sandbox/explorer/actions.js";
import { progress } from "../../../src/delivery/collections.js";
import { draftOf } from "../../../src/delivery/feed.js";
import type { Subscribers } from "../../../src/delivery/module.js";
import { createDirectory } from "../../../src/directory/directory.js";
import { createNames } from "../../../src/directory/names.js";
import { ExplorerError } from "../../../src/explorer/errors.js";
import type { Explorer } from "../../../src/explorer/service.js";
import { trackedVoteRequests } from "../../../src/feeds/governance/collections.js";
import { EXAMINED, UPGRADES_FEED, upgrades } from "../../../src/feeds/upgrades/collections.js";
import { readEvent, type UpgradeEvent } from "../../../src/feeds/upgrades/events.js";
import { upgradesFeed } from "../../../src/feeds/upgrades/index.js";
import { createUpgradesWatch } from "../../../src/feeds/upgrades/watch.js";
import { toAction } from "../../../src/ledger/actions.js";
import { DAY, HOUR, MINUTE } from "../../../src/util/units.js";
import { newState, quiet } from "../../harness.js";
import { tracked } from "../../spec/vote-requests.js";

const START = Date.UTC(2026, 10, 28);
const subscribers: Subscribers = {
  subscriptions: async () => [draftOf(upgradesFeed.definition, "1")],
  isHeard: async () => true,
};
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
  // An empty directory, as after a list without the vote requests.
  const newNames = () => createNames({ directory: createDirectory(), explorer: silent, state, log: quiet });
  let names = newNames();
  const forgotten: string[] = [];
  const reminders: UpgradeEvent[] = [];
  const createWatch = () => createUpgradesWatch({ explorer: silent, state, names, now: () => now });
  let watch = createWatch();
  return {
    state,
    forgotten,
    reminders,
    learn: (id: string, before: UpgradeSetting, after: UpgradeSetting) =>
      names.learn(id, toAction(upgradeMotion(before, after).actionConfig)),
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
    restart(passed = 0) {
      now += passed;
      names = newNames();
      watch = createWatch();
    },
    /** @param votesReadAt time when the vote requests were last read */
    async poll(passed = MINUTE, votesReadAt = now + passed) {
      now += passed;
      await state.commit([
        state.open(progress).put("governance", { completeAt: votesReadAt }),
        state.open(progress).put(UPGRADES_FEED, { completeAt: START - 5 * DAY }),
      ]);
      const kinds: string[] = [];
      for await (const { events = [], writes = [], ended = [] } of watch(subscribers)) {
        forgotten.push(...ended);
        const read = events.flatMap((event) => readEvent(event) ?? []);
        kinds.push(...read.map(({ kind }) => kind));
        reminders.push(...read.filter(({ kind }) => kind === "reminder"));
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
    const { state, learn, put, restart, poll, now } = play();
    const upgradeAt = START + 10 * DAY;
    const [first, second] = [upgradeSetting(upgradeAt), upgradeSetting(upgradeAt + DAY)];
    learn("a", {}, first);
    learn("b", first, second);
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
    expect(upgrade?.changes).toEqual({
      a: { upgradeAt, freezeAt: upgradeAt - 2 * HOUR },
      b: { upgradeAt: upgradeAt + DAY, freezeAt: upgradeAt + DAY - 2 * HOUR },
    });
    await state.close();
  },
);

it("an accepted request whose details are unknown leaves open what is scheduled", async () => {
  const { state, learn, put, poll } = play();
  await put("a", { status: "Accepted" });
  await poll();
  expect(await state.open(progress).get(EXAMINED)).toBeUndefined();
  learn("a", {}, {});
  await poll();
  expect(await state.open(progress).get(EXAMINED)).toBeDefined();
  await state.close();
});

it("an upgrade is told once although the clock is behind at a start until it is set", async () => {
  const { state, learn, put, restart, poll } = play();
  learn("a", {}, upgradeSetting(START + 2 * DAY));
  await put("a", { status: "Accepted" });
  expect(await poll()).toEqual(["scheduled"]);
  expect(await poll(2 * DAY)).toEqual(["reminder"]);
  restart(-HOUR);
  expect(await poll()).toEqual([]);
  expect(await poll(2 * HOUR)).toEqual([]);
  await state.close();
});

it("an upgrade that is over is not scheduled again although the clock is behind at a start until it is set", async () => {
  const { state, learn, put, restart, poll } = play();
  learn("a", {}, upgradeSetting(START + 2 * DAY));
  await put("a", { status: "Accepted" });
  expect(await poll()).toEqual(["scheduled"]);
  expect(await poll(2 * DAY)).toEqual(["reminder"]);
  expect(await poll(DAY)).toEqual([]);
  restart(-DAY - HOUR);
  learn("a", {}, upgradeSetting(START + 2 * DAY));
  expect(await poll()).toEqual([]);
  expect(await poll(DAY)).toEqual([]);
  await state.close();
});

it("an upgrade that was accepted while version 0.2.0 ran in between is news", async () => {
  const { state, learn, poll } = play();
  learn("a", {}, upgradeSetting(START + 10 * DAY));
  // Version 0.2.0 does not store `openUntil`.
  const accepted = tracked({ identity: "a", phase: "closed", status: "Accepted", closedAt: START - DAY });
  await state.commit([state.open(trackedVoteRequests).put("a", accepted)]);
  expect(await poll()).toEqual(["scheduled"]);
  await state.close();
});

it.each([
  ["vanishes", { status: "In Progress", endUnconfirmed: true }],
  ["has an unknown outcome", { status: "Wound up" }],
])("an upgrade is not cancelled because its vote %s", async (_, given) => {
  const { state, learn, put, poll } = play();
  learn("a", {}, upgradeSetting(START + 10 * DAY));
  await put("a", { status: "Accepted" });
  expect(await poll()).toEqual(["scheduled"]);
  await put("a", given);
  expect(await poll()).toEqual([]);
  await state.close();
});

it("an upgrade whose vote turned out to be accepted since the first reading is news", async () => {
  const { state, learn, put, poll } = play();
  learn("a", {}, upgradeSetting(START + 10 * DAY));
  const endedAt = START - 6 * DAY;
  await put("a", { status: "Accepted", closedAt: endedAt, openUntil: endedAt, restatedAt: START - DAY });
  expect(await poll()).toEqual(["scheduled"]);
  await state.close();
});

it("a reminder gives the time when the vote requests were last read if that was long ago, except just after a sleep", async () => {
  const { learn, put, poll, now, reminders } = play();
  const freezeAt = START + 10 * DAY;
  learn("a", {}, upgradeSetting(freezeAt + 2 * HOUR));
  await put("a", { status: "Accepted", openUntil: START - DAY });
  expect(await poll()).toEqual(["scheduled"]);
  const readAt = now();
  expect(await poll(freezeAt - DAY - now(), readAt)).toEqual(["reminder"]);
  expect(await poll(freezeAt - HOUR - now(), readAt)).toEqual(["reminder"]);
  expect(await poll(MINUTE)).toEqual([]);
  expect(await poll(freezeAt + 2 * HOUR - now())).toEqual(["reminder"]);
  expect(reminders).toMatchObject([{ step: "day" }, { step: "hour", readAt }, { step: "upgrade" }]);
  expect(reminders.map((each) => "readAt" in each)).toEqual([false, true, false]);
});

it("the list of subscriptions says when the vote requests were last read if that was long ago", async () => {
  const { state } = play();
  const lineAfter = async (ageMs: number) => {
    const times = state.open(progress);
    const completeAt = Date.now() - ageMs;
    await state.commit([
      times.put("governance", { completeAt }),
      times.put("upgrades-votes", { completeAt }),
    ]);
    return String(await upgradesFeed.definition.lastRead?.(state));
  };
  expect(await lineAfter(MINUTE)).toMatch(/^No upgrade of the network is scheduled\.$/);
  expect(await lineAfter(20 * HOUR)).toMatch(/scheduled\. The vote requests were last read <t:/);
});

it("an upgrade is forgotten 30 days after its end", async () => {
  const { state, poll, forgotten } = play();
  const over = { decidedBy: "a", upgradeAt: START, freezeAt: null, moves: 0, told: [], revision: 1 };
  for (const days of [29, 31])
    await state.commit([state.open(upgrades).put(`${days} days`, { ...over, endedAt: START - days * DAY })]);
  await poll();
  expect(forgotten).toEqual(["31 days"]);
  await state.close();
});
