import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  type Mood,
  Refused,
  type SandboxExplorer,
  startSandboxExplorer,
} from "../../sandbox/explorer/server.js";
import { differencesIn } from "../../src/explorer/differences.js";
import { checkEndpoints, reportOf, tablesOf } from "../../tools/survey/index.js";
import { SEEN_IN } from "../../tools/survey/meaning.js";
import { explorerConfigOf } from "../harness.js";

/** Ledger size with more parties than the explorer's pages can reach */
const SIZE = {
  validators: 130,
  parties: 5_250,
  voteRequests: 30,
  superValidators: 13,
  updates: 150,
  tokens: 3,
};

type Page = { content: Record<string, unknown>[] } & Record<string, unknown>;
type Row = Record<string, unknown>;

const V1 = "/v1";
const isPage = (answer: unknown): answer is Page =>
  typeof answer === "object" && answer !== null && "content" in answer;
const eachRow = (answer: unknown, change: (row: Row) => Row): unknown =>
  isPage(answer) ? { ...answer, content: answer.content.map(change) } : change(answer as Row);

/** A way in which the sandbox deviates from the documented API */
interface Lie {
  readonly about: string;
  readonly mood: Mood;
  /** Endpoint path and words that the report's line must contain */
  readonly said: readonly [endpoint: string, ...words: string[]];
}

const at =
  (pattern: string, change: (answer: never, query: Readonly<Record<string, string>>) => unknown): Mood =>
  (answer, path, query) =>
    path === V1 + pattern ? change(answer as never, query) : answer;

const refuse = (status: number): never => {
  throw new Refused(status);
};

const LIES: readonly Lie[] = [
  {
    about: "tallies that contradict the dashboard",
    mood: at("/governance/vote-requests", (answer) =>
      eachRow(answer, (row) => ({ ...row, abstainCount: 0 })),
    ),
    said: ["governance/vote-requests", "the dashboard counts 13 super validators"],
  },
  {
    about: "the details of another vote request",
    mood: at("/governance/vote-requests/:id/details", (answer: Row) => ({
      ...answer,
      contractId: `00${"e".repeat(130)}`,
      trackingCid: `00${"e".repeat(130)}`,
    })),
    said: ["governance/vote-requests/{id}/details", "answers with the id of something else"],
  },
  {
    about: "a new field",
    mood: at("/dashboard", (answer: Row) => ({ ...answer, totalBurned: 12 })),
    said: ["dashboard", "$.totalBurned", "new field (integer)"],
  },
  {
    about: "a missing field",
    mood: at("/market/get-price", ({ updateTimestamp: _, ...rest }: Row) => rest),
    said: ["market/get-price", "$.updateTimestamp", "missing"],
  },
  {
    about: "times as text",
    mood: at("/validators", (answer) =>
      eachRow(answer, (row) => ({ ...row, lastActiveAt: new Date(Number(row.lastActiveAt)).toISOString() })),
    ),
    said: ["validators", "$.content[*].lastActiveAt", "string, documented as integer"],
  },
  {
    about: "times in seconds",
    mood: at("/transfers", (answer) =>
      eachRow(answer, (row) => ({ ...row, createdAt: Math.floor(Number(row.createdAt) / 1_000) })),
    ),
    said: ["transfers", "$.content[*].createdAt", "seconds, expected milliseconds"],
  },
  {
    about: "rewards that ignore `page`",
    mood: (answer, path, query) =>
      path === `${V1}/rewards/:id` && query.page !== "0" && isPage(answer)
        ? { ...answer, content: rewardsOf() }
        : answer,
    said: ["rewards/{id}", "the first rows come whatever page"],
  },
  {
    about: "votes that ignore `size`",
    mood: at("/governance/vote-requests/votes", (answer: Page, query) =>
      query.size === "5" ? { ...answer, content: votesOf(20, 20) } : answer,
    ),
    said: ["governance/vote-requests/votes", "size is not honoured: 20 rows"],
  },
  {
    about: "details by the tracking id only",
    mood: (answer, path, _, { id }) =>
      path === `${V1}/governance/vote-requests/:id/details` &&
      explorer.ledger.voteRequests.some((each) => each.contractId === id)
        ? refuse(404)
        : answer,
    said: ["governance/vote-requests/{id}/details", "by contract id: 404; by tracking id: answered"],
  },
  {
    about: "the oldest rows first",
    mood: at("/events", (answer: Page) => ({ ...answer, content: answer.content.toReversed() })),
    said: ["events", "DESC: the oldest or smallest first"],
  },
  {
    about: "two different totals",
    mood: at("/contracts", (answer: Page) => ({ ...answer, totalCount: 99_999 })),
    said: ["contracts", "$.totalCount", "99999, where totalElements is"],
  },
  {
    about: "fewer rows than the total",
    mood: at("/updates", (answer: Page) => ({
      ...answer,
      totalElements: 900,
      totalCount: 900,
      totalPages: 9,
    })),
    said: ["updates", "$.totalElements", "900, but the rows end at"],
  },
  {
    about: "fewer than 5,100 rows",
    mood: at("/parties", (answer: Page, query) => (query.page === "50" ? refuse(400) : answer)),
    said: ["parties", "page 50 of 5250 rows has none (400)"],
  },
  {
    about: "a vote request without votes",
    mood: at("/governance/vote-requests/:id/details", (answer: Row) => ({
      ...answer,
      rawPayload: { reason: "" },
    })),
    said: ["governance/vote-requests/{id}/details", "$.rawPayload.votes", "holds no votes"],
  },
  {
    about: "an unknown status",
    mood: at("/governance/vote-requests", (answer) =>
      eachRow(answer, (row) => (row.status === "In Progress" ? { ...row, status: "Balloting" } : row)),
    ),
    said: ["governance/vote-requests", "$.content[*].status", "unknown word “Balloting”"],
  },
  {
    about: "an unknown action",
    mood: at("/governance/vote-requests/:id/details", (answer: Row) => ({
      ...answer,
      actionConfig: { tag: "ARC_DsoRules", value: { dsoAction: { tag: "SRARC_PaintItBlack", value: {} } } },
    })),
    said: ["governance/vote-requests/{id}/details", "$.actionConfig", "unknown word “SRARC_PaintItBlack”"],
  },
  {
    about: "an unknown transfer type",
    mood: at("/transfers", (answer) => eachRow(answer, (row) => ({ ...row, transferType: "BURN_MINT" }))),
    said: ["transfers", "$.content[*].transferType", "unknown word “BURN_MINT”"],
  },
  {
    about: "an unknown event type",
    mood: at("/events/:id", (answer: Row) => ({ ...answer, eventType: "reassigned" })),
    said: ["events/{id}", "$.eventType", "unknown word “reassigned”"],
  },
  {
    about: "a page where an array is documented",
    mood: at("/validators/new", (answer: Row[]) => ({ content: answer })),
    said: ["validators/new", "$", "object, documented as array"],
  },
  {
    about: "a boolean as text",
    mood: at("/validators/:id/exist", (answer: boolean) => String(answer)),
    said: ["validators/{id}/exist", "$", "string, documented as boolean"],
  },
  {
    about: "the corrected spelling of a misspelled field",
    mood: at("/tokens/:id", ({ registars, ...rest }: Row) => ({ ...rest, registrars: registars })),
    said: ["tokens/{id}", "$.registars", "missing"],
  },
  {
    about: "balances as numbers",
    mood: at("/parties/:id", (answer: Row) => {
      const holdings = answer.holdingsSummaryResponse as { summaries: Row[] };
      const summaries = holdings.summaries.map((each) => ({ ...each, total_coin_holdings: 12.5 }));
      return { ...answer, holdingsSummaryResponse: { ...holdings, summaries } };
    }),
    said: [
      "parties/{id}",
      "$.holdingsSummaryResponse.summaries[*].total_coin_holdings",
      "number, documented as string",
    ],
  },
  {
    about: "arguments as JSON",
    mood: at("/contracts/:id", (answer: Row) => ({ ...answer, args: { a: 1 } })),
    said: ["contracts/{id}", "$.args", "object, documented as string"],
  },
  {
    about: "a withheld endpoint",
    mood: at("/updates/:id/raw-details", () => refuse(403)),
    said: ["updates/{id}/raw-details", "no answer: withheld from this key (403)"],
  },
  {
    about: "times before the ledger existed",
    mood: at("/parties/top", (answer) => eachRow(answer, (row) => ({ ...row, firstSeen: -5 }))),
    said: ["parties/top", "$.content[*].firstSeen", "no time between 2020 and 2100"],
  },
  {
    about: "votes that belong to no listed request",
    mood: at("/governance/vote-requests/votes", (answer) =>
      eachRow(answer, (row) => ({ ...row, trackingCid: `00${"f".repeat(130)}` })),
    ),
    said: ["governance/vote-requests/votes", "no vote belongs to a listed vote request"],
  },
];

let explorer: SandboxExplorer;
/** Unchanged rows from the sandbox */
let honestRewards: Row[] = [];
let honestVotes: Row[] = [];
let firstPage: Row[] = [];
const rewardsOf = () => honestRewards.slice(0, 5);
const votesOf = (from: number, count: number) => honestVotes.slice(from, from + count);

const linesOf = async (): Promise<string[]> => {
  const check = await checkEndpoints(explorerConfigOf(explorer), {
    tokenId: tokenId(),
    onProgress: () => {},
  });
  return [...tablesOf(check)];
};
const tokenId = () => explorer.ledger.tokens[0]?.contractId;

describe("the doctor's endpoint check", () => {
  beforeAll(async () => {
    explorer = await startSandboxExplorer({ size: SIZE, lively: false });
    explorer.mood = (answer, path, query) => {
      if (path === `${V1}/rewards/:id` && query.page === "0" && isPage(answer))
        honestRewards = answer.content;
      if (path === `${V1}/governance/vote-requests/votes` && isPage(answer) && answer.content.length > 40)
        honestVotes = answer.content;
      return answer;
    };
    await checkEndpoints(explorerConfigOf(explorer), { tokenId: tokenId(), onProgress: () => {} });
    explorer.mood = undefined;
    explorer.requests.length = 0;
    return () => explorer.close();
  });
  afterEach(() => {
    explorer.mood = undefined;
    explorer.clearFaults();
    explorer.requests.length = 0;
  });

  it("finds no difference if all 22 endpoints answer as documented, with at most 45 requests", async () => {
    const sent: number[] = [];
    const check = await checkEndpoints(explorerConfigOf(explorer), {
      tokenId: tokenId(),
      onProgress: (count) => sent.push(count),
    });
    expect(check.observations.filter(({ result }) => result !== "pass")).toEqual([]);
    expect(new Set(check.exchanges.map(({ endpoint }) => endpoint)).size).toBe(22);
    expect(explorer.requests.length).toBeLessThanOrEqual(45);
    expect(sent).toEqual(explorer.requests.map((_, index) => index + 1));
    const facts = check.observations.map(({ endpoint, detail }) => `${endpoint}: ${detail}`);
    for (const fact of [
      "events: DESC: the newest or largest first",
      "rewards: it pages",
      "voteRequest: by contract id: answered; by tracking id: answered",
      "validatorExists: for an id that names nothing: false",
      "parties: 5,100 rows can be reached, and no more",
    ])
      expect(facts.join("\n")).toContain(fact);
  });

  it.each(LIES)("reports $about", async ({ mood, said: [endpoint, ...words] }) => {
    explorer.mood = mood;
    const lines = await linesOf();
    const line = lines.find((each) => words.every((word) => each.includes(word)));
    expect(line, lines.join("\n")).toMatch(new RegExp(`^.\\s+${endpoint.replace(/[{}]/g, "\\$&")}\\s`));
  });

  it("reports all differences at once", async () => {
    const lies = LIES.filter(({ about }) => !about.startsWith("details by"));
    explorer.mood = (answer, ...rest) =>
      lies.reduce<unknown>((told, { mood }) => mood(told, ...rest), answer);
    const lines = await linesOf();
    const unnamed = lies.filter(
      ({ said: [, ...words] }) => !lines.some((line) => words.every((word) => line.includes(word))),
    );
    expect(unnamed.map(({ about }) => about)).toEqual([]);
    expect(lies.length).toBeGreaterThanOrEqual(20);
  });

  it("continues after a 429, and names endpoints without a readable answer", async () => {
    explorer.injectFault({ kind: "status", status: 429, retryAfter: "0" }, { times: 1 });
    explorer.injectFault({ kind: "html" }, { path: /dashboard$/ });
    const lines = (await linesOf()).join("\n");
    expect(lines).toMatch(/✖ {2}dashboard .*no answer: unreadable/);
    expect(lines).not.toContain("429");
  });

  it("writes a report without ids, names or the key", async () => {
    const check = await checkEndpoints(explorerConfigOf(explorer), {
      tokenId: tokenId(),
      onProgress: () => {},
    });
    const report = reportOf(check);
    const { ledger } = explorer;
    const secrets = [
      explorer.key,
      new URL(explorer.url).host,
      ...ledger.parties.flatMap(({ id, name }) => [id, id.split("::")[1] ?? id, ...(name ? [name] : [])]),
      ...ledger.voteRequests.flatMap(({ contractId, title, reasonBody }) => [contractId, title, reasonBody]),
      ...ledger.updates.map(({ updateId }) => updateId),
      ...ledger.tokens.flatMap(({ contractId, name }) => [contractId, name]),
    ].filter((each) => each !== null && each.length > 3 && !/ARC_/.test(each));
    expect(secrets.filter((each) => each !== null && report.includes(each))).toEqual([]);
    const parsed = JSON.parse(report) as {
      endpoints: { endpoint: string; requests: { answer: unknown }[] }[];
    };
    expect(parsed.endpoints).toHaveLength(22);
    // Words that identify a field or a type stay in the report.
    for (const kept of ["SRARC_", "lastActiveAt", "TRANSFER", "In Progress", "rawPayload"])
      expect(report).toContain(kept);
  });

  it("hides values that look like words or times but are names", async () => {
    const names = ["COINBASE", "2026-01-01 Pay Alice Smith", "1.2.3-bob@corp.io", "johnDoe", "Zed & Sons"];
    const [upper, dated, versioned, key, plain] = names;
    explorer.mood = (answer, path) => {
      if (path === `${V1}/validators`)
        return eachRow(answer, (row) => ({
          ...row,
          validatorName: upper,
          sponsorName: dated,
          version: versioned,
        }));
      if (path === `${V1}/governance/vote-requests/:id/details`)
        return {
          ...(answer as Row),
          actionConfig: { tag: plain, value: { [key ?? ""]: upper, status: plain } },
        };
      if (path === `${V1}/contracts/:id`)
        return { ...(answer as Row), args: JSON.stringify({ tag: upper, [key ?? ""]: dated }) };
      return answer;
    };
    const check = await checkEndpoints(explorerConfigOf(explorer), {
      tokenId: tokenId(),
      onProgress: () => {},
    });
    const report = reportOf(check);
    expect(names.filter((name) => report.includes(name))).toEqual([]);
    expect(report).toContain("unknown word “text-");
  });

  it("does not report an untested endpoint as conforming", async () => {
    explorer.mood = at("/contracts", () => refuse(403));
    const lines = (await linesOf()).join("\n");
    expect(lines).toMatch(/! {2}contracts\/\{id\} .*not asked: no id of one could be read/);
    expect(lines).toMatch(/✖ {2}contracts .*withheld from this key/);
  });

  it.each([
    ["a reset connection", { kind: "reset" }],
    ["500", { kind: "status", status: 500 }],
    ["HTML", { kind: "html" }],
  ] as const)("stops if no endpoint answers: %s", async (_, fault) => {
    explorer.injectFault(fault);
    const lines = (await linesOf()).join("\n");
    expect(explorer.requests.length).toBeLessThanOrEqual(4);
    expect(lines).toMatch(/! {2}validators .*not asked: nothing was answered so far/);
  });

  it("draws no conclusion about paging from a 429", async () => {
    explorer.mood = (answer, _, query) => (query.size === "5" ? refuse(429) : answer);
    const lines = (await linesOf()).join("\n");
    expect(lines).not.toContain("Only the first page is shown");
  });

  it.each([
    [
      "the first rows for every page",
      at("/parties", (answer: Page, { page }) => {
        if (page === "0") firstPage = answer.content;
        return { ...answer, content: firstPage };
      }),
      "the first rows come whatever page is asked for",
    ],
    [
      "pages of twenty",
      at("/parties", (answer: Page) => ({ ...answer, content: answer.content.slice(0, 20) })),
      "at most 20 rows a page, where 100 were asked for",
    ],
  ])("reports a long list that returns %s", async (_, mood, words) => {
    explorer.mood = mood;
    const lines = (await linesOf()).join("\n");
    expect(lines).toMatch(new RegExp(`✖ {2}parties .*${words}`));
    expect(lines).not.toMatch(/ parties {2}.*5,100 rows can be reached/);
  });

  it("hides names in map keys and in undocumented answers, and phone numbers", async () => {
    const party = "kestrel-custody-1111::1220fc01c980584b3899958b170c408fba3f7";
    explorer.mood = (answer, path) => {
      if (path === `${V1}/parties/:id/types`) return { [party]: { isAccount: true }, AliceCooper: true };
      if (path === `${V1}/validators/:id/exist`) return { name: "Bob Marley" };
      if (path === `${V1}/validators/:id`) return { ...(answer as Row), contactPoint: "15551234567" };
      return answer;
    };
    const check = await checkEndpoints(explorerConfigOf(explorer), {
      tokenId: tokenId(),
      onProgress: () => {},
    });
    const report = reportOf(check);
    expect(
      [party, "AliceCooper", "Bob Marley", "15551234567"].filter((name) => report.includes(name)),
    ).toEqual([]);
  });

  it("does not count an untested endpoint as a difference", async () => {
    const withoutToken = async () => {
      const check = await checkEndpoints(explorerConfigOf(explorer), {
        tokenId: undefined,
        onProgress: () => {},
      });
      return [...tablesOf(check)].join("\n");
    };
    explorer.mood = at("/contracts", (answer: Page) => ({ ...answer, content: [] }));
    const lines = await withoutToken();
    expect(lines).toMatch(/! {2}tokens\/.*not asked: no token is among the newest contracts/);
    expect(lines.split("\n\n")[1]).not.toContain("not asked");
  });

  it("reports an empty first page of a list with many rows", async () => {
    explorer.mood = at("/transfers", (answer: Page) => ({ ...answer, content: [], totalElements: 3_000 }));
    const lines = (await linesOf()).join("\n");
    expect(lines).toMatch(
      /✖ {2}transfers .*\$\.content +empty on the first page, though \d+ rows are counted/,
    );
  });

  it("draws no conclusion about the last page of a list that ignores `page`", async () => {
    explorer.mood = (answer, path, query) =>
      path === `${V1}/rewards/:id` && query.page !== "0" && isPage(answer)
        ? { ...answer, content: rewardsOf(), last: false }
        : answer;
    const lines = (await linesOf()).join("\n");
    expect(lines).toMatch(/rewards\/\{id\} .*the first rows come whatever page/);
    expect(lines).not.toMatch(/rewards\/\{id\} .*(\$\.last|\$\.totalElements)/);
  });

  it("stops if the key is refused", async () => {
    explorer.accept("another-key");
    const lines = (await linesOf()).join("\n");
    explorer.accept(explorer.key);
    expect(explorer.requests).toHaveLength(1);
    expect(lines).toMatch(/✖ {2}dashboard .*no answer: refused \(401\)/);
    expect(lines).toMatch(/! {2}validators .*not asked: the key is refused/);
  });

  it("counts the received rows if an endpoint ignores `size`", async () => {
    explorer.mood = at("/governance/vote-requests/votes", (answer: Page, { page }) => {
      const total = honestVotes.length;
      const content = votesOf(Number(page) * 20, 20);
      const last = (Number(page) + 1) * 20 >= total;
      return {
        ...answer,
        content,
        totalElements: total,
        totalCount: total,
        totalPages: Math.ceil(total / 20),
        last,
      };
    });
    const lines = (await linesOf()).filter((line) => line.includes("governance/vote-requests/votes"));
    expect(lines.join("\n")).toContain("size is not honoured: 20 rows for five");
    expect(lines.join("\n")).not.toContain("but the rows end at");
  });

  it("describes the use of endpoints like docs/explorer-api.md", () => {
    const documents = readFileSync(join(import.meta.dirname, "../../docs/explorer-api.md"), "utf8");
    for (const words of Object.values(SEEN_IN)) expect(documents).toContain(` | ${words} |`);
  });
});

describe("differences in an answer", () => {
  it.each([
    ["a documented answer", { price: 0.15, change24h: 1, updateTimestamp: 1_760_000_000_000 }, []],
    ["no price", { price: null, change24h: null, updateTimestamp: null }, ["empty $.price"]],
    ["null", null, ["type $"]],
    ["a zero for a time", { price: 1, change24h: 1, updateTimestamp: 0 }, []],
    [
      "microseconds",
      { price: 1, change24h: 1, updateTimestamp: "1760000000000000" },
      ["unit $.updateTimestamp"],
    ],
    ["a long number read as text", { price: "0.1234567890123456789", change24h: 1, updateTimestamp: 0 }, []],
    ["a number as text", { price: "0.15", change24h: 1, updateTimestamp: 0 }, ["type $.price"]],
    ["an array", [], ["type $"]],
    ["text", "no", ["type $"]],
  ])("compares %s with the documentation", (_, json, expected) => {
    expect(differencesIn("price", json).map(({ kind, path }) => `${kind} ${path}`)).toEqual(expected);
  });

  it("reports an essential field that is empty in ten rows or more", () => {
    const row = {
      contractId: "00ab",
      trackingCid: null,
      status: "",
      voteBefore: 0,
      yesCount: null,
      reasonUrl: null,
    };
    const of = (count: number) =>
      differencesIn("voteRequests", { content: Array.from({ length: count }, () => row) })
        .filter(({ kind }) => kind === "empty")
        .map(({ path }) => path.replace("$.content[*].", ""));
    expect(of(10)).toEqual(expect.arrayContaining(["trackingCid", "status", "voteBefore", "yesCount"]));
    expect(of(10)).toHaveLength(4);
    expect(of(9)).toEqual([]);
  });

  it.each([
    ["arrays", [["00ab", "In Progress"]], "array"],
    ["nulls", [null, null], "null"],
    ["one text among objects", [{ contractId: "00ab" }, "no"], "string"],
  ])("reports rows that are not objects: %s", (_, content, found) => {
    expect(differencesIn("voteRequests", { content })).toContainEqual(
      expect.objectContaining({ kind: "type", path: "$.content[*]", found, expected: "object" }),
    );
  });

  it("reports a list without rows, unless it says that it is empty", () => {
    expect(differencesIn("voteRequests", { content: null, empty: false })).toContainEqual(
      expect.objectContaining({ kind: "type", path: "$.content", found: "null", isRead: false }),
    );
    expect(
      differencesIn("voteRequests", { content: null, empty: true, totalElements: 0 }),
    ).not.toContainEqual(expect.objectContaining({ kind: "type", path: "$.content" }));
  });

  it("counts a field as missing only if no row has it", () => {
    const row = { eventId: "1220:0", partyId: "a", createdAt: 1_760_000_000_000 };
    const amounts = { inputAppRewardAmount: 1, inputValidatorRewardAmount: 2, inputSvRewardAmount: 3 };
    const missing = differencesIn("rewards", { content: [row, { ...row, ...amounts }] })
      .filter(({ path }) => path.startsWith("$.content[*]"))
      .map(({ path }) => path);
    expect(missing).toEqual([]);
  });

  it("counts the objects that lack a field", () => {
    const rows = Array.from({ length: 12 }, (_, index) => ({ eventId: `1220:${index}`, partyId: "a" }));
    const of = (content: object[]) =>
      differencesIn("rewards", { content }).find(({ path }) => path === "$.content[*].createdAt");
    expect(of(rows)).toMatchObject({ kind: "missing", lackedBy: 12 });
    expect(of([])).toBeUndefined();
  });

  it("reports at most twenty new fields", () => {
    const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`f${index}`, index]));
    expect(differencesIn("price", many).filter(({ kind }) => kind === "new")).toHaveLength(20);
  });
});
