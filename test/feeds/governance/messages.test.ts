import { expect, it } from "vitest";
import { createDirectory } from "../../../src/directory/directory.js";
import type { VoteRequestListItem } from "../../../src/explorer/schema/governance.js";
import { createMessages } from "../../../src/feeds/governance/messages.js";
import { createNews } from "../../../src/feeds/governance/news.js";
import { fromExplorer } from "../../../src/ledger/vote-requests.js";
import { DAY, HOUR } from "../../../src/util/units.js";
import { newNames, newState } from "../../harness.js";
import { NOW, row, vote } from "../../spec/vote-requests.js";

const [since, before] = [NOW - HOUR, NOW - 2 * HOUR];
const isFirst = row({ contractId: "a", createdAt: before });
const isVotedOn = row({ contractId: "c", trackingCid: "b", createdAt: before });
const isNew = row({ contractId: "d", createdAt: NOW - 1 });

/** Returns the digest of these rows, as people see it first. */
async function digestOf(rows: readonly VoteRequestListItem[], at: number | null) {
  const state = newState();
  const names = newNames(state);
  const event = { kind: "digest" as const, keys: [], rows: [...rows], since: at };
  const { body = [], notification } = createMessages(names, () => NOW).digest(event, "m");
  await state.close();
  return { body: body.join("\n"), news: String(notification) };
}

it.each([
  ["opened before the last check", [isFirst, isNew], since, /The first of them opened/],
  ["opened since", [isNew], since, /They opened after/],
  ["has the time of a vote", [isVotedOn, isNew], since, undefined],
  ["came with the first check", [isVotedOn], null, /They opened before I could check/],
])("a digest of requests of which one %s says when they opened, if it knows", async (_, rows, at, words) => {
  const { body } = await digestOf(rows, at);
  if (words) expect(body).toMatch(words);
  else expect(body).not.toMatch(/They opened|of them opened/);
});

it("a digest names the request with the least time first, and warns of a short vote", async () => {
  const usual = [1, 2, 3].map((day) =>
    row({
      contractId: `u${day}`,
      title: `Usual ${day}`,
      voteBefore: NOW + (8 - day) * DAY,
      createdAt: NOW - DAY,
    }),
  );
  const short = row({
    contractId: "s",
    title: "Emergency",
    voteBefore: NOW + 3 * HOUR,
    createdAt: NOW - HOUR,
  });
  const ended = row({ contractId: "e", title: "Ended", status: "Rejected", voteBefore: NOW + HOUR });
  const { news, body } = await digestOf([ended, ...usual, short], since);
  expect(news).toBe(
    "🗳️ 5 new vote requests: Emergency, Usual 3, Usual 2 and 2 more · ⚠️ Short vote: 4 hours (Emergency)",
  );
  expect(body.indexOf("Usual 1")).toBeLessThan(body.indexOf("Ended"));
  expect((await digestOf(usual, since)).news).not.toContain("Short vote");
  const next = row({ contractId: "n", title: "Next", voteBefore: NOW + 4 * HOUR, createdAt: NOW - HOUR });
  expect((await digestOf([...usual, short, next], since)).news).toContain(
    "⚠️ Short vote: 4 hours (Emergency); 1 more is short",
  );
  const long = [short, ...usual].map((each) => ({
    ...each,
    title: `${each.title} ${"[CIP-0101] ".repeat(9)}`,
  }));
  expect((await digestOf(long, since)).news.slice(0, 160)).toMatch(/and 1 more · ⚠️ Short vote: 4 hours/u);
});

it.each([
  ["expired", { yesCount: 6 }, /It expired \(.*\) and isn't closed yet/],
  ["can still be voted on", { yesCount: 10 }, /^(?!.*expired)/s],
  ["has enough no votes", { noCount: 9 }, /The votes reject it \(enough have voted no\)\./],
  [
    "had too few yes votes in the end",
    { yesCount: 6, noCount: 4, targetEffectiveAt: NOW - HOUR },
    /The votes reject it \(too few had voted yes by <t:\d+:f>\)\./,
  ],
])("news of votes on a request that %s says so", async (_, given, words) => {
  const state = newState();
  const names = newNames(state);
  const dates = { voteBefore: NOW - DAY, targetEffectiveAt: NOW + DAY };
  const request = fromExplorer(row({ ...dates, yesCount: 0, noCount: 0, abstainCount: 3, ...given }), null);
  const snapshot = { request, needed: 9, revision: 1, isOver: false, missing: async () => null };
  const votes = [{ voter: "ann", from: null, to: true }];
  const event = { kind: "votes" as const, key: "c1", sequence: 1, votes };
  const { body = [] } = createNews(names, () => NOW)(event, snapshot, "m");
  expect(body.join("\n")).toMatch(words);
  await state.close();
});

it.each([
  [undefined, /Too few had voted by the quorum date/],
  [false, /^(?!.*Too few had voted)/s],
])(
  "gives too few votes in time as the reason of an expiry only if the bot did not see enough (%s)",
  async (hasExpired, words) => {
    const state = newState();
    const dates = { voteBefore: NOW - DAY, targetEffectiveAt: NOW + DAY };
    const listed = fromExplorer(row({ ...dates, yesCount: 7, noCount: 3, status: "Expired" }), null);
    const request = { ...listed, hasExpired };
    const snapshot = { request, needed: 9, revision: 1, isOver: true, missing: async () => null };
    const event = { kind: "closed" as const, key: "c1", status: "Expired", correctedAt: undefined };
    const { body = [] } = createNews(newNames(state), () => NOW)(event, snapshot, "m");
    expect(body.join("\n")).toMatch(words);
    await state.close();
  },
);

it("a digest has menus to open each of its requests", async () => {
  const state = newState();
  const rows = Array.from({ length: 30 }, (_, at) => row({ contractId: `c${at}`, title: `Motion ${at}` }));
  const event = { kind: "digest" as const, keys: [], rows, since };
  const { menus = [] } = createMessages(newNames(state), () => NOW).digest(event, "m");
  expect(menus.map(({ choices }) => choices.length)).toEqual([25, 5, 0, 0]);
  await state.close();
});

it.each([
  ["as its vote does, and not by its validator's own name", "Falcon Finance", "Falcon Finance voted yes"],
  ["with its party if another one has the same name", "Node", "Node (1220aa…aaaa) voted yes"],
])("a message about votes names a voter %s", async (_, voter, words) => {
  const state = newState();
  const directory = createDirectory();
  const party = `falcon-1::1220${"a".repeat(64)}`;
  for (const id of [party, `falcon-2::1220${"b".repeat(64)}`])
    directory.add("validator", { id, name: "Node", active: true });
  const request = fromExplorer(row({}), null);
  const snapshot = { request, needed: 9, revision: 1, isOver: false, missing: async () => null };
  const votes = [{ voter, party, from: null, to: true }];
  const event = { kind: "votes" as const, key: "c1", sequence: 1, votes };
  const { notification } = createNews(newNames(state, directory), () => NOW)(event, snapshot, "m");
  expect(String(notification)).toContain(words);
  await state.close();
});

it("the announcement of a short vote with a long title warns within the first words of a phone's notification", async () => {
  const state = newState();
  const dates = { createdAt: NOW - 1, voteBefore: NOW + 4 * HOUR };
  const request = fromExplorer(row({ ...dates, title: "A very long title ".repeat(9) }), null);
  const snapshot = { request, needed: 9, revision: 1, isOver: false, missing: async () => null };
  const { notification } = createMessages(newNames(state), () => NOW).announcement(snapshot, "m");
  expect(String(notification)).toMatch(/^.{80,90}… · ⚠️ Short vote: 4 hours$/u);
  await state.close();
});

it("a message about several votes says each in a word, which screen readers can read", async () => {
  const state = newState();
  const request = fromExplorer(row({}), null);
  const snapshot = { request, needed: 9, revision: 1, isOver: false, missing: async () => null };
  const votes = [
    { voter: "ann", from: null, to: true },
    { voter: "ben", from: true, to: false },
  ];
  const event = { kind: "votes" as const, key: "c1", sequence: 1, votes };
  const { body = [] } = createNews(newNames(state), () => NOW)(event, snapshot, "m");
  expect(String(body[0])).toBe("**ann** ✅ yes, **ben** ❌ no (before: ✅ yes)");
  await state.close();
});

it("an overdue request is due since its votes were cast, as on its screen", async () => {
  const state = newState();
  const listed = row({ yesCount: 9, noCount: 0, abstainCount: 4, voteBefore: NOW + DAY });
  const votes = Array.from({ length: 9 }, () => ({ ...vote({}), castAt: NOW - 3 * HOUR }));
  const request = { ...fromExplorer(listed, null), votes };
  const snapshot = { request, needed: 9, revision: 1, isOver: false, missing: async () => null };
  const event = { kind: "overdue" as const, key: "c1", since: NOW - HOUR };
  const { body = [] } = createNews(newNames(state), () => NOW)(event, snapshot, "m");
  expect(body.join("\n")).toContain(`due since <t:${(NOW - 3 * HOUR) / 1_000}:f>`);
  await state.close();
});
