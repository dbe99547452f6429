import { describe, expect, it } from "vitest";
import { requestSummaries } from "../../src/directory/collections.js";
import { createDirectory } from "../../src/directory/directory.js";
import { listedIn, proposalEntry } from "../../src/directory/entries.js";
import { createNames } from "../../src/directory/names.js";
import { ExplorerError } from "../../src/explorer/errors.js";
import { createExplorerService, type Explorer } from "../../src/explorer/service.js";
import { toAction } from "../../src/ledger/actions.js";
import { missingLine } from "../../src/screens/vote-parts.js";
import { createCache } from "../../src/storage/cache.js";
import type { State } from "../../src/storage/state.js";
import { newState, quiet } from "../harness.js";
import { row } from "../spec/vote-requests.js";

const DELTA = `delta::1220${"ab".repeat(32)}`;
const TWIN = `other::1220${"cd".repeat(32)}`;
const feature = (provider: string) => toAction({ tag: "SRARC_GrantFeaturedAppRight", value: { provider } });

async function known(names: readonly (readonly [id: string, name: string])[]) {
  const directory = createDirectory();
  await directory.replace(
    "party",
    names.map(([id, name]) => ({ id, name, active: null })),
    Date.now(),
  );
  // These tests do not read from the explorer. They add actions with `learn`.
  const explorer = {} as Explorer;
  return { directory, names: createNames({ directory, explorer, state: newState(), log: quiet }) };
}

it("names a vote request by its action, unless it has a custom title", async () => {
  const { names } = await known([[DELTA, "Delta Labs"]]);
  const title = "SRARC_GrantFeaturedAppRight";
  expect(names.voteRequest({ identity: "c1", title })).toBe("Feature Application");
  names.learn("c1", feature(DELTA));
  expect(names.voteRequest({ identity: "c1", title })).toBe("Feature Delta Labs");
  expect(names.voteRequest({ identity: "c1", title: "Feature Application" })).toBe("Feature Delta Labs");
  expect(names.voteRequest({ identity: "c1", title: "A plan for Delta" })).toBe("A plan for Delta");
  expect(names.voteRequest({ identity: "c2", title: null })).toBe("Vote request without a title");
  names.learn("c3", feature(TWIN));
  expect(names.voteRequest({ identity: "c3", title: null })).toBe("Feature other");
});

it("names an amount in the coin's unit, as people type it, and cuts a long name before its mark", async () => {
  const { directory, names } = await known([]);
  names.learn(
    "c1",
    toAction({ tag: "SRARC_CreateUnclaimedRewardBurnInstruction", value: { amount: "6513.0" } }),
  );
  const title = "SRARC_CreateUnclaimedRewardBurnInstruction";
  expect(names.voteRequest({ identity: "c1", title })).toBe("Burn 6,513 CC of unclaimed rewards");
  const name = "Pause the rights of all applications below the threshold";
  const twins = ["Ana", "Ben"].map((requester, at) => ({ id: `t${at}`, name, active: true, requester }));
  await directory.replace("proposal", twins, Date.now());
  expect(names.voteRequest({ identity: "t0", title: name }, 30)).toBe("Pause the rights of all… (Ana)");
  expect(names.voteRequest({ identity: "t1", title: name }, 30)).toBe("Pause the rights of all… (Ben)");
  const long = twins.map((each) => ({ ...each, requester: `${each.requester} ${"long ".repeat(40)}` }));
  await directory.replace("proposal", long, Date.now());
  const shown = names.voteRequest({ identity: "t0", title: name }, 40);
  expect(shown).toMatch(/^Pause the.*… \(Ana long.*…\)$/);
  expect(shown.length).toBeLessThanOrEqual(40);
});

it("takes a request's kind from its title, or from its details once they are read", async () => {
  const { directory, names } = await known([[DELTA, "Delta Labs"]]);
  await directory.replace("proposal", [{ id: "c1", name: "A plan for Delta", active: true }], Date.now());
  expect(names.kindOf({ identity: "c1", title: "SRARC_OffboardSv" })).toBe("validators");
  expect(names.kindOf({ identity: "c1", title: "A plan for Delta" })).toBeUndefined();
  names.learn("c1", feature(DELTA));
  expect(names.kindOf({ identity: "c1", title: "A plan for Delta" })).toBe("apps");
  expect(directory.entry("proposal", "c1")).toMatchObject({
    name: "A plan for Delta",
    action: "SRARC_GrantFeaturedAppRight",
  });
  names.learn("c2", toAction(null));
  expect(names.kindOf({ identity: "c2", title: "Something else" })).toBe("other");
});

it("loads stored names, and still reads details if the state cannot be read", async () => {
  const state = newState();
  await state.commit([state.open(requestSummaries).put("c1", ["Feature ", { party: DELTA }])]);
  const directory = createDirectory();
  const details = {
    voteRequest: async () => ({ data: { actionConfig: { tag: "SRARC_OffboardSv", value: { sv: TWIN } } } }),
  };
  const explorer = details as unknown as Explorer;
  const names = createNames({ directory, explorer, state, log: quiet });
  await names.load();
  expect(names.voteRequest({ identity: "c1", title: null })).toBe("Feature delta");

  const broken: State = {
    ...state,
    open: (definition) => ({ ...state.open(definition), list: () => Promise.reject(new Error("away")) }),
  };
  const without = createNames({ directory, explorer, state: broken, log: quiet });
  await without.read([row({ contractId: "c2", title: "SRARC_OffboardSv" })]);
  expect(without.voteRequest({ identity: "c2", title: "SRARC_OffboardSv" })).toBe("Offboard other");
});

it("adds the id if two parties have the same name", async () => {
  const { names } = await known([
    [DELTA, "Delta Labs"],
    [TWIN, "DELTA labs"],
  ]);
  names.learn("c1", feature(DELTA));
  expect(names.voteRequest({ identity: "c1", title: null })).toBe("Feature Delta Labs (1220ab…abab)");
});

it("tells parties with the same name apart, within the given length", async () => {
  const { names } = await known([
    [DELTA, "Delta Labs"],
    [TWIN, "Delta Labs"],
    [`lone::1220${"ef".repeat(32)}`, "A lone party"],
  ]);
  const fingerprints = [DELTA, TWIN].map((id) => ` (${id.slice(id.indexOf("1220"))}`.slice(0, 8));
  const called = [DELTA, TWIN].map((id) => names.distinct(id));
  for (const [at, name] of called.entries()) expect(name).toContain(`Delta Labs${fingerprints[at]}`);
  expect(names.called(DELTA)).toBe("Delta Labs");
  expect(names.distinct(`lone::1220${"ef".repeat(32)}`)).toBe("A lone party");
  for (const id of [DELTA, TWIN]) {
    const short = names.distinct(id, 20);
    expect(short.length).toBeLessThanOrEqual(20);
    expect(short.slice(-5)).toBe(names.distinct(id).slice(-5));
  }
});

it("tells missing voters with the same name apart", async () => {
  const { names } = await known([
    [DELTA, "Delta Labs"],
    [TWIN, "Delta Labs"],
  ]);
  const voters = [DELTA, TWIN].map((id) => ({ name: id, aliases: [id] }));
  const line = String(missingLine({ voters, unknown: 0, voted: [] }, names));
  expect(line).toMatch(/Delta Labs \(1220ab.*\), Delta Labs \(1220cd/);
  // A vote may have only a name.
  const named = [{ name: "Delta Labs", aliases: ["Delta Labs"] }];
  expect(String(missingLine({ voters: named, unknown: 0, voted: [] }, names))).toMatch(/\*\* Delta Labs$/);
});

it("keeps entries that are added while a list is read", async () => {
  let now = 1_000;
  const directory = createDirectory(() => now);
  const readAt = now;
  now += 10;
  directory.add("proposal", { id: "new", name: "Just announced", active: true });
  const taking = directory.replace("proposal", [{ id: "old", name: "Old", active: true }], readAt);
  directory.add("proposal", { id: "newer", name: "While it is taken over", active: true });
  await taking;
  expect(directory.entries("proposal").map(({ id }) => id)).toEqual(["old", "new", "newer"]);
  // An added entry is dropped if it is not in a list that was read later.
  now += 10;
  await directory.replace("proposal", [{ id: "old", name: "Old", active: true }], now);
  expect(directory.entries("proposal").map(({ id }) => id)).toEqual(["old"]);
});

it("renames a completion entry with a generic name once its summary is known", async () => {
  const { directory, names } = await known([[DELTA, "Delta Labs"]]);
  await directory.replace("proposal", [{ id: "c1", name: "Feature Application", active: true }], Date.now());
  names.learn("c1", feature(DELTA));
  expect(directory.search(["proposal"], "delta", 1)[0]?.entry.name).toBe("Feature Delta Labs");
});

it("names a request that had no name in the list once its summary is known", async () => {
  const { directory, names } = await known([[DELTA, "Delta Labs"]]);
  const name = names.ownName({ identity: "c1", title: null });
  expect(name).toBe("Vote request without a title");
  await directory.replace("proposal", [{ id: "c1", name, active: true }], Date.now());
  names.learn("c1", feature(DELTA));
  expect(names.voteRequest({ identity: "c1", title: name })).toBe("Feature Delta Labs");
  expect(directory.entry("proposal", "c1")?.name).toBe("Feature Delta Labs");
});

describe("vote requests with the same name", () => {
  it("are told apart by what they are about if nothing else differs", async () => {
    const { directory, names } = await known([[DELTA, "Delta Labs"]]);
    const own = { name: "CIP-0116", active: true, requester: "Ana", openedAt: 60_000 };
    await directory.replace(
      "proposal",
      [
        { ...own, id: "c1" },
        { ...own, id: "c2" },
      ],
      Date.now(),
    );
    names.learn("c1", feature(DELTA));
    expect(names.voteRequest({ identity: "c1", title: "CIP-0116" })).toBe("CIP-0116 (Feature Delta Labs)");
    expect(names.voteRequest({ identity: "c2", title: "CIP-0116" })).toBe("CIP-0116");
  });

  const day = Date.UTC(2026, 9, 6, 14, 5);
  const entry = (id: string, more: object = {}) => ({ id, name: "Raise the fee…", active: true, ...more });
  it.each([
    ["are told apart by their requester", { requester: "Ana" }, { requester: "Ben" }, " (Ana)"],
    [
      "are told apart by their day if they have the same requester",
      { requester: "Ana", openedAt: day },
      { requester: "Ana", openedAt: day - 86_400_000 },
      " (6 Oct)",
    ],
    [
      "are told apart by their time on the same day",
      { openedAt: day },
      { openedAt: day - 60_000 },
      " (6 Oct, 14:05)",
    ],
    ["keep their name if nothing tells them apart", {}, {}, ""],
  ])("%s", async (_, own, other, mark) => {
    const { directory, names } = await known([]);
    await directory.replace("proposal", [entry("c1", own), entry("c2", other)], day);
    expect(names.voteRequest({ identity: "c1", title: "Raise the fee…" })).toBe(`Raise the fee…${mark}`);
    expect(names.voteRequest({ identity: "c3", title: "Another" })).toBe("Another");
  });
});

it("keeps a vote request's opening time when its later contracts are listed", async () => {
  const { directory, names } = await known([]);
  const [opened, firstVote, lastVote] = [1, 2, 4].map((day) => Date.UTC(2026, 9, day));
  const openedAt = () => directory.entry("proposal", "c0")?.openedAt;
  const list = (contractId: string, createdAt = 0) => {
    const listed = listedIn(row({ trackingCid: "c0", contractId, createdAt }), "c0");
    directory.add("proposal", proposalEntry(listed, "c0", names, Date.UTC(2026, 9, 5)));
  };
  // Without a better one, the first time that is seen stays.
  list("c1", firstVote);
  list("c2", lastVote);
  expect(openedAt()).toBe(firstVote);
  list("c0", opened);
  list("c2", lastVote);
  expect(openedAt()).toBe(opened);
});

it("a poll names all other requests if the explorer restricts the details of some", async () => {
  const explorer = createExplorerService({
    async upstream({ path }) {
      if (/\/c[01]\//.test(path)) throw new ExplorerError("withheld", "answered 451", { status: 451 });
      return { json: { actionConfig: {} }, text: "", bytes: 2 };
    },
    cache: createCache({ memoryMb: 1, log: quiet }),
  }).for("background");
  const names = createNames({ directory: createDirectory(), explorer, state: newState(), log: quiet });
  const ids = Array.from({ length: 9 }, (_, at) => `c${at}`);
  const rows = ids.map((id) => ({ title: null, trackingCid: id, contractId: null }));
  // Somebody has just opened a list with them.
  await names.read(rows);
  await names.readAll(rows, 20);
  expect(ids.filter((id) => names.actionOf(id) === undefined)).toEqual(["c0", "c1"]);
});
