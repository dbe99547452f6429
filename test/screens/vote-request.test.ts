import { expect, it } from "vitest";
import { createDirectory } from "../../src/directory/directory.js";
import { createNames } from "../../src/directory/names.js";
import { createRenderer } from "../../src/discord/message.js";
import { ExplorerError } from "../../src/explorer/errors.js";
import { createExplorerService, type Explorer } from "../../src/explorer/service.js";
import { toAction } from "../../src/ledger/actions.js";
import { fromExplorer } from "../../src/ledger/vote-requests.js";
import { rawData } from "../../src/screens/vote-explained.js";
import { shortVote } from "../../src/screens/vote-parts.js";
import { voteRequestLines } from "../../src/screens/vote-request.js";
import { createCache } from "../../src/storage/cache.js";
import { newLinks, newState, quiet } from "../harness.js";
import { NOW, row } from "../spec/vote-requests.js";

const DAY = 86_400_000;
const names = createNames({
  directory: createDirectory(),
  // This test does not read from the explorer.
  explorer: {} as Explorer,
  state: newState(),
  log: quiet,
});

it.each([
  ["short", "Yes.", "https://example.org/a", "Read more at example.org"],
  [
    "a list of stars",
    "*\n".repeat(2_000),
    `https://example.org/${"a".repeat(2_000)}`,
    "more. The rest is elsewhere.",
  ],
  [
    "very long",
    "long ".repeat(2_000),
    `https://example.org/${"b".repeat(2_000)}`,
    "more. The rest is elsewhere.",
  ],
])(
  "a vote request shows its tally and its dates below a reason that is %s",
  (_, reasonBody, reasonUrl, end) => {
    const now = Date.UTC(2026, 9, 5);
    const facts = Object.fromEntries(
      Array.from({ length: 8 }, (_each, at) => [`field${at}${"_".repeat(200)}`, "**long** ".repeat(200)]),
    );
    const request = {
      ...fromExplorer(row({ voteBefore: now + DAY, targetEffectiveAt: now + 2 * DAY }), null),
      action: toAction({ tag: "SRARC_Unheard", value: reasonBody === "Yes." ? {} : facts }),
      detail: "read" as const,
      reasonBody,
      reasonUrl,
    };
    const body = voteRequestLines(request, [], { needed: 9, names, now, rest: "The rest is elsewhere." });
    const message = createRenderer(newLinks()).message({ tone: "neutral", body, readings: [] });
    const { description = "" } = message.embeds[0] ?? {};
    expect(description).toMatch(/not voted yet\n.*\n.*\nQuorum by <t:\d+:f>.*Decided on <t:\d+:f>/);
    expect(description).toContain(end);
  },
);

it.each([
  ["a first contract", { trackingCid: null }, NOW - 3_600_000, ["⚠️ Short vote: 25 hours"]],
  ["a contract that a vote has made", { trackingCid: "first" }, null, []],
])("a vote is short by the opening time of %s", (_, given, createdAt, said) => {
  const request = fromExplorer(row({ createdAt: NOW - 3_600_000, voteBefore: NOW + DAY, ...given }), null);
  expect(request.createdAt).toBe(createdAt);
  expect(shortVote(request).map(String)).toEqual(said);
});

it("raw data says nothing of a request whose details the explorer does not answer", async () => {
  const listed = row({ contractId: "00aa", trackingCid: "00aa", title: "SRARC_OffboardSv" });
  const explorer = createExplorerService({
    upstream: async ({ path }) => {
      if (path.includes("details")) throw new ExplorerError("failing", "503", { status: 503 });
      const json = { content: [listed], last: true, totalElements: 1 };
      return { json, text: JSON.stringify(json), bytes: 1 };
    },
    cache: createCache({ memoryMb: 1, log: quiet }),
  }).for("background");
  await expect(rawData(explorer, names, "00aa")).rejects.toMatchObject({ problem: "failing" });
});
