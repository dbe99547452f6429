import { REST } from "discord.js";
import { afterAll, beforeAll, expect, it } from "vitest";
import { newDataDir } from "../../../sandbox/bot-process.js";
import { type SandboxExplorer, startSandboxExplorer } from "../../../sandbox/explorer/server.js";
import { createCharts } from "../../../src/charts/charts.js";
import type { FeedDeps } from "../../../src/delivery/module.js";
import { createSubscriptions } from "../../../src/delivery/subscriptions.js";
import { createDirectory } from "../../../src/directory/directory.js";
import { createNames } from "../../../src/directory/names.js";
import { createRenderer } from "../../../src/discord/message.js";
import { createPacer } from "../../../src/discord/pacer.js";
import { alertId, alerts } from "../../../src/feeds/validator/collections.js";
import {
  holdSubject,
  manySubject,
  silenceOf,
  type ValidatorEvent,
} from "../../../src/feeds/validator/events.js";
import { validator } from "../../../src/feeds/validator/index.js";
import { activities } from "../../../src/ledger/network-rhythm.js";
import { openFileStore } from "../../../src/storage/file-store.js";
import { createState, type State } from "../../../src/storage/state.js";
import { HOUR } from "../../../src/util/units.js";
import { NO_TROUBLE, newExplorer, newLinks, newState, quiet, SMALL } from "../../harness.js";

const CHANNEL = "111111111111111";
let sandbox: SandboxExplorer;
beforeAll(async () => {
  sandbox = await startSandboxExplorer({ size: SMALL, lively: false });
});
afterAll(() => sandbox.close());

function newFeed(state: State, now: number) {
  const directory = createDirectory();
  const explorer = newExplorer(sandbox);
  const deps: FeedDeps = {
    explorer,
    state,
    lease: { validUntil: () => Number.POSITIVE_INFINITY },
    subscriptions: createSubscriptions(state),
    directory,
    names: createNames({ directory, explorer: explorer.for("background"), state, log: quiet }),
    charts: createCharts(quiet),
    renderer: createRenderer(newLinks()),
    rest: new REST(),
    pacer: createPacer(),
    self: NO_TROUBLE,
    log: quiet,
    now: () => now,
  };
  return validator.create(deps, 300_000).feed;
}

/** Renders news of a silence that has waited. `undefined` if it is left out. */
async function rendered(
  event: "worse" | "joined",
  { reportedAgoMs = 8 * HOUR, readAgoMs = 0, isBack = false },
): Promise<string | undefined> {
  const now = Date.now();
  const [silent] = sandbox.ledger.validators;
  if (!silent) throw new Error("No validator");
  const party = silent.party.id;
  const since = now - 8 * HOUR;
  silent.lastActiveAt = now - reportedAgoMs;
  const state = newState();
  const alert = { channelId: CHANNEL, since, revision: 1 };
  const group = manySubject(now - HOUR);
  await state.commit([
    state.open(alerts).put(alertId(CHANNEL, silenceOf(party, since)), {
      ...alert,
      kind: "silent",
      subject: silenceOf(party, since),
      validator: party,
      after: 1,
      level: 2,
    }),
    state.open(alerts).put(alertId(CHANNEL, group), {
      ...alert,
      kind: "many",
      subject: group,
      silent: 9,
      total: 40,
      toldAt: now - HOUR,
      members: [{ validator: party, ...(isBack ? { backAt: now } : {}) }],
    }),
    state.open(activities).put(party, {
      seenAt: readAgoMs === 0 ? silent.lastActiveAt : since,
      readAt: now - readAgoMs,
      active: true,
      version: null,
      gaps: [],
    }),
  ]);
  const feed = newFeed(state, now);
  const news: Record<typeof event, ValidatorEvent> = {
    worse: { kind: "worse", channelId: CHANNEL, validator: party, since, level: 2 },
    joined: { kind: "joined", channelId: CHANNEL, validator: party, since: now - HOUR },
  };
  const shown = await feed.render(news[event], "m", []);
  await state.close();
  return shown?.payload.content;
}

it.each([
  ["is told if the last reading is new and shows no report", "worse", {}, /Still silent/],
  [
    "is told if the explorer shows no report, although it was not read for hours",
    "worse",
    { readAgoMs: 2 * HOUR },
    /Still silent/,
  ],
  ["is left out if the last reading shows a report", "worse", { reportedAgoMs: HOUR }, undefined],
  [
    "is left out if the explorer shows a report that was not read",
    "worse",
    { reportedAgoMs: HOUR, readAgoMs: 2 * HOUR },
    undefined,
  ],
  ["of a group is told to another team", "joined", {}, /Also silent/],
  ["of a group is left out if the validator is back", "joined", { isBack: true }, undefined],
] as const)("news of a silence that has waited %s", async (_, event, given, words) => {
  const shown = await rendered(event, given);
  if (words === undefined) expect(shown).toBeUndefined();
  else expect(shown).toMatch(words);
});

it.each([
  ["was removed", silenceOf("fjord::1220", 1), false, /^⚪ Closed: no longer watched \(fjord/],
  ["was removed, about many validators,", manySubject(1), false, /^⚪ Closed: no longer watched$/],
  ["was removed, about a hold,", holdSubject(1), false, /^⚪ Closed: no longer watched$/],
  ["cannot be read", silenceOf("fjord::1220", 1), true, /my record of this alert can't be read/],
])("an alert whose document %s says so", async (_, subject, isBroken, words) => {
  const store = openFileStore(newDataDir());
  const state = createState(store, { log: quiet });
  if (isBroken)
    await store.commit([
      { op: "put", collection: alerts.name, id: alertId(CHANNEL, subject), text: '{"kind":"silent"}' },
    ]);
  const shown = await newFeed(state, Date.now()).lasting?.current(subject, "m", CHANNEL, []);
  expect(shown?.content).toMatch(words);
  await state.close();
});
