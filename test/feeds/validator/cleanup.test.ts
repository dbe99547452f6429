import { expect, it } from "vitest";
import { type Alert, alertId, alerts, responses } from "../../../src/feeds/validator/collections.js";
import { silenceOf } from "../../../src/feeds/validator/events.js";
import { oldAlerts } from "../../../src/feeds/validator/memory.js";
import { DAY, HOUR } from "../../../src/util/units.js";
import { newState } from "../../harness.js";

const CHANNEL = "111111111111111111";
const now = Date.now();

const alertOf = (validator: string, endedAt?: number): Alert => ({
  kind: "silent",
  channelId: CHANNEL,
  subject: silenceOf(validator, now - 40 * DAY),
  since: now - 40 * DAY,
  revision: 1,
  validator,
  after: HOUR,
  level: 1,
  ...(endedAt === undefined ? {} : { endedAt }),
});
const ids = (all: readonly Alert[]) => all.map(({ subject }) => alertId(CHANNEL, subject));

it("deletes alerts that ended 30 days ago, and responses without an alert; polls list only the others", async () => {
  const state = newState();
  const all = state.open(alerts);
  const [open, justEnded, ended, old] = [
    alertOf("open"),
    alertOf("just-ended", now - HOUR),
    alertOf("ended", now - 29 * DAY),
    alertOf("old", now - 31 * DAY),
  ] as const;
  const gone = alertId(CHANNEL, silenceOf("gone", now));
  const kept = [open, justEnded, ended, old];
  await state.commit([
    ...kept.map((each) => all.put(alertId(CHANNEL, each.subject), each)),
    ...[...ids(kept), gone].map((id) => state.open(responses).put(id, { revision: 1 })),
  ]);
  expect(new Set((await all.list()).keys())).toEqual(new Set(ids([open, justEnded])));
  const found = await oldAlerts(state, { responses: await state.open(responses).list() }, now);
  expect(new Set(found)).toEqual(new Set([...ids([old]), gone]));
  await state.close();
});

it("lists the hold of a standstill whose end is not known yet", async () => {
  const state = newState();
  const all = state.open(alerts);
  const hold = (isUnsure: boolean): Alert => ({
    kind: "hold",
    channelId: CHANNEL,
    subject: `hold/${isUnsure}`,
    since: now - 3 * DAY,
    endedAt: now - 2 * DAY,
    newestAt: now - 3 * DAY,
    standstill: { round: 7, ...(isUnsure ? { isUnsure } : {}) },
    revision: 1,
  });
  await state.commit([true, false].map((each) => all.put(`${CHANNEL}/${each}`, hold(each))));
  expect([...(await all.list()).keys()]).toEqual([`${CHANNEL}/true`]);
  await state.close();
});
