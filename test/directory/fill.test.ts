import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { type SandboxExplorer, startSandboxExplorer } from "../../sandbox/explorer/server.js";
import { nameLists, nameListTimes } from "../../src/directory/collections.js";
import { createDirectory, type Directory, isLoading } from "../../src/directory/directory.js";
import { createDirectoryFiller, createDirectoryLoader } from "../../src/directory/fill.js";
import { createNames, type Names } from "../../src/directory/names.js";
import { toChoices } from "../../src/discord/autocomplete.js";
import { createRenderer } from "../../src/discord/message.js";
import { createHttp } from "../../src/explorer/http.js";
import { createExplorerService, type Explorer } from "../../src/explorer/service.js";
import { readRecords } from "../../src/ledger/records.js";
import { createCache } from "../../src/storage/cache.js";
import { holdForever } from "../../src/storage/lease.js";
import type { State } from "../../src/storage/state.js";
import { newLinks, newState, SMALL } from "../harness.js";

const log = { debug() {}, info() {}, warn() {}, error() {} };
const HOUR = 3_600_000;
let sandbox: SandboxExplorer;
let state: State;
let directory: Directory;
let names: Names;
let now: number;
let explorer: Explorer;
/** Returns cached answers, too. */
let patientExplorer: Explorer;
let fill: () => Promise<void>;

beforeAll(async () => {
  sandbox = await startSandboxExplorer({ size: { ...SMALL, validators: 250, parties: 300 }, lively: false });
});
afterAll(() => sandbox.close());

beforeEach(async () => {
  sandbox.clearFaults();
  sandbox.mood = undefined;
  now = Date.now();
  state = newState();
  await restart();
});

/** Imitates another process on the same state. */
async function restart() {
  directory = createDirectory();
  const get = createHttp({ apiUrl: `${sandbox.url}/v1`, apiKey: sandbox.key });
  const service = createExplorerService({
    upstream: ({ path, query }) => get(path, query, AbortSignal.timeout(5_000)),
    cache: createCache({ memoryMb: 8, log }),
  });
  explorer = service.for("background", { maxAgeMs: 0, keep: false });
  patientExplorer = service.for("background", { maxAgeMs: HOUR });
  await holdForever(state, {
    async start(leased) {
      const ended = new AbortController().signal;
      names = createNames({ directory, explorer, state: leased, log });
      await names.load();
      const clock = () => now;
      const load = createDirectoryLoader(directory, leased, log, clock);
      fill = createDirectoryFiller({
        ...{ directory, load, names, explorer, newest: explorer },
        state: leased,
        ended,
        now: clock,
      });
    },
    async stop() {},
  });
}

const sizes = () =>
  (["validator", "party", "proposal"] as const).map((kind) => directory.entries(kind).length);

it("reads each list completely, and another process loads it from the state", async () => {
  await fill();
  expect(sizes()).toEqual([250, 300, 25]);
  const other = createDirectory();
  await createDirectoryLoader(other, state, log)();
  expect(other.entries("validator")).toEqual(directory.entries("validator"));
  expect(other.readAt("token")).toBeDefined();
  const sent = sandbox.requests.length;
  // Each run reads the details of up to twenty vote requests, and each detail only once.
  await fill();
  expect(sandbox.requests.length).toBe(sent + 5);
  await fill();
  expect(sandbox.requests.length).toBe(sent + 5);
});

it("is as old as the cached answers that it was read from", async () => {
  const { fetchedAt } = await patientExplorer.validators({ page: 0, size: 100 });
  now = fetchedAt + 4 * 60_000;
  const ended = new AbortController().signal;
  const load = createDirectoryLoader(directory, state, log);
  await createDirectoryFiller({
    directory,
    load,
    names,
    explorer: patientExplorer,
    newest: explorer,
    state,
    ended,
    now: () => now,
  })();
  expect(directory.entries("validator").length).toBe(250);
  expect(directory.readAt("validator")).toBe(fetchedAt);
});

it.each([1, 120])(
  "lists %i validators that report while the list is read, and so move to its first pages",
  async (count) => {
    const sorted = sandbox.ledger.validators.toSorted((one, other) => one.lastActiveAt - other.lastActiveAt);
    // The last ones of the list, and one of the first page.
    const moving = [...sorted.slice(0, count), ...sorted.slice(-1)];
    const before = moving.map(({ lastActiveAt }) => lastActiveAt);
    let isMoved = false;
    sandbox.mood = (answer, path, { page }) => {
      if (path === "/v1/validators" && page === "1" && !isMoved) {
        isMoved = true;
        for (const [place, each] of moving.entries()) each.lastActiveAt = Date.now() + place;
      }
      return answer;
    };
    await fill();
    expect(new Set(directory.entries("validator").map(({ id }) => id)).size).toBe(250);
    for (const [place, each] of moving.entries()) each.lastActiveAt = before[place] ?? 0;
  },
);

it("asks for no further page when the process stops, and stores nothing after that", async () => {
  sandbox.injectFault({ kind: "slow", ms: 300 });
  const stopping = new AbortController();
  const load = createDirectoryLoader(directory, state, log);
  const parts = { directory, load, names, explorer, newest: explorer, state, now: () => now };
  const before = sandbox.requests.length;
  const run = createDirectoryFiller({ ...parts, ended: stopping.signal })();
  await expect.poll(() => sandbox.requests.length).toBe(before + 1);
  stopping.abort();
  await run;
  expect(sandbox.requests.length).toBe(before + 1);
  expect(await state.open(nameListTimes).get("validator")).toBeUndefined();
});

it("loads the other entries of a list if some are damaged", async () => {
  const good = { id: "good", name: "Good", active: true };
  const entries = [{ id: "bad", name: 7, active: true }, "no entry", good, null];
  await state.commit([
    state.open(nameLists).put("validator", { readAt: 1, entries }),
    state.open(nameListTimes).put("validator", { readAt: 1 }),
  ]);
  await createDirectoryLoader(directory, state, log)();
  expect(directory.entries("validator")).toEqual([good]);
});

it("names vote requests by their summaries, and loads the names from the state", async () => {
  await fill();
  const { voteRequests } = sandbox.ledger;
  const featured = voteRequests.find(({ title }) => title === "SRARC_GrantFeaturedAppRight");
  const identity = featured?.firstContractId ?? "";
  const name = directory.entry("proposal", identity)?.name;
  expect(name).toMatch(/^Feature (?!Application)./);
  expect(directory.search(["proposal"], name ?? "", 1)[0]?.entry.id).toBe(identity);
  const other = createDirectory();
  await createDirectoryLoader(other, state, log)();
  expect(other.entry("proposal", identity)?.name).toBe(name);
});

it("keeps the names of vote requests after a restart, without reading the details again", async () => {
  await fill();
  await fill();
  const featured = sandbox.ledger.voteRequests.find(({ title }) => title === "SRARC_GrantFeaturedAppRight");
  const identity = featured?.firstContractId ?? "";
  const before = directory.entry("proposal", identity)?.name;
  const sent = sandbox.requests.filter(({ path }) => path.endsWith("/details")).length;
  now += HOUR;
  await restart();
  await fill();
  expect(directory.entry("proposal", identity)?.name).toBe(before);
  expect(sandbox.requests.filter(({ path }) => path.endsWith("/details")).length).toBe(sent);
});

it("reads the kind of a request with a custom title from its details, once", async () => {
  const { voteRequests } = sandbox.ledger;
  const featured = voteRequests.find(({ title }) => title === "SRARC_GrantFeaturedAppRight");
  if (!featured) throw new Error("The sandbox has no feature application.");
  featured.title = "Proposal 12";
  const identity = featured.firstContractId;
  for (let minute = 0; minute < voteRequests.length; minute += 20) await fill();
  const kindIn = (names: Names) => names.kindOf({ identity, title: "Proposal 12" });
  expect(kindIn(names)).toBe("apps");
  const sent = sandbox.requests.filter(({ path }) => path.endsWith("/details")).length;
  now += HOUR;
  await restart();
  await fill();
  expect(kindIn(names)).toBe("apps");
  expect(sandbox.requests.filter(({ path }) => path.endsWith("/details")).length).toBe(sent);
});

it("recognizes former super validators, and counts no missed votes for them", async () => {
  const { superValidators, validators } = sandbox.ledger;
  const [gone, stays] = superValidators;
  const validator = validators.find(({ party }) => party === gone);
  if (!gone || !stays || !validator) throw new Error("Too few super validators.");
  validator.isSv = false;
  await fill();
  const voterOf = ({ id }: { readonly id: string }) => ({ name: id, aliases: [id] });
  expect([gone, stays].map((each) => names.isFormer(voterOf(each)))).toEqual([true, false]);
  const { data } = await readRecords(explorer, names, now);
  const record = data.voters.find(({ voter }) => voter.aliases.includes(gone.id));
  expect(record?.isFormer).toBe(true);
  expect(record?.ballots[0]?.accept).not.toBeNull();
  // The explorer may stop listing it.
  const place = validators.indexOf(validator);
  validators.splice(place, 1);
  now += HOUR;
  await fill();
  expect([gone, stays].map((each) => names.isFormer(voterOf(each)))).toEqual([true, false]);
  validators.splice(place, 0, validator);
  validator.isSv = true;
  now += HOUR;
  await fill();
  expect(names.isFormer(voterOf(gone))).toBe(false);
});

it("keeps a super validator that has not voted for long, until it is none any more", async () => {
  const { superValidators, validators } = sandbox.ledger;
  const [quiet] = superValidators;
  const validator = validators.find(({ party }) => party === quiet);
  if (!quiet || !validator) throw new Error("Too few super validators.");
  await fill();
  const count = directory.entries("voter").length;
  sandbox.mood = (answer, path) => {
    const { content, ...rest } = answer as { content?: readonly { readonly identifier?: string }[] };
    return path.endsWith("/votes")
      ? { ...rest, content: content?.filter(({ identifier }) => identifier !== quiet.id) }
      : answer;
  };
  now += 2 * HOUR;
  await fill();
  expect(directory.entry("voter", quiet.id)).toMatchObject({ name: quiet.name, active: null });
  expect(directory.entries("voter")).toHaveLength(count);
  validator.isSv = false;
  now += 2 * HOUR;
  await fill();
  expect(directory.entry("voter", quiet.id)).toBeUndefined();
  validator.isSv = true;
});

it("ignores an incomplete or empty list, and reads it again soon", async () => {
  sandbox.mood = (answer, path) => {
    const page = answer as { number?: number };
    if (path === "/v1/validators" && page.number === 2) throw new Error("This page fails");
    return path === "/v1/parties"
      ? { ...page, content: [], totalElements: 0, totalCount: 0, last: true }
      : answer;
  };
  await fill();
  expect(sizes()).toEqual([0, 0, 25]);
  expect(directory.readAt("validator")).toBeUndefined();
  sandbox.mood = undefined;
  now += HOUR / 4;
  await fill();
  expect(sizes()).toEqual([250, 300, 25]);

  sandbox.mood = (answer) => ({
    ...(answer as object),
    content: [],
    totalElements: 0,
    totalCount: 0,
    last: true,
  });
  now += 7 * HOUR;
  await fill();
  expect(sizes()).toEqual([250, 300, 25]);
});

it("uses the other parties if only the largest ones cannot be read", async () => {
  sandbox.injectFault({ kind: "status", status: 500 }, { path: /parties\/top/ });
  await fill();
  expect(sizes()[1]).toBeGreaterThan(250);
});

it("does not wait for the names of a list that the API key may not use", async () => {
  sandbox.injectFault({ kind: "status", status: 403 }, { path: /parties/ });
  for (let run = 0; run < 3; run += 1) {
    await fill().catch(() => {});
    now += HOUR;
  }
  expect(isLoading(directory, ["validator", "party", "proposal"])).toBe(false);
  expect(sizes()).toEqual([250, 0, 25]);
  // Nor does another process, which never reads the lists itself.
  const other = createDirectory();
  await createDirectoryLoader(other, state, log)();
  expect(isLoading(other, ["validator", "party", "proposal"])).toBe(false);
  sandbox.clearFaults();
  await fill();
  expect(sizes()).toEqual([250, 300, 25]);
});

it("offers the typed text before a list has been read", async () => {
  const links = newLinks();
  const intervals = () => ({ ms: HOUR });
  const offering = { directory, names: directory, links, renderer: createRenderer(links), intervals };
  const offered = (kind: "party" | "token") => toChoices([kind], "quartz", offering);
  expect(offered("party")).toEqual([{ name: expect.stringContaining("still loading"), value: "quartz" }]);
  await fill();
  expect(offered("token")).toEqual([{ name: expect.stringContaining("No match"), value: "quartz" }]);
});

it("offers two long names that differ only at their end with different labels", async () => {
  const links = newLinks();
  const offering = {
    directory,
    names: directory,
    links,
    renderer: createRenderer(links),
    intervals: () => ({ ms: HOUR }),
  };
  const name = `Default voting period ${"longer and ".repeat(8)}`;
  const own = { active: true, note: "In Progress, quorum by 2026-12-04" };
  const requests = ["50", "53"].map((end) => ({
    ...own,
    id: `id-${end}`,
    name: `${name}${end}`,
    requester: `SV ${end}`,
  }));
  await directory.replace("proposal", requests, Date.now());
  const labels = toChoices(["proposal"], "default", offering).map((each) => each.name);
  expect(new Set(labels).size).toBe(2);
  for (const label of labels) expect(label).toMatch(/… · SV 5[03], In Progress/);
});

it("loads a list that was read meanwhile, although this process has learnt something since", async () => {
  const entry = (id: string, version: string) => ({ id, name: id, active: true, version, seenAt: now });
  const store = (readAt: number, ...entries: readonly object[]) =>
    state.commit([
      state.open(nameLists).put("validator", { readAt, entries }),
      state.open(nameListTimes).put("validator", { readAt }),
    ]);
  const other = createDirectory(() => now);
  const load = createDirectoryLoader(other, state, log, () => now);
  await store(now, entry("a", "0.6.4"));
  await load();
  now += HOUR;
  // The lease holder's list is as old as its first page, and people's screens go on while it is read.
  other.add("validator", entry("a", "0.6.5"));
  await store(now - 20_000, entry("a", "0.6.4"), entry("b", "0.6.5"));
  await load();
  expect(other.entries("validator").map(({ id, version }) => [id, version])).toEqual([
    ["a", "0.6.5"],
    ["b", "0.6.5"],
  ]);
});
