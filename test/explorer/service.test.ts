import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { readPages } from "../../src/explorer/paging.js";
import { findVoteRequest } from "../../src/ledger/vote-requests.js";
import { type OpenService, openService, problemOf } from "./open-service.js";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

describe("the explorer service", () => {
  let sandbox: OpenService["sandbox"];
  let service: OpenService["service"];
  let serve: OpenService["serve"];
  let news: OpenService["news"];
  let time: number;
  const ana = { person: "ana" };
  const sent = () => sandbox.requests.length;
  const pass = (ms: number) => {
    time += ms;
  };

  beforeEach(async () => {
    time = Date.now();
    ({ sandbox, service, serve, news } = await openService(() => time));
  });
  afterEach(() => sandbox.close());

  it("sends one request for a thousand simultaneous callers", async () => {
    const all = await Promise.all(
      Array.from({ length: 1_000 }, (_, at) => service.for({ person: `p${at}` }).dashboard({})),
    );
    expect(sent()).toBe(1);
    expect(new Set(all.map((reading) => reading.data.totalSuperValidators))).toEqual(new Set([13]));
  });

  it("parses an answer again only if it has changed", async () => {
    const fetched: string[] = [];
    const newest = serve(undefined, (endpoint) => fetched.push(endpoint)).for("background", { maxAgeMs: 0 });
    const first = await newest.voteRequests({ page: 0, size: 100 });
    pass(1);
    const second = await newest.voteRequests({ page: 0, size: 100 });
    expect(sent()).toBe(2);
    expect(second.data).toBe(first.data);
    expect(fetched).toEqual(["voteRequests"]);

    sandbox.ledger.openVoteRequest({ title: "Something new" });
    pass(1);
    const third = await newest.voteRequests({ page: 0, size: 100 });
    expect(third.data.content[0]?.title).toBe("Something new");
    expect(fetched).toEqual(["voteRequests", "voteRequests"]);
  });

  it("answers from the cache while fresh, revalidates in the background while stale, and waits after that", async () => {
    const first = await service.for(ana).price({});
    pass(15 * SECOND);
    expect(await service.for(ana).price({})).toMatchObject({ stale: false, fetchedAt: first.fetchedAt });
    expect(sent()).toBe(1);

    pass(60 * SECOND);
    sandbox.injectFault({ kind: "slow", ms: 100 }, { times: 1 });
    const stale = await service.for(ana).price({});
    expect(stale).toMatchObject({ stale: true, fetchedAt: first.fetchedAt });
    await expect.poll(async () => (await service.for(ana).price({})).stale).toBe(false);
    expect(sent()).toBe(2);

    pass(10 * MINUTE);
    expect(await service.for(ana).price({})).toMatchObject({ stale: false });
    expect(sent()).toBe(3);
  });

  it("fetches again only if the cached answer is older than maxAgeMs", async () => {
    await service.for(ana).dashboard({});
    pass(9 * SECOND);
    await service.for(ana, { maxAgeMs: 10 * SECOND }).dashboard({});
    expect(sent()).toBe(1);
    pass(2 * SECOND);
    expect((await service.for(ana, { maxAgeMs: 10 * SECOND }).dashboard({})).stale).toBe(false);
    expect(sent()).toBe(2);
  });

  it("serves the last good answer for hours while the explorer fails, and does not cache failures", async () => {
    const good = await service.for(ana).price({});
    pass(5 * HOUR);
    sandbox.injectFault({ kind: "status", status: 500 });
    const held = await service.for(ana).price({});
    expect(held).toMatchObject({
      stale: true,
      problem: "failing",
      fetchedAt: good.fetchedAt,
      data: good.data,
    });
    expect(await problemOf(service.for(ana).dashboard({}))).toBe("failing");
    sandbox.clearFaults();
    await expect.poll(() => problemOf(service.for(ana).dashboard({}))).toBe("no error");
  });

  it("caches a 404 for a short time", async () => {
    expect(await problemOf(service.for(ana).party({ partyId: "nobody" }))).toBe("missing");
    pass(20 * SECOND);
    expect(await problemOf(service.for(ana).party({ partyId: "nobody" }))).toBe("missing");
    expect(sent()).toBe(1);
    pass(20 * SECOND);
    expect(await problemOf(service.for(ana).party({ partyId: "nobody" }))).toBe("missing");
    expect(sent()).toBe(2);
  });

  it.each([404, 410])("says that a thing is gone (%d) although an older answer has it", async (status) => {
    const [validator] = sandbox.ledger.validators;
    const party = { partyId: validator?.party.id ?? "" };
    await service.for(ana).party(party);
    sandbox.injectFault({ kind: "status", status }, { path: /parties/ });
    pass(HOUR);
    expect(await problemOf(service.for(ana).party(party))).toBe("missing");
  });

  it("counts equal rewards of a page, and a reward that two pages list once", async () => {
    const [validator] = sandbox.ledger.validators;
    const partyId = validator?.party.id ?? "";
    const row = { eventId: "1220:0", partyId, inputAppRewardAmount: 10, createdAt: time };
    const pages = [
      { content: [row, row], last: false },
      { content: [row, { ...row, createdAt: time - 1 }], last: true },
    ];
    sandbox.mood = (answer, path) => (path.includes("rewards") ? pages.shift() : answer);
    const load = (at: { page: number; size: number }) => service.for(ana).rewards({ partyId, ...at });
    const { data } = await readPages("rewards", load, () => false);
    expect(data.map(({ createdAt }) => createdAt)).toEqual([time, time, time - 1]);
  });

  it("reads JSON that begins with a byte-order mark", async () => {
    sandbox.injectFault({ kind: "body", body: '\ufeff{"price":"0.15"}' });
    expect(await problemOf(service.for(ana).price({}))).toBe("no error");
  });

  it("takes a vote request's tally from the newer of list and detail, and fetches each contract's detail once", async () => {
    const request = sandbox.ledger.openVoteRequest();
    const id = request.contractId;
    const show = async (options = {}) => (await findVoteRequest(service.for(ana, options), id)).data;
    const before = await show();
    const details = () => sandbox.requests.filter(({ path }) => path.endsWith("/details")).length;
    expect(details()).toBe(1);
    const cast = { yes: (before.yes ?? 0) + 1, no: before.no };

    // The watch polls the list every minute. The detail of a contract does not change.
    sandbox.ledger.castVote(request, true);
    pass(MINUTE);
    await service.for("background", { maxAgeMs: 0 }).voteRequests({ page: 0, size: 100 });
    expect(await show()).toMatchObject({ ...cast, reasonBody: before.reasonBody });
    expect(details()).toBe(2);
    pass(4 * MINUTE);
    await service.for("background", { maxAgeMs: 0 }).voteRequests({ page: 0, size: 100 });
    expect(await show()).toMatchObject(cast);
    expect(details()).toBe(2);

    // If the list fails, the detail is newer.
    pass(SECOND);
    sandbox.ledger.castVote(request, false);
    sandbox.injectFault({ kind: "status", status: 400 }, { path: /vote-requests$/ });
    expect(await show({ maxAgeMs: 0 })).toMatchObject({ yes: cast.yes, no: (cast.no ?? 0) + 1 });
  });

  it("lets a person wait a second for all pages of a screen together, if they are stale", async () => {
    const pages = async () => {
      const patient = service.for(ana, { isPatient: true });
      for (let page = 0; page < 8; page += 1) await patient.parties({ page, size: 100 });
    };
    await pages();
    pass(7 * MINUTE);
    sandbox.injectFault({ kind: "silence" });
    const startedAt = performance.now();
    await pages();
    // Eight seconds if each page waited for itself.
    expect(performance.now() - startedAt).toBeLessThan(6_000);
  });

  it("limits each person to twenty requests a minute", async () => {
    const pages = await Promise.all(
      Array.from({ length: 25 }, (_, page) => problemOf(service.for(ana).parties({ page, size: 100 }))),
    );
    expect(pages.filter((each) => each === "spent")).toHaveLength(5);
    expect(sent()).toBe(20);
    expect(await problemOf(service.for({ person: "ben" }).parties({ page: 30, size: 100 }))).toBe("no error");
    pass(5 * MINUTE);
    await Promise.all(Array.from({ length: 20 }, (_, page) => service.for(ana).events({ page, size: 100 })));
    // Over the limit, the cached answer is returned with the reason why it is stale.
    pass(1 * SECOND);
    const held = await service.for(ana, { maxAgeMs: 0 }).parties({ page: 0, size: 100 });
    expect(held).toMatchObject({ stale: true, problem: "spent" });
  });

  it("answers the other callers of a shared request if one person has no requests left", async () => {
    const ben = { person: "ben" };
    await Promise.all(Array.from({ length: 20 }, (_, page) => service.for(ana).parties({ page, size: 100 })));
    // Ana has no requests left and gets an error. Ben shares her request and gets an answer.
    expect(await problemOf(service.for(ana).dashboard({}))).toBe("spent");
    const shared = [service.for(ana).price({}), service.for(ben).price({})];
    expect(await Promise.all(shared.map(problemOf))).toEqual(["spent", "no error"]);
    expect(sent()).toBe(21);
  });

  it("retries only failures that may be temporary", async () => {
    sandbox.injectFault({ kind: "status", status: 503 }, { times: 2 });
    expect(await problemOf(service.for(ana).dashboard({}))).toBe("no error");
    expect(sent()).toBe(3);
    sandbox.injectFault({ kind: "status", status: 400 }, { times: 2 });
    expect(await problemOf(service.for(ana).newValidators({ size: 5 }))).toBe("rejected");
    expect(sent()).toBe(4);
  });

  it("waits for a short Retry-After, and fails at once for a long one", async () => {
    sandbox.injectFault({ kind: "status", status: 429, retryAfter: "1" }, { times: 1 });
    const started = performance.now();
    await service.for(ana).dashboard({});
    expect(performance.now() - started).toBeGreaterThan(900);
    sandbox.injectFault({ kind: "status", status: 429, retryAfter: "3600" }, { times: 1 });
    // Callers wait neither for the requested hour nor for the minute to which the pause is limited.
    expect(await problemOf(service.for(ana).price({}))).toBe("limited");
    expect(await problemOf(service.for({ person: "ben" }).newValidators({ size: 3 }))).toBe("limited");
    expect(sent()).toBe(3);
  });

  it.each([
    [503, "3600", "failing"],
    [500, "30", "failing"],
    [404, "3600", "missing"],
  ])(
    "pauses only the endpoint that answers %i with a Retry-After of %s s",
    async (status, retryAfter, problem) => {
      sandbox.injectFault({ kind: "status", status, retryAfter }, { path: /tokens/, times: 1 });
      const tokenOf = (number: number) => problemOf(service.for(ana).token({ contractId: `00${number}` }));
      expect(await tokenOf(1)).toBe(problem);
      expect(await problemOf(service.for(ana).dashboard({}))).toBe("no error");
      // An unknown contract is missing; a paused endpoint is not asked.
      expect(await tokenOf(2)).toBe(problem);
      const tokens = sandbox.requests.filter(({ path }) => path.includes("/tokens/"));
      expect(tokens).toHaveLength(problem === "missing" ? 2 : 1);
    },
  );

  it("keeps what it has if an answer is an error message with the status 200", async () => {
    const { tokens } = sandbox.ledger;
    const contractId = tokens[0]?.contractId ?? "";
    const before = await service.for(ana).token({ contractId });
    sandbox.injectFault({ kind: "body", body: '{"status":500,"error":"temporarily unavailable"}' });
    for (const answer of [
      service.for(ana).contract({ contractId }),
      service.for(ana).event({ eventId: "e" }),
      service.for(ana).updateDetails({ updateId: "u" }),
    ])
      expect(await problemOf(answer)).toBe("unreadable");
    pass(SECOND);
    const held = await service.for(ana, { maxAgeMs: 0 }).token({ contractId });
    expect(held).toMatchObject({ data: before.data, problem: "unreadable" });
    sandbox.clearFaults();
    sandbox.injectFault({ kind: "body", body: "{}" });
    expect(await problemOf(service.for(ana).updateDetails({ updateId: "u" }))).toBe("unreadable");
    sandbox.clearFaults();
    expect(await problemOf(service.for(ana).contract({ contractId }))).toBe("no error");
  });

  it("does not call a list complete that ignores the page and counts more rows", async () => {
    const first = await service.for(ana).events({ page: 0, size: 100 });
    const read = (total: number | null) =>
      readPages(
        "events",
        async () => ({ ...first, data: { ...first.data, totalElements: total, last: null } }),
        () => false,
      );
    expect((await read(null)).complete).toBe(true);
    expect((await read(first.data.content.length)).complete).toBe(true);
    expect((await read(250)).complete).toBe(false);
  });

  it("caches an answer that a person waited for, even if background work that does not cache began the request", async () => {
    const background = service.for("background", { keep: false }).dashboard({});
    await Promise.all([background, service.for(ana).dashboard({})]);
    const before = sent();
    await service.for({ person: "ben" }).dashboard({});
    expect([before, sent()]).toEqual([1, 1]);
  });

  it("takes a redirect of one endpoint for that endpoint's problem, while others answer", async () => {
    await service.for(ana).price({});
    sandbox.injectFault({ kind: "redirect", to: "http://127.0.0.1:9/" }, { path: /parties/ });
    const parties = service.for(ana).parties({ page: 0, size: 100, sortBy: "FIRST_SEEN_AT", orderBy: "ASC" });
    expect(await problemOf(parties)).toBe("withheld");
    expect(await problemOf(service.for(ana).events({ page: 0, size: 100 }))).toBe("no error");
    expect(news).toEqual(["withheld parties"]);
  });

  it.each([402, 403, 405, 451])("blames no id for an endpoint that answers %d", async (status) => {
    sandbox.injectFault({ kind: "status", status }, { path: /parties/ });
    const [validator] = sandbox.ledger.validators;
    expect(await problemOf(service.for(ana).party({ partyId: validator?.party.id ?? "" }))).toBe("withheld");
  });

  it.each([402, 403, 404, 410])(
    "treats one endpoint that answers %d as withheld, reports it once, and keeps using the others",
    async (status) => {
      sandbox.injectFault({ kind: "status", status }, { path: /vote-requests$/ });
      for (let times = 0; times < 3; times += 1) {
        expect(await problemOf(service.for(ana).voteRequests({ page: times, size: 100 }))).toBe("withheld");
        expect(await problemOf(service.for(ana).events({ page: times, size: 100 }))).toBe("no error");
      }
      expect(news).toEqual(["withheld voteRequests"]);
      sandbox.clearFaults();
      expect(await problemOf(service.for(ana).voteRequests({ page: 0, size: 100 }))).toBe("no error");
    },
  );

  it.each([403, 404])(
    "treats the key or the address as refused if several endpoints in a row answer %d",
    async (status) => {
      sandbox.injectFault({ kind: "status", status });
      expect(await problemOf(service.for(ana).price({}))).toBe("withheld");
      expect(await problemOf(service.for(ana).dashboard({}))).toBe("withheld");
      const before = sandbox.requests.length;
      expect(await problemOf(service.for(ana).events({ page: 0, size: 100 }))).toBe("refused");
      expect(sandbox.requests.length).toBe(before);
      expect(news).toContain("refused");
    },
  );

  it("does not treat the key as refused if the failing endpoints have never answered it", async () => {
    const parties = (page: number) =>
      problemOf(service.for(ana).parties({ page, size: 100, sortBy: "FIRST_SEEN_AT", orderBy: "ASC" }));
    const contracts = (page: number) => problemOf(service.for(ana).contracts({ page, size: 100 }));
    expect(await parties(0)).toBe("no error");
    sandbox.injectFault({ kind: "status", status: 403 }, { path: /events|updates|transfers/ });
    for (let page = 0; page < 2; page += 1) {
      expect(await problemOf(service.for(ana).events({ page, size: 100 }))).toBe("withheld");
      expect(await problemOf(service.for(ana).updates({ page, size: 100 }))).toBe("withheld");
      expect(await problemOf(service.for(ana).transfers({ page, size: 100 }))).toBe("withheld");
    }
    expect(await contracts(0)).toBe("no error");
    expect(news).not.toContain("refused");
    // Now the key itself is refused: endpoints that answered before are withheld one after another.
    sandbox.injectFault({ kind: "status", status: 403 });
    expect(await parties(1)).toBe("withheld");
    expect(await contracts(1)).toBe("withheld");
    expect(await problemOf(service.for(ana).price({}))).toBe("refused");
  });

  it.each([
    ["before any endpoint has answered", 0],
    ["although they answered before", 1],
  ])("does not treat the key as refused if two endpoints become restricted %s", async (_, firstPage) => {
    const ask = (page: number) => [
      problemOf(service.for(ana).parties({ page, size: 100, sortBy: "FIRST_SEEN_AT", orderBy: "ASC" })),
      problemOf(service.for(ana).contracts({ page, size: 100 })),
    ];
    for (let page = 0; page < firstPage; page += 1)
      expect(await Promise.all(ask(page))).toEqual(["no error", "no error"]);
    sandbox.injectFault({ kind: "status", status: 403 }, { path: /parties|contracts/ });
    for (let page = firstPage; page < firstPage + 3; page += 1) {
      expect(await Promise.all(ask(page))).toEqual(["withheld", "withheld"]);
      expect(await problemOf(service.for(ana).events({ page, size: 100 }))).toBe("no error");
    }
    expect(news).toEqual(["withheld parties", "withheld contracts"]);
  });

  it.each([
    ["before any endpoint has answered", false],
    ["although all answered before", true],
  ])("does not treat the key as refused if four endpoints become restricted %s", async (_, isKnown) => {
    const ask = async (page: number) => [
      await problemOf(service.for(ana).transfers({ page, size: 100 })),
      await problemOf(service.for(ana).contracts({ page, size: 100 })),
      await problemOf(service.for(ana).events({ page, size: 100 })),
    ];
    if (isKnown) {
      await service.for(ana).price({});
      expect(await ask(0)).toEqual(["no error", "no error", "no error"]);
    }
    sandbox.injectFault({ kind: "status", status: 403 }, { path: /transfers|contracts|events|dashboard/ });
    for (let page = 1; page < 4; page += 1) {
      expect(await ask(page)).toEqual(["withheld", "withheld", "withheld"]);
      expect(await problemOf(service.for(ana).dashboard({}))).toBe("withheld");
      expect(await problemOf(service.for(ana).validators({ page, size: 100 }))).toBe("no error");
    }
    expect(news).not.toContain("refused");
  });

  it("treats the address as wrong if everything is missing, although a thing was opened before", async () => {
    const client = service.for("background");
    const id = sandbox.ledger.validators[0]?.party.id ?? "";
    const readAll = async (page: number) => {
      for (const question of [
        () => client.dashboard({}),
        () => client.validators({ page, size: 100 }),
        () => client.voteRequests({ page, size: 100 }),
        () => client.transfers({ page, size: 100 }),
      ])
        await problemOf(question());
    };
    await client.party({ partyId: id });
    await readAll(0);
    sandbox.injectFault({ kind: "status", status: 404 });
    for (let page = 1; page < 4; page += 1) await readAll(page);
    expect(news).toContain("refused");
  });

  it("does not treat the key as refused if only an endpoint that answered long ago still answers", async () => {
    const askAll = async (page: number) => {
      const [given, client] = [{ page, size: 100 }, service.for("background")];
      const questions = [
        () => client.dashboard({}),
        () => client.validators(given),
        () => client.voteRequests(given),
        () => client.events(given),
        () => client.updates(given),
        () => client.transfers(given),
      ];
      for (const question of questions) await problemOf(question());
    };
    await service.for(ana).price({});
    await askAll(0);
    sandbox.injectFault({ kind: "status", status: 403 }, { path: /^(?!.*price)/ });
    for (let page = 1; page < 4; page += 1) await askAll(page);
    expect(news).not.toContain("refused");
    expect(await problemOf(service.for(ana).contracts({ page: 0, size: 100 }))).toBe("withheld");
    // Endpoints that are known to be restricted are not asked again each time.
    const before = sandbox.requests.length;
    await askAll(4);
    expect(sandbox.requests.length - before).toBeLessThanOrEqual(6);
  });

  it("does not treat the key as refused if one endpoint is withheld for several ids", async () => {
    sandbox.injectFault({ kind: "status", status: 403 }, { path: /details$/ });
    const [first, second] = sandbox.ledger.voteRequests.map(({ firstContractId }) => firstContractId);
    for (const id of [first, second])
      expect(await problemOf(service.for(ana).voteRequest({ id: id ?? "" }))).toBe("withheld");
    expect(await problemOf(service.for(ana).price({}))).toBe("no error");
    expect(news).toEqual(["withheld voteRequest"]);
  });

  it("treats a 404 for an id as missing, however often it occurs", async () => {
    for (const partyId of ["a::1220", "b::1220", "c::1220"])
      expect(await problemOf(service.for(ana).party({ partyId }))).toBe("missing");
    expect(await problemOf(service.for(ana).token({ contractId: "00" }))).toBe("missing");
    expect(news).toEqual([]);
  });

  it("stops sending requests with a refused key, and notifies the operator once", async () => {
    await service.for(ana).price({});
    sandbox.accept("another-key");
    const before = sent();
    for (let at = 0; at < 20; at += 1)
      expect(await problemOf(service.for(ana).parties({ page: at, size: 100 }))).toBe("refused");
    expect(sent() - before).toBe(1);
    expect(news).toEqual(["refused"]);
    pass(HOUR);
    expect(await service.for({ person: "ben" }).price({})).toMatchObject({ stale: true, problem: "refused" });
  });

  it("asks an explorer that was down again in time, although the clock was set back", async () => {
    const ask = (page: number) => problemOf(service.for("background").parties({ page, size: 100 }));
    vi.useFakeTimers({ toFake: ["Date", "performance"] });
    try {
      sandbox.injectFault({ kind: "reset" });
      for (const page of [0, 1, 2]) await ask(page);
      expect(news).toEqual(["down"]);
      sandbox.clearFaults();
      vi.setSystemTime(Date.now() - HOUR);
      expect(await ask(3)).toBe("failing");
      vi.advanceTimersByTime(5 * SECOND);
      expect(await ask(4)).toBe("no error");
    } finally {
      vi.useRealTimers();
    }
  });

  it("recovers if the endpoint that is asked first, and again, is the only one that redirects", async () => {
    vi.useFakeTimers({ toFake: ["Date", "performance"] });
    try {
      const fresh = service.for("background", { maxAgeMs: 0 });
      sandbox.injectFault({ kind: "redirect", to: "http://127.0.0.1:9/" }, { path: /get-price/ });
      expect(await problemOf(fresh.price({}))).toBe("refused");
      for (let times = 0; times < 10 && !news.includes("back"); times += 1) {
        vi.advanceTimersByTime(5 * SECOND);
        await problemOf(fresh.price({}));
      }
      expect(await problemOf(fresh.price({}))).toBe("withheld");
      expect(await problemOf(fresh.dashboard({}))).toBe("no error");
    } finally {
      vi.useRealTimers();
    }
  });

  it("stays refused while everything that answers redirects", async () => {
    vi.useFakeTimers({ toFake: ["Date", "performance"] });
    try {
      const fresh = service.for("background", { maxAgeMs: 0 });
      sandbox.injectFault({ kind: "status", status: 502 }, { path: /dashboard/ });
      sandbox.injectFault({ kind: "redirect", to: "http://127.0.0.1:9/" });
      for (let times = 0; times < 12; times += 1) {
        expect(await problemOf(fresh.price({}))).toBe("refused");
        vi.advanceTimersByTime(5 * SECOND);
      }
      expect(news).toEqual(["refused"]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("notifies once of a refused key also if the explorer had been down before", async () => {
    vi.useFakeTimers({ toFake: ["Date", "performance"] });
    try {
      const fresh = service.for("background", { maxAgeMs: 0 });
      const ask = async () => {
        for (const page of [0, 1]) await problemOf(fresh.parties({ page, size: 100 }));
        await problemOf(fresh.price({}));
        vi.advanceTimersByTime(5 * SECOND);
      };
      sandbox.injectFault({ kind: "reset" });
      for (let times = 0; times < 30; times += 1) await ask();
      sandbox.clearFaults();
      sandbox.accept("another-key");
      for (let times = 0; times < 40; times += 1) await ask();
      expect(news).toEqual(["down", "back", "refused"]);
    } finally {
      vi.useRealTimers();
    }
  });

  it.each([
    [503, "down"],
    [403, "refused"],
  ])("recovers from %d although the endpoint that people ask for keeps failing", async (status, problem) => {
    vi.useFakeTimers({ toFake: ["Date", "performance"] });
    try {
      const fresh = service.for("background", { maxAgeMs: 0 });
      const askAll = async () => {
        await problemOf(fresh.dashboard({}));
        await problemOf(fresh.validators({ page: 0, size: 1 }));
        await problemOf(fresh.voteRequests({ page: 0, size: 1 }));
        await problemOf(fresh.price({}));
        vi.advanceTimersByTime(SECOND);
      };
      sandbox.injectFault({ kind: "status", status });
      for (let times = 0; times < 40 && !news.includes(problem); times += 1) await askAll();
      sandbox.clearFaults();
      sandbox.injectFault({ kind: "status", status }, { path: /get-price/ });
      for (let times = 0; times < 40 && !news.includes("back"); times += 1) {
        await problemOf(fresh.price({}));
        vi.advanceTimersByTime(5 * SECOND);
      }
      expect(await problemOf(fresh.parties({ page: 0, size: 100 }))).toBe("no error");
      expect(await problemOf(fresh.price({}))).not.toBe("no error");
    } finally {
      vi.useRealTimers();
    }
  });

  it.each([
    ["HTML", { kind: "html" }, "unreadable"],
    ["an empty body", { kind: "empty" }, "unreadable"],
    ["another type", { kind: "body", body: '{"content":"none"}' }, "unreadable"],
    ["a gzip bomb", { kind: "bomb" }, "unreadable"],
    ["11 MB", { kind: "huge" }, "unreadable"],
    ["a redirect", { kind: "redirect", to: "http://127.0.0.1:9/" }, "refused"],
  ] as const)("throws a typed error for %s, and does not retry", async (_, fault, problem) => {
    sandbox.injectFault(fault);
    expect(await problemOf(service.for(ana).parties({ page: 0, size: 100 }))).toBe(problem);
    expect(sent()).toBe(1);
  });

  it("drops unreadable and duplicate rows, and keeps the rest", async () => {
    sandbox.mood = (answer) => {
      const page = answer as { content: unknown[] };
      return { ...page, content: [null, 7, page.content[0], page.content[0], ...page.content] };
    };
    const { data } = await service.for(ana).validators({ page: 0, size: 100 });
    expect(data.content).toHaveLength(45);
    expect(data).toMatchObject({ sent: 49, unreadable: 2 });
  });
});
