import { describe, expect, it } from "vitest";
import { isSameVoter, notVoted, voterKey, voterName, votersIn, votesIn } from "../../src/ledger/votes.js";

const reason = { url: "https://example.org", body: "Fine" };

describe("the votes in a contract", () => {
  it("say who voted how, why and when", () => {
    const votes = votesIn({
      votes: [
        ["Falcon", { sv: "falcon::1220", accept: true, reason, optCastAt: "2026-11-01T00:00:00Z" }],
        ["Grove", { sv: "grove::1220", accept: false, reason: { url: "", body: "" }, optCastAt: null }],
      ],
    });
    expect(votes).toHaveLength(2);
    expect(votes?.[0]).toMatchObject({
      accountName: "Falcon",
      identifier: "falcon::1220",
      accept: true,
      reason: "Fine",
      reasonUrl: "https://example.org",
      castAt: Date.UTC(2026, 10, 1),
    });
    expect(votes?.[1]).toMatchObject({ accept: false, reason: null, castAt: null });
  });

  it.each([[null], [{}], [{ votes: {} }], [{ votes: "none" }]])(
    "are unknown without a list: %j",
    (payload) => {
      expect(votesIn(payload)).toBeNull();
    },
  );

  it("leave out only the unreadable ones", () => {
    expect(votesIn({ votes: [null, ["Falcon"], ["Grove", { accept: true }], 7] })).toHaveLength(1);
    expect(votesIn({ votes: [] })).toEqual([]);
  });
});

describe("a voter", () => {
  const vote = { ...votesIn({ votes: [["Falcon", { sv: "falcon::1220", accept: true }]] })?.[0] };
  it("is identified by its party, or else by a name", () => {
    const all = { company: "Falcon Ltd", identifier: "falcon::1220", accountName: "Falcon" };
    const read = (given: object) => {
      const row = { ...vote, ...all, ...given } as Parameters<typeof voterKey>[0];
      return [voterKey(row), voterName(row)];
    };
    expect(read({})).toEqual(["falcon::1220", "Falcon"]);
    expect(read({ identifier: null })).toEqual(["Falcon", "Falcon"]);
    expect(read({ identifier: null, accountName: null })).toEqual(["Falcon Ltd", "Falcon Ltd"]);
    expect(read({ accountName: null, company: null })).toEqual(["falcon::1220", "falcon::1220"]);
    expect(read({ identifier: null, accountName: null, company: null })).toEqual([null, null]);
  });
});

describe("two super validators of one company", () => {
  const vote = (identifier: string | null, accountName: string | null, accept: boolean | null = true) => ({
    ...(votesIn({ votes: [["x", { accept }]] })?.[0] ?? raise()),
    company: "Digital Asset",
    identifier,
    accountName,
  });
  const raise = (): never => {
    throw new Error("No vote");
  };
  const [first, second] = ["da-1::1220aa", "da-2::1220bb"];

  it("are two voters, whatever names the explorer gives them", () => {
    expect(votersIn([vote(first, "Digital-Asset-1"), vote(second, "Digital-Asset-2")])).toEqual([
      { name: "Digital-Asset-1", aliases: [first, "Digital-Asset-1"] },
      { name: "Digital-Asset-2", aliases: [second, "Digital-Asset-2"] },
    ]);
    // Voters with the same name are shown by their parties.
    expect(votersIn([vote(first, null), vote(second, null)])).toEqual([
      { name: first, aliases: [first] },
      { name: second, aliases: [second] },
    ]);
    expect(votersIn([vote(first, "DA"), vote(second, "DA"), vote(null, "DA")])).toHaveLength(2);
  });

  it("are told apart if one has voted and the other has not", () => {
    const all = votersIn([vote(first, "Digital-Asset-1"), vote(second, "Digital-Asset-2")]);
    expect(notVoted([vote(first, "Digital-Asset-1")], all, 1)?.voters.map(({ name }) => name)).toEqual([
      "Digital-Asset-2",
    ]);
    const mapped = { aliases: [first, "Digital-Asset-1", "Digital Asset"] };
    expect(isSameVoter(mapped, { aliases: [second, "Digital Asset"] })).toBe(false);
    expect(isSameVoter(mapped, { aliases: [first] })).toBe(true);
    expect(isSameVoter(mapped, { aliases: ["Digital-Asset-1"] })).toBe(true);
  });
});

describe("missing voters", () => {
  const votes = (...names: readonly (readonly [string | null, boolean | null])[]) =>
    votesIn({ votes: names.map(([name, accept]) => [name, { sv: null, accept }]) }) ?? [];
  const others = votersIn(
    votes(["Falcon", true], ["Grove", false], ["Iris", true], ["Iris", false], [null, true]),
  );

  it("are known from other votes, if their number matches", () => {
    const own = votes(["Falcon", true], ["Grove", null]);
    expect(notVoted(own, others, 2)?.voters.map(({ name }) => name)).toEqual(["Grove", "Iris"]);
    expect(notVoted(own, others, 1)).toBeNull();
    // A new super validator has never voted.
    expect(notVoted(own, others, 3)).toMatchObject({ unknown: 1, voted: [{ name: "Falcon" }] });
    expect(notVoted(own, others, null)).toBeNull();
    // A voter with a different name elsewhere could be mistaken for a missing one.
    expect(notVoted(votes(["SV-1", true]), others, 3)).toBeNull();
    expect(notVoted(votes(["Falcon", true], ["Grove", true], ["Iris", true]), others, 0)).toMatchObject({
      voters: [],
      unknown: 0,
    });
  });

  describe("after a super validator has left", () => {
    const all = [...others, ...votersIn(votes(["Oak", true]))];
    const former = all.slice(-1);
    const without = (pending: number) => notVoted(votes(["Falcon", true]), all, pending, former);
    const withVote = (pending: number) =>
      notVoted(votes(["Falcon", true], ["Oak", true]), all, pending, former);

    it("do not include its own", () => {
      expect(without(2)).toMatchObject({ voters: [{ name: "Grove" }, { name: "Iris" }], unknown: 0 });
      expect(without(1)).toBeNull();
    });

    it("may include one of its successor, which has never voted", () => {
      expect(without(3)).toMatchObject({ unknown: 1, voted: [{ name: "Falcon" }] });
    });

    it("are one more than the tally says, if the tally counts its vote", () => {
      for (const pending of [1, 2])
        expect(withVote(pending), String(pending)).toMatchObject({
          voters: [{ name: "Grove" }, { name: "Iris" }],
          unknown: 0,
        });
      expect(withVote(0)).toBeNull();
    });
  });

  it("have all names that any vote gives them", () => {
    const named = (identifier: string | null, accountName: string | null) => ({
      ...votes(["x", true])[0],
      identifier,
      accountName,
    });
    const rows = [named("iris::1220", null), named("iris::1220", "Iris"), named(null, "Iris")];
    expect(votersIn(rows as Parameters<typeof votersIn>[0])).toEqual([
      { name: "iris::1220", aliases: ["iris::1220", "Iris"] },
    ]);
  });
});
