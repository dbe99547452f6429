import { describe, expect, it } from "vitest";
import type { Vote } from "../../src/explorer/schema/governance.js";
import type { TrackedVoteRequest } from "../../src/feeds/governance/collections.js";
import { readEvent } from "../../src/feeds/governance/events.js";
import { compareVotes as compare, votesOn } from "../../src/feeds/governance/vote-changes.js";
import { tracked, vote } from "./vote-requests.js";

const compareVotes = (key: string, request: TrackedVoteRequest, rows: readonly Vote[]) =>
  compare(key, request, rows, request.requester === null ? [] : [request.requester]);

const event = (given: object) => ({
  kind: "votes",
  key: "k",
  sequence: 3,
  votes: [{ voter: "Ann", from: null, to: true, ...given }],
});

describe("compareVotes", () => {
  it("reports and counts a cast vote", () => {
    expect(compareVotes("k", tracked({ votes: {} }), [vote({})])).toEqual({
      changes: { votes: { ann: true }, voteSequence: 3, unconfirmedVotes: {} },
      events: [event({})],
    });
  });

  it.each(["constructor", "toString", "__proto__"])("reports and counts a vote of %s", (identifier) => {
    const { changes, events } = compareVotes("k", tracked({ votes: {} }), [vote({ identifier })]);
    expect(Object.entries(changes.votes ?? {})).toEqual([[identifier, true]]);
    expect(events).toEqual([event({})]);
  });

  it("reports no votes from before the first reading", () => {
    const { changes, events } = compareVotes("k", tracked(), [
      vote({}),
      vote({ identifier: "bob", accept: false }),
    ]);
    expect(events).toEqual([]);
    expect(changes).toEqual({ votes: { ann: true, bob: false }, voteSequence: 2, unconfirmedVotes: {} });
  });

  it.each<[string, Partial<Vote>]>([
    ["without a voter", { identifier: null, accountName: null, company: null }],
    ["without a vote", { accept: null }],
    ["that is known", { identifier: "bob", accept: false }],
  ])("ignores a vote %s", (_, given) => {
    const { changes, events } = compareVotes("k", tracked({ votes: { bob: false } }), [vote(given)]);
    expect(events).toEqual([]);
    expect(changes).toEqual({ votes: { bob: false }, voteSequence: 2, unconfirmedVotes: {} });
  });

  it("reports a changed vote once two reads agree", () => {
    const first = compareVotes("k", tracked({ votes: { ann: true } }), [vote({ accept: false })]);
    expect(first).toEqual({
      changes: { votes: { ann: true }, voteSequence: 2, unconfirmedVotes: { ann: false }, needsDetail: true },
      events: [],
    });
    const second = compareVotes("k", tracked(first.changes), [vote({ accept: false })]);
    expect(second.events).toEqual([event({ from: true, to: false })]);
    expect(second.changes).toEqual({ votes: { ann: false }, voteSequence: 3, unconfirmedVotes: {} });
  });

  it("drops a change that the next read does not show", () => {
    const was = tracked({ votes: { ann: true }, unconfirmedVotes: { ann: false } });
    expect(compareVotes("k", was, [vote({})]).changes.unconfirmedVotes).toEqual({});
  });

  it("ignores a known vote that the explorer leaves out", () => {
    const { changes } = compareVotes("k", tracked({ votes: { ann: true } }), [vote({ accept: null })]);
    expect(changes).toEqual({ votes: { ann: true }, voteSequence: 2, unconfirmedVotes: {} });
  });

  it("reports an empty vote that is filled in as cast, not changed", () => {
    const { events } = compareVotes("k", tracked({ votes: { ann: null } }), [vote({})]);
    expect(events).toEqual([event({})]);
  });

  it.each<[string, Partial<Vote>]>([
    ["its id", { identifier: "Falcon", accountName: null }],
    ["its name", { accountName: "Falcon" }],
    ["its company", { company: "Falcon", accountName: null }],
  ])("does not report the requester's own yes vote, recognized by %s", (_, given) => {
    const { changes, events } = compareVotes("k", tracked({ votes: {} }), [vote(given)]);
    expect(events).toEqual([]);
    expect(Object.values(changes.votes ?? {})).toEqual([true]);
  });

  it.each([
    ["a company that two voters share", ["Falcon", "Falcon"]],
    ["companies of which none is the requester's", ["Owl", "Hawk"]],
  ])("reports the yes votes of %s", (_, [one = null, other = null]) => {
    const rows = [
      vote({ company: one, accountName: null }),
      vote({ company: other, accountName: null, identifier: "bob" }),
    ];
    const { events } = compareVotes("k", tracked({ votes: {} }), rows);
    expect(events[0]?.votes).toHaveLength(2);
  });

  it("does not report the requester's own yes vote among those of others", () => {
    const rows = [
      vote({ company: "Falcon", accountName: null }),
      vote({ company: "Owl", identifier: "bob" }),
      vote({ company: null, identifier: "cid" }),
    ];
    const { events } = compareVotes("k", tracked({ votes: {} }), rows);
    expect(events[0]?.votes).toHaveLength(2);
  });

  it("reports the requester's no vote, and a change to yes", () => {
    const own = { accountName: "Falcon" };
    expect(compareVotes("k", tracked({ votes: {} }), [vote({ ...own, accept: false })]).events).toHaveLength(
      1,
    );
    const turned = tracked({ votes: { ann: false }, unconfirmedVotes: { ann: true } });
    expect(compareVotes("k", turned, [vote(own)]).events).toHaveLength(1);
    expect(
      compareVotes("k", tracked({ requester: null, votes: {} }), [vote({ company: null })]).events,
    ).toHaveLength(1);
  });

  it("names a voter by name, company or id, and reports all votes of one read together", () => {
    const rows = [
      vote({ company: "Ann Ltd" }),
      vote({ identifier: "bob", accountName: null, company: "Bob Ltd" }),
      vote({ identifier: "cid", accountName: null }),
    ];
    const { events } = compareVotes("k", tracked({ votes: {} }), rows);
    expect(events).toHaveLength(1);
    expect(events[0]?.sequence).toBe(5);
    expect(events[0]?.votes.map(({ voter }) => voter)).toEqual(["Ann", "Bob Ltd", "cid"]);
  });

  it("states a voter's party, because another voter may have the same name", () => {
    const party = `ann::1220${"a".repeat(64)}`;
    const { events } = compareVotes("k", tracked({ votes: {} }), [vote({ identifier: party })]);
    expect(events).toEqual([event({ party })]);
    expect(readEvent(events[0])).toEqual(events[0]);
  });
});

describe("an event in the outbox", () => {
  it("is read in the formats of earlier versions: a single vote, and a reminder with absent voters", () => {
    const { votes, ...gathered } = event({});
    expect(readEvent({ ...gathered, kind: "vote", ...votes[0] })).toEqual(event({}));
    expect(readEvent({ kind: "reminder", key: "k", reminder: "2:1", absent: ["Ann"] })).toEqual({
      kind: "reminder",
      key: "k",
      reminder: "2:1",
    });
    expect(readEvent({ kind: "vote", key: "k" })).toBeUndefined();
  });
});

describe("the votes on a request", () => {
  it("are those with any of the request's ids", () => {
    const request = tracked({ identity: "c1", contractIds: ["c1", "c7"] });
    const rows = ["c1", "c7", "c9", null].map((trackingCid) => vote({ trackingCid }));
    expect(votesOn(request, rows).map(({ trackingCid }) => trackingCid)).toEqual(["c1", "c7"]);
    const renewed = tracked({ identity: "c1", contractIds: ["c9"] });
    expect(votesOn(renewed, rows).map(({ trackingCid }) => trackingCid)).toEqual(["c1", "c9"]);
  });

  it("are identified by the voters' names if there are no ids", () => {
    const rows = [
      vote({ identifier: null, accountName: "Ann" }),
      vote({ identifier: null, accountName: null, company: "Bob", accept: false }),
    ];
    const { changes, events } = compareVotes("k", tracked({ votes: {} }), rows);
    expect(changes.votes).toEqual({ Ann: true, Bob: false });
    expect(events[0]?.votes).toHaveLength(2);
  });

  it("are not reported again if another endpoint names their voters differently", () => {
    const kept = tracked({ votes: { Ann: true } });
    expect(compareVotes("k", kept, [vote({ identifier: "ann::1220" })]).events).toEqual([]);
    expect(compareVotes("k", tracked({ votes: { constructor: true } }), [vote({})]).events).toHaveLength(1);
  });
});

describe("votes whose voters another source names differently", () => {
  const party = (digit: string) => `sv::1220${digit.repeat(64)}`;
  const known = tracked({ votes: { [party("a")]: true, [party("b")]: false } });

  it("are not reported while it is unclear which are new", () => {
    const rows = [
      vote({ identifier: null, accountName: "SV-1" }),
      vote({ identifier: "SV-2", accept: false }),
    ];
    const { changes, events } = compareVotes("k", known, rows);
    expect(events).toEqual([]);
    expect(changes).toEqual({ votes: known.votes, voteSequence: 2, needsDetail: true });
    const unconfirmedVotes = { [party("a")]: false };
    const again = compareVotes("k", { ...known, unconfirmedVotes }, rows);
    expect(again.changes).toMatchObject({ unconfirmedVotes, needsDetail: true });
  });

  it("are reported if a voter without a name is among them, or one that is known by a party", () => {
    const unnamed = vote({ identifier: null, accountName: null });
    const cast = vote({ identifier: party("c") });
    expect(compareVotes("k", known, [unnamed, cast]).events).toHaveLength(1);
    const both = vote({ identifier: party("a"), accountName: "SV-1", accept: true });
    expect(compareVotes("k", known, [both, cast]).events).toHaveLength(1);
  });

  it("are reported if all known voters are among them, or use the same kind of name", () => {
    const rows = [vote({ identifier: party("a") }), vote({ identifier: party("b"), accept: false })];
    const named = vote({ identifier: null, accountName: "SV-3" });
    expect(compareVotes("k", known, [...rows, named]).events).toHaveLength(1);
    expect(compareVotes("k", known, [vote({ identifier: party("c") })]).events).toHaveLength(1);
  });
});
