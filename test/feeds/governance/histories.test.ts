import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { VoteRequest } from "../../../sandbox/explorer/model.js";
import {
  type Mood,
  Refused,
  type SandboxExplorer,
  startSandboxExplorer,
} from "../../../sandbox/explorer/server.js";
import type { Subscription } from "../../../src/delivery/collections.js";
import { draftOf } from "../../../src/delivery/feed.js";
import { createDirectory } from "../../../src/directory/directory.js";
import { createNames } from "../../../src/directory/names.js";
import { trackedVoteRequests } from "../../../src/feeds/governance/collections.js";
import { definition } from "../../../src/feeds/governance/definition.js";
import { createTrackedVoteRequests } from "../../../src/feeds/governance/requests.js";
import { requestKey } from "../../../src/feeds/governance/tracking.js";
import { createGovernanceWatch } from "../../../src/feeds/governance/watch.js";
import { DAY, HOUR, MINUTE } from "../../../src/util/units.js";
import { newExplorer, newState, quiet } from "../../harness.js";

const START = Date.UTC(2026, 10, 22);
const SIZE = { validators: 14, parties: 20, voteRequests: 1, superValidators: 13, updates: 2, tokens: 1 };

/** The governance poll on a real HTTP server, for one channel, on a clock that the test sets. */
async function startWatch(subscribedMs = 30 * DAY) {
  let time = START;
  const now = () => time;
  const sandbox = await startSandboxExplorer({ now, lively: false, size: SIZE });
  // Nothing happens to another request.
  for (const each of sandbox.ledger.voteRequests)
    Object.assign(each, { voteBefore: START + 90 * DAY, targetEffectiveAt: START + 91 * DAY });
  const state = newState();
  const explorer = newExplorer(sandbox, now).for("background", { maxAgeMs: 0 });
  const requests = createTrackedVoteRequests(state);
  const subscription: Subscription = {
    ...draftOf(definition, "1"),
    guildId: "2",
    since: START - subscribedMs,
  };
  const createPoll = () =>
    createGovernanceWatch({
      explorer,
      state,
      requests,
      superValidators: async () => sandbox.ledger.superValidators.length,
      names: createNames({ directory: createDirectory(), explorer, state, log: quiet }),
      onLearnt: () => {},
      pollMs: MINUTE,
      now,
    });
  let poll = createPoll();
  return {
    sandbox,
    ledger: sandbox.ledger,
    tracked: async ({ firstContractId }: VoteRequest) =>
      [...(await requests.all()).values()].find(({ identity }) => identity === firstContractId),
    setTime(ms: number) {
      time = START + ms;
    },
    /** Restarts the watch at this time after the start. */
    restartAt(ms: number) {
      time = START + ms;
      requests.reread();
      poll = createPoll();
    },
    /** Polls this long after the start, and returns the kinds of events about a request. */
    async pollAt(ms: number): Promise<string[]> {
      time = START + ms;
      const kinds: string[] = [];
      for await (const { writes = [], events = [] } of poll({
        subscriptions: async () => [subscription],
        isHeard: async () => true,
      })) {
        await state.commit(writes);
        for (const event of events) kinds.push((event as { kind: string }).kind);
      }
      return kinds;
    },
    /** Breaks a request's document, as if the bot had then been restarted. */
    async spoil({ firstContractId }: VoteRequest) {
      const key = requestKey(firstContractId);
      await state.commit([{ op: "put", collection: trackedVoteRequests.name, id: key, text: "{}" }]);
      requests.reread();
    },
    async close() {
      await Promise.all([sandbox.close(), state.close()]);
    },
  };
}

/** Casts yes votes until there are so many. */
function castUntil(
  { ledger }: { readonly ledger: SandboxExplorer["ledger"] },
  request: VoteRequest,
  count: number,
) {
  for (let cast = request.ballots.length; cast < count; cast += 1) ledger.castVote(request, true);
}

const only =
  (change: (row: Record<string, unknown>) => object | undefined): Mood =>
  (answer, path) => {
    if (path !== "/v1/governance/vote-requests") return answer;
    const page = answer as { content: Record<string, unknown>[] };
    const content = page.content.flatMap((row) => change(row) ?? []);
    return { ...page, content, totalElements: content.length, totalCount: content.length };
  };

describe("a vote request, of which nine of thirteen votes are needed", () => {
  let watch: Awaited<ReturnType<typeof startWatch>>;
  beforeEach(async () => {
    watch = await startWatch();
    await watch.pollAt(0);
  });
  afterEach(() => watch.close());

  /** Opens a request with a quorum date after three days and a decision after four. */
  const open = () =>
    Object.assign(
      watch.ledger.openVoteRequest({ title: "A title", lastsMs: 3 * DAY, effectiveInMs: 4 * DAY }),
      // No one closes it.
      { isStuck: true },
    );

  it("is overdue an hour after the deciding vote, if that came after the dates", async () => {
    const request = open();
    await watch.pollAt(MINUTE);
    castUntil(watch, request, 8);
    watch.ledger.castVote(request, false);
    await watch.pollAt(DAY);
    expect(await watch.pollAt(4 * DAY + HOUR)).not.toContain("overdue");
    castUntil(watch, request, 10);
    expect(await watch.pollAt(4 * DAY + 2 * HOUR)).toEqual(["decided"]);
    expect(await watch.pollAt(4 * DAY + 2 * HOUR + 30 * MINUTE)).toEqual([]);
    expect(await watch.pollAt(4 * DAY + 3 * HOUR + MINUTE)).toEqual(["overdue"]);
    expect(await watch.pollAt(4 * DAY + 4 * HOUR)).toEqual([]);
  });

  it("has expired if more super validators need more votes than were cast at its quorum date", async () => {
    const request = open();
    await watch.pollAt(MINUTE);
    castUntil(watch, request, 9);
    await watch.pollAt(DAY);
    const [joined = request.requester] = watch.ledger.parties.filter(
      (party) => !watch.ledger.superValidators.includes(party),
    );
    watch.ledger.superValidators.push(joined);
    await watch.pollAt(2 * DAY);
    await watch.pollAt(3 * DAY);
    await watch.pollAt(3 * DAY + 90 * MINUTE);
    watch.ledger.castVote(request, true);
    expect(await watch.pollAt(3 * DAY + 2 * HOUR)).toEqual([]);
    expect(await watch.pollAt(4 * DAY - 6 * HOUR)).toEqual([]);
    expect(await watch.tracked(request)).toMatchObject({ hasExpired: true });
  });

  it("has not expired because of an older contract that lacks its last vote", async () => {
    const request = open();
    await watch.pollAt(MINUTE);
    castUntil(watch, request, 9);
    const last = request.ballots.at(-1);
    // At the quorum date, the list lacks the ninth vote. Then it has it, but its contract cannot be read yet.
    const yesCount = (count: number) =>
      only((row) => ({ ...row, yesCount: count, abstainCount: 13 - count }));
    watch.sandbox.mood = yesCount(8);
    await watch.pollAt(3 * DAY);
    watch.sandbox.mood = (answer, path, _, { id = "" }) => {
      if (path !== "/v1/governance/vote-requests/:id/details") return answer;
      if (id === request.contractId) throw new Refused(404);
      const detail = answer as { readonly rawPayload: { readonly votes: readonly unknown[] } };
      const votes = detail.rawPayload.votes.slice(0, -1);
      return { ...detail, contractId: request.firstContractId, rawPayload: { ...detail.rawPayload, votes } };
    };
    expect(last?.castAt).toBeLessThan(request.voteBefore);
    await watch.pollAt(3 * DAY + 10 * MINUTE);
    await watch.pollAt(3 * DAY + 70 * MINUTE);
    expect((await watch.tracked(request))?.hasExpired).not.toBe(true);
    watch.sandbox.mood = undefined;
    await watch.pollAt(3 * DAY + 80 * MINUTE);
    expect(await watch.tracked(request)).toMatchObject({ hasExpired: false });
  });

  it("may have ended at any time since it was last listed", async () => {
    const request = open();
    await watch.pollAt(MINUTE);
    watch.sandbox.mood = only((row) => (row.title === "A title" ? undefined : row));
    for (const minutes of [2, 3, 4]) await watch.pollAt(minutes * HOUR);
    watch.sandbox.mood = undefined;
    watch.ledger.closeVoteRequest(request, "Accepted");
    expect(await watch.pollAt(5 * HOUR)).toEqual(["closed"]);
    expect(await watch.tracked(request)).toMatchObject({ openUntil: null });
  });

  it("stays overdue if the deciding votes came while the bot was away over the dates", async () => {
    const request = open();
    await watch.pollAt(MINUTE);
    castUntil(watch, request, 8);
    watch.ledger.castVote(request, false);
    await watch.pollAt(DAY);
    castUntil(watch, request, 11);
    expect(await watch.pollAt(4 * DAY + 2 * HOUR)).toEqual(["decided", "overdue"]);
    for (const minutes of [121, 150, 186]) await watch.pollAt(4 * DAY + minutes * MINUTE);
    expect(await watch.tracked(request)).toMatchObject({ stage: "overdue", revision: 4 });
  });

  it("is told when its outcome is known, if it opened and ended while the bot was away", async () => {
    const request = open();
    watch.sandbox.mood = only((row) => ({ ...row, ...(row.title === "A title" ? { status: null } : {}) }));
    await watch.pollAt(5 * DAY);
    await watch.pollAt(5 * DAY + 2 * HOUR);
    watch.sandbox.mood = undefined;
    watch.ledger.closeVoteRequest(request, "Accepted");
    expect(await watch.pollAt(5 * DAY + 4 * HOUR)).toEqual(["missed"]);
    expect(await watch.tracked(request)).toMatchObject({ openUntil: START });
  });

  /** The explorer knows nothing about a request. */
  const lost =
    ({ firstContractId, contractId }: VoteRequest): Mood =>
    (answer, path, query, parameters) => {
      const { id } = parameters;
      if (path.includes("details") && (id === firstContractId || id === contractId)) throw new Refused(404);
      return only((row) => (row.contractId === contractId ? undefined : row))(
        answer,
        path,
        query,
        parameters,
      );
    };

  it("is reminded of although each read shows another title, or other dates than the one before", async () => {
    const request = open();
    expect(await watch.pollAt(MINUTE)).toEqual(["opened"]);
    const { title, voteBefore } = request;
    request.voteBefore -= DAY;
    // The new date is confirmed, although the title is not.
    request.title = "First title";
    expect(await watch.pollAt(2 * MINUTE)).toEqual([]);
    request.title = "Second title";
    expect(await watch.pollAt(3 * MINUTE)).toEqual(["changed"]);
    expect(await watch.tracked(request)).toMatchObject({ terms: { title, voteBefore: voteBefore - DAY } });
    request.title = title;
    await watch.pollAt(4 * MINUTE);
    // Then no two reads agree, and the last confirmed date counts.
    request.voteBefore += HOUR;
    expect(await watch.pollAt(DAY + 5 * MINUTE)).toEqual([]);
    request.voteBefore += HOUR;
    expect(await watch.pollAt(DAY + 6 * MINUTE)).toEqual(["reminder"]);
    request.voteBefore += HOUR;
    expect(await watch.pollAt(DAY + 7 * MINUTE)).toEqual([]);
    // A date that two reads show counts again, with its reminders.
    expect(await watch.pollAt(DAY + 8 * MINUTE)).toEqual(["changed", "reminder"]);
    expect(await watch.tracked(request)).not.toHaveProperty("isDisputed");
  });

  it("is reminded of once it is listed again, if it was lost for a moment when the reminder came due", async () => {
    const request = open();
    await watch.pollAt(MINUTE);
    watch.sandbox.mood = lost(request);
    for (const before of [3, 2, 1]) await watch.pollAt(DAY + MINUTE - before * MINUTE);
    expect(await watch.pollAt(DAY + 2 * MINUTE)).toEqual([]);
    watch.sandbox.mood = undefined;
    expect(await watch.pollAt(DAY + 10 * MINUTE)).toEqual(["reminder"]);
  });

  it("is overdue once it is listed again, if it was lost for a moment", async () => {
    const request = open();
    castUntil(watch, request, 10);
    await watch.pollAt(MINUTE);
    for (const hours of [24, 48, 66, 72, 95.9]) await watch.pollAt(hours * HOUR + 2 * MINUTE);
    watch.sandbox.mood = lost(request);
    for (const minutes of [50, 55, 61, 62])
      expect(await watch.pollAt(96 * HOUR + minutes * MINUTE)).toEqual([]);
    watch.sandbox.mood = undefined;
    expect(await watch.pollAt(98 * HOUR)).toEqual(["overdue"]);
  });

  it("is not known to have ended if it has no status when it is first seen after its dates", async () => {
    open();
    watch.sandbox.mood = only((row) => ({ ...row, ...(row.title === "A title" ? { status: null } : {}) }));
    expect(await watch.pollAt(5 * DAY)).not.toContain("missed");
    watch.sandbox.mood = undefined;
    expect(await watch.pollAt(5 * DAY + HOUR)).toEqual(["opened"]);
  });
});

it("a vote request is reminded of once although the clock is behind at a start until it is set", async () => {
  const watch = await startWatch();
  await watch.pollAt(0);
  watch.ledger.openVoteRequest({ title: "A title", lastsMs: 3 * DAY, effectiveInMs: null });
  await watch.pollAt(MINUTE);
  expect(await watch.pollAt(2 * DAY + MINUTE)).toEqual(["reminder"]);
  watch.restartAt(2 * DAY - HOUR);
  expect(await watch.pollAt(2 * DAY - HOUR)).toEqual([]);
  expect(await watch.pollAt(2 * DAY + 10 * MINUTE)).toEqual([]);
  // If the clock stays there, it was ahead when the reminder was sent.
  watch.restartAt(2 * DAY - HOUR);
  expect(await watch.pollAt(2 * DAY - 44 * MINUTE)).toEqual([]);
  expect(await watch.pollAt(2 * DAY + MINUTE)).toEqual(["reminder"]);
  await watch.close();
});

it("the first read announces a vote request that opened since the subscription, also if somebody has voted", async () => {
  const watch = await startWatch(HOUR);
  watch.setTime(-30 * MINUTE);
  castUntil(watch, watch.ledger.openVoteRequest({ title: "A title" }), 3);
  expect(await watch.pollAt(0)).toEqual(["opened"]);
  await watch.close();
});

it("a vote request whose document could not be read is not new", async () => {
  const watch = await startWatch();
  await watch.pollAt(0);
  const request = watch.ledger.openVoteRequest({ title: "A title" });
  expect(await watch.pollAt(MINUTE)).toEqual(["opened"]);
  await watch.spoil(request);
  expect(await watch.pollAt(2 * MINUTE)).toEqual([]);
  expect(await watch.tracked(request)).toMatchObject({ phase: "open" });
  await watch.close();
});

it("a vote request that an empty list lacked is not new because of a new vote", async () => {
  const watch = await startWatch();
  const [request] = watch.ledger.voteRequests;
  if (request) watch.ledger.castVote(request, true);
  watch.sandbox.mood = only(() => undefined);
  await watch.pollAt(0);
  await watch.pollAt(MINUTE);
  watch.sandbox.mood = only((row) => ({ ...row, createdAt: START - MINUTE }));
  expect(await watch.pollAt(2 * MINUTE)).toEqual([]);
  await watch.close();
});

it("a vote request of a network that was reset gets no reminder, although the list is empty", async () => {
  const watch = await startWatch();
  await watch.pollAt(0);
  watch.ledger.openVoteRequest({ title: "A title", lastsMs: 3 * DAY, effectiveInMs: 4 * DAY });
  expect(await watch.pollAt(MINUTE)).toEqual(["opened"]);
  const isEmpty = only(() => undefined);
  watch.sandbox.mood = (answer, path, ...more) => {
    if (path.endsWith("/details")) throw new Refused(404);
    return isEmpty(answer, path, ...more);
  };
  expect(await watch.pollAt(DAY + 5 * MINUTE)).toEqual([]);
  // The network was not reset after all.
  watch.sandbox.mood = undefined;
  expect(await watch.pollAt(DAY + 6 * MINUTE)).toEqual(["reminder"]);
  await watch.close();
});

it("the first read does not call a vote request new because of a new vote", async () => {
  const watch = await startWatch(HOUR);
  watch.setTime(-2 * HOUR);
  const request = watch.ledger.openVoteRequest({ title: "A title" });
  watch.setTime(-MINUTE);
  watch.ledger.castVote(request, true);
  // The list has the time of the newest version.
  watch.sandbox.mood = only((row) => ({ ...row, createdAt: START - MINUTE }));
  expect(await watch.pollAt(0)).toEqual([]);
  await watch.close();
});

it("requests open, and their dates move, although another row of the list can never be read", async () => {
  const watch = await startWatch();
  const { sandbox, ledger } = watch;
  sandbox.mood = (answer, path) => {
    if (path !== "/v1/governance/vote-requests") return answer;
    const page = answer as { content: unknown[] };
    return { ...page, content: [...page.content, null] };
  };
  // The second reading shows that the row stays unreadable.
  for (const minutes of [0, 1]) await watch.pollAt(minutes * MINUTE);
  const request = ledger.openVoteRequest({ title: "A title", lastsMs: 3 * DAY, effectiveInMs: 4 * DAY });
  Object.assign(request, { isStuck: true });
  expect(await watch.pollAt(2 * MINUTE)).toEqual(["opened"]);
  request.voteBefore += DAY;
  expect(await watch.pollAt(3 * MINUTE)).toEqual([]);
  expect(await watch.pollAt(4 * MINUTE)).toEqual(["changed"]);
  expect(await watch.pollAt(DAY + 5 * MINUTE)).toEqual([]);
  expect(await watch.pollAt(2 * DAY + 5 * MINUTE)).toEqual(["reminder"]);
  await watch.close();
});

it("all requests of the first read are seen when it ends, however long their details take, and are not reminded of at once", async () => {
  const watch = await startWatch();
  const requests = ["One", "Two", "Three"].map((title) =>
    // The reminder two days before the quorum date is due while the details are read.
    watch.ledger.openVoteRequest({ title, lastsMs: 2 * DAY + MINUTE, effectiveInMs: 4 * DAY }),
  );
  // The list only has the time of a later contract.
  for (const each of requests) watch.ledger.castVote(each, true);
  let details = 0;
  watch.sandbox.mood = (answer, path) => {
    if (path.endsWith("/details")) {
      details = Math.min(details + 1, 3);
      watch.setTime(details * 2 * MINUTE);
    }
    return answer;
  };
  await watch.pollAt(0);
  const seen = await Promise.all(requests.map(async (each) => (await watch.tracked(each))?.seenAt));
  expect(seen).toEqual(Array(3).fill(START + 6 * MINUTE));
  watch.sandbox.mood = undefined;
  for (const minutes of [8, 9, 10, 30]) expect(await watch.pollAt(minutes * MINUTE)).toEqual([]);
  await watch.close();
});
