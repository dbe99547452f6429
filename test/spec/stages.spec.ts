import { describe, expect, it } from "vitest";
import type { TrackedVoteRequest } from "../../src/feeds/governance/collections.js";
import { findStages } from "../../src/feeds/governance/stages.js";
import { DAY, HOUR, MINUTE } from "../../src/util/units.js";
import { NOW, tracked } from "./vote-requests.js";

/** Returns the changes and events of one poll at NOW for a request. */
async function check(known: TrackedVoteRequest, superValidators?: number, awaits?: boolean) {
  const deps = {
    requests: { all: async () => new Map([["k", known]]) },
    superValidators: async () => superValidators,
    now: () => NOW,
  };
  const { learnt, events } = await findStages(deps, async () => false, awaits);
  return { next: learnt.get("k"), events };
}

const stuck = { yes: 10, no: 1, pending: 2, seenAt: 0 };
const past = (ms: number) => ({ voteBefore: NOW - DAY, targetEffectiveAt: NOW - ms });

describe("the passing of time", () => {
  it("changes nothing for an open request", async () => {
    const { next, events } = await check(tracked({ stage: "voting", seenAt: 0 }));
    expect({ next, events }).toEqual({ next: undefined, events: [] });
  });

  it("reports an overdue request once", async () => {
    const known = tracked({ ...stuck, stage: "ready" }, past(HOUR));
    const { next, events } = await check(known);
    expect(events).toEqual([{ kind: "overdue", key: "k", since: NOW - HOUR }]);
    expect(next).toMatchObject({ stage: "overdue", toldOverdue: true, revision: known.revision + 1 });
    expect((await check(tracked({ ...stuck, ...next, stage: "ready" }, past(HOUR)))).events).toEqual([]);
    expect((await check(tracked({ ...stuck, stage: "voting" }, past(HOUR - 1)))).events).toEqual([]);
  });

  it("is not judged by dates that another read may replace", async () => {
    const unconfirmed = { ...tracked().terms, ...past(-DAY) };
    const moving = tracked({ ...stuck, stage: "ready", unconfirmed }, past(HOUR));
    expect((await check(moving, undefined, true)).events).toEqual([]);
    // If no complete read comes, the known dates count.
    expect((await check(moving)).events).toHaveLength(1);
  });

  it("marks a request as overdue without an announcement if it was overdue when first seen", async () => {
    const { next, events } = await check(tracked(stuck, past(HOUR)));
    expect(events).toEqual([]);
    expect(next).toMatchObject({ stage: "overdue", toldOverdue: true, revision: tracked().revision + 1 });
  });

  it("marks a request as expired, permanently after an hour", async () => {
    const of = (ms: number) => tracked({ stage: "voting", seenAt: 0 }, { voteBefore: NOW - ms });
    expect((await check(of(HOUR))).next).toMatchObject({ stage: "expired", revision: 6 });
    expect((await check(of(HOUR))).next).not.toHaveProperty("hasExpired");
    expect((await check(of(HOUR + 1))).next).toMatchObject({ stage: "expired", hasExpired: true });
  });

  it("does not keep that it has expired if its quorum date is still ahead, because the clock was wrong", async () => {
    const early = tracked({ stage: "voting", seenAt: 0, hasExpired: true }, { voteBefore: NOW + HOUR });
    expect((await check(early)).next).not.toHaveProperty("hasExpired");
    const late = tracked({ stage: "voting", seenAt: 0, hasExpired: true }, { voteBefore: NOW });
    expect((await check(late)).next).toMatchObject({ stage: "expired", hasExpired: true });
  });

  it.each([
    ["the bot saw enough before it", { enoughYesAt: NOW - 2 * DAY, yes: 8, no: 1, pending: 4 }, false],
    ["the bot saw enough only after it", { enoughYesAt: NOW - HOUR, yes: 8, no: 0, pending: 5 }, true],
  ])("keeps how the quorum date ended, although it was offline then, if %s", async (_, tally, hasExpired) => {
    const known = tracked(
      { stage: "voting", seenAt: 0, ...tally },
      { voteBefore: NOW - DAY, targetEffectiveAt: NOW + DAY },
    );
    expect((await check(known)).next).toMatchObject({ hasExpired });
  });

  it("uses the dashboard's count if the tally has none", async () => {
    const known = tracked({ stage: "voting", seenAt: 0, pending: null }, { voteBefore: NOW - DAY });
    expect((await check(known)).next).toBeUndefined();
    expect((await check(known, 13)).next).toMatchObject({ stage: "expired" });
  });

  it("records when there were enough yes votes, if it saw fewer before", async () => {
    const enough = { yes: 9, no: 0, pending: 4 };
    expect((await check(tracked({ ...enough, stage: "voting", seenAt: 0 }))).next).toMatchObject({
      stage: "ready",
      enoughYesAt: NOW,
    });
    expect((await check(tracked({ ...enough, seenAt: 0 }))).next).not.toHaveProperty("enoughYesAt");
    const turned = tracked({ stage: "ready", seenAt: 0, enoughYesAt: NOW - HOUR });
    expect((await check(turned)).next).not.toHaveProperty("enoughYesAt");
  });

  it("does not record a time if there were enough yes votes when it was first seen", async () => {
    const first = await check(tracked({ yes: 9, no: 0, pending: 4, seenAt: 0 }));
    expect(first.next).toMatchObject({ hadEnough: true });
    const second = await check(first.next ?? tracked());
    expect(second.next).toBeUndefined();
    const fewer = await check({ ...tracked(), ...first.next, yes: 8, pending: 5 });
    expect(fewer.next).not.toHaveProperty("hadEnough");
    const again = await check({ ...tracked(), ...fewer.next, yes: 9, pending: 4 });
    expect(again.next).toMatchObject({ enoughYesAt: NOW });
  });

  it.each([
    ["enough had voted, just then", 9, 0, { hasExpired: false }],
    ["enough had voted, and votes were seen an hour later", 9, HOUR + 1, {}],
    ["too few had voted, just then", 3, 0, {}],
    ["enough have voted now, and too few had in an earlier poll", 9, 20 * MINUTE, {}, "expired"],
  ])("records at the quorum date that %s", async (_, yes, ms, expected, stage = "voting") => {
    const dates = { voteBefore: NOW - ms, targetEffectiveAt: NOW + DAY };
    const { next } = await check(tracked({ yes, no: 0, pending: 13 - yes, seenAt: 0, stage }, dates));
    const { hasExpired } = next ?? {};
    expect(hasExpired === undefined ? {} : { hasExpired }).toEqual(expected);
  });

  it("remembers over an outage that enough had voted in time, whatever they voted", async () => {
    const dates = { voteBefore: NOW + HOUR, targetEffectiveAt: NOW + DAY };
    const before = await check(tracked({ yes: 5, no: 4, pending: 4, seenAt: 0 }, dates));
    expect(before.next).toMatchObject({ quorumAt: NOW });
    const past = { voteBefore: NOW - 2 * HOUR, targetEffectiveAt: NOW + DAY };
    const known = { ...tracked({}, past), ...before.next, terms: tracked({}, past).terms, yes: 8, no: 1 };
    const after = await check({ ...known, quorumAt: NOW - 3 * HOUR });
    expect(after.next).toMatchObject({ stage: "voting", hasExpired: false });
    const few = await check(tracked({ yes: 5, no: 3, pending: 5, seenAt: 0 }, dates));
    expect(few.next).not.toHaveProperty("quorumAt");
  });

  it("does not send reminders that an earlier version missed", async () => {
    const deadline = NOW + 30 * HOUR;
    const { next } = await check(tracked({ openedAt: NOW - 6 * DAY }, { voteBefore: deadline }));
    expect(next?.reminded).toEqual([`${deadline}:${2 * DAY}`]);
    const fresh = await check(
      tracked({ openedAt: NOW - 6 * DAY, seenAt: NOW - DAY }, { voteBefore: deadline }),
    );
    expect(fresh.next?.reminded).toEqual([]);
  });

  it("still sends a reminder that an earlier version knew, and that came due during the upgrade", async () => {
    const deadline = NOW + DAY - HOUR / 4;
    const { next } = await check(tracked({ openedAt: NOW - 6 * DAY }, { voteBefore: deadline }));
    expect(next?.reminded).toEqual([`${deadline}:${2 * DAY}`]);
  });

  it.each([
    ["are not due yet", 3 * DAY, 6 * DAY, []],
    ["have just become due", 2 * DAY, 6 * DAY, [2 * DAY]],
    ["follow from its short voting time", HOUR, 3 * HOUR, [2 * HOUR]],
  ])("knows the reminders of an earlier version's request that %s", async (_, leftMs, agoMs, passed) => {
    const deadline = NOW + leftMs;
    const { next } = await check(tracked({ openedAt: NOW - agoMs }, { voteBefore: deadline }));
    expect(next?.reminded).toEqual(passed.map((before) => `${deadline}:${before}`));
  });

  it("does not record a reminder twice that an earlier version missed", async () => {
    const deadline = NOW + 30 * HOUR;
    const reminded = [`${deadline}:${2 * DAY}`];
    const { next } = await check(tracked({ openedAt: NOW - 6 * DAY, reminded }, { voteBefore: deadline }));
    expect(next?.reminded).toEqual(reminded);
  });

  it("keeps since when its stage is shown, and what was recorded when there were enough yes votes", async () => {
    const first = await check(tracked({ seenAt: 0 }));
    expect(first.next).toMatchObject({ stage: "voting", revision: 5 });
    expect(first.next).not.toHaveProperty("stageAt");
    const enough = { yes: 9, no: 0, pending: 4, seenAt: 0 };
    expect((await check(tracked({ ...enough, stage: "voting" }))).next).toMatchObject({
      stageAt: NOW,
      revision: 6,
    });
    const known = await check(tracked({ ...enough, enoughYesAt: NOW - 5 }));
    expect(known.next).toMatchObject({ enoughYesAt: NOW - 5 });
    expect(known.next).not.toHaveProperty("hadEnough");
  });

  const enough = { yes: 9, no: 0, pending: 4, seenAt: 0 };
  it.each([
    ["was rejected in the last poll", "rejected", 2 * HOUR, "ready", { enoughYesAt: NOW }],
    ["was undecided in the last poll, hours ago", "voting", 2 * HOUR, "overdue", { hadEnough: true }],
    ["was undecided in the last poll, before its date", "voting", 0, "ready", { hadEnough: true }],
    ["was undecided in the last poll, and its date is ahead", "voting", -1, "voting", { enoughYesAt: NOW }],
  ])("knows since when a request has enough yes votes that %s", async (_, stage, agoMs, next, since) => {
    const dates = { voteBefore: NOW - 3 * HOUR, targetEffectiveAt: NOW - agoMs };
    const found = await check(tracked({ ...enough, stage, hasExpired: false }, dates));
    const { enoughYesAt, hadEnough } = { ...tracked({ ...enough }), ...found.next };
    expect({
      ...(enoughYesAt === undefined ? {} : { enoughYesAt }),
      ...(hadEnough === undefined ? {} : { hadEnough }),
    }).toEqual(since);
    expect(found.next?.stage).toBe(next);
  });

  it("becomes ready when the votes come that it lacked at its only date", async () => {
    const known = tracked({ ...enough, stage: "expired" }, { voteBefore: NOW - 2 * HOUR });
    expect((await check(known)).next).toMatchObject({ stage: "ready", enoughYesAt: NOW });
  });

  it.each([
    ["without a quorum date", null, NOW + DAY, 13, undefined, NOW],
    ["with a quorum date ahead", NOW + HOUR, NOW + DAY, 13, undefined, NOW],
    ["with a quorum date ahead, and known before", NOW + HOUR, NOW + DAY, 13, NOW - 9, NOW - 9],
    ["with a past quorum date", NOW - 1, NOW + DAY, 13, undefined, undefined],
    ["with a past quorum date, and known before", NOW - 1, NOW + DAY, 13, NOW - 9, NOW - 9],
    ["while the number needed is unknown", NOW + HOUR, NOW + DAY, undefined, NOW - 9, NOW - 9],
  ])(
    "records when enough had voted %s",
    async (_, voteBefore, targetEffectiveAt, superValidators, quorumAt, recorded) => {
      const known = tracked(
        { yes: 5, no: 4, pending: null, seenAt: 0, ...(quorumAt === undefined ? {} : { quorumAt }) },
        { voteBefore, targetEffectiveAt },
      );
      const { next } = await check(known, superValidators);
      expect((next ?? known).quorumAt).toBe(recorded);
    },
  );

  it("does not record a quorum for a request without a decision date", async () => {
    const known = tracked({ yes: 5, no: 4, pending: 4, seenAt: 0, stage: "voting" }, { voteBefore: NOW });
    const { next } = await check(known);
    expect(next?.stage).toBe("expired");
    expect(next).not.toHaveProperty("hasExpired");
  });

  it("changes nothing for a closed request", async () => {
    expect((await check(tracked({ phase: "closed" }, past(DAY)))).next).toBeUndefined();
  });
});
