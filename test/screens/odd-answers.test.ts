import { afterAll, beforeAll, expect, it } from "vitest";
import type { Mood } from "../../sandbox/explorer/server.js";
import { DAY, HOUR, MINUTE } from "../../src/util/units.js";
import { type Harness, SMALL, startHarness, textOf } from "../harness.js";

type Row = Readonly<Record<string, unknown>>;

let harness: Harness;
const ask = async (command: string, given: Record<string, string> = {}) => {
  const { driver, people, channels } = harness.discord;
  return textOf(await driver.ask({ user: people.ana, channel: channels.general }, command, given));
};
const listOf = (content: readonly unknown[]) => ({ content, last: true, totalElements: content.length });

/** The locked amount is missing. */
const withBalance = (answer: unknown): unknown => {
  const party = answer as { readonly holdingsSummaryResponse?: { readonly summaries: readonly Row[] } };
  if (!party.holdingsSummaryResponse) return answer;
  const amounts = { total_coin_holdings: "100", total_unlocked_coin: "60", total_locked_coin: null };
  const summaries = party.holdingsSummaryResponse.summaries.map((each) => ({ ...each, ...amounts }));
  return { ...party, holdingsSummaryResponse: { ...party.holdingsSummaryResponse, summaries } };
};

const AMOUNTS = ["inputAppRewardAmount", "inputValidatorRewardAmount", "inputSvRewardAmount"];
/** Answers that the documentation allows and the sandbox does not give by itself. */
const mood: Mood = (answer, path) => {
  if (path.includes("/rewards/")) {
    const { content } = answer as { readonly content: readonly Row[] };
    const unknown = Object.fromEntries(AMOUNTS.map((name) => [name, null]));
    return listOf(content.slice(0, 2).map((each, at) => (at === 0 ? { ...each, ...unknown } : each)));
  }
  if (path.endsWith("/transfers")) {
    const { content } = answer as { readonly content: readonly Row[] };
    return listOf(content.slice(0, 1).map((each) => ({ ...each, amuletPrice: 0 })));
  }
  if (path.endsWith("/parties/top")) {
    const { content } = answer as { readonly content: readonly Row[] };
    return listOf(["unreadable", ...content.slice(0, 20)]);
  }
  if (path.endsWith("/validators")) {
    const { content } = answer as { readonly content: readonly Row[] };
    return listOf([...content, ...content.slice(0, 3)]);
  }
  if (path.includes("/parties/")) return withBalance(answer);
  if (!path.endsWith("/vote-requests")) return answer;
  const { content } = answer as { readonly content: readonly Row[] };
  // The oldest first.
  return listOf(
    content.map((each, at) => ({
      ...each,
      title: `Request ${at}`,
      status: "Rejected",
      createdAt: harness.now() - (100 - at) * DAY,
    })),
  );
};

beforeAll(async () => {
  harness = await startHarness({ explorer: { size: SMALL, lively: false, mood } });
});
afterAll(() => harness.close());

it("a reward without amounts is not worth nothing", async () => {
  const party = harness.explorer.ledger.validators[0]?.party.id ?? "";
  const answer = await ask("/party rewards", { party });
  expect(answer).toMatch(/\*\*amount unknown\*\*(?! · \$)/);
  expect(answer).toContain("all 2 rewards, 1 of unknown amount");
});

it("rewards that are listed oldest first are not called the newest", async () => {
  const party = harness.explorer.ledger.validators[2]?.party.id ?? "";
  const inputValidatorRewardAmount = 1;
  let all: Row[] = Array.from({ length: 350 }, (_, at) => ({
    eventId: `${at}`,
    inputValidatorRewardAmount,
    createdAt: harness.now() - (350 - at) * HOUR,
  }));
  // The bot reads other lists in the background.
  harness.explorer.mood = (answer, path, query, parameters) => {
    if (!path.includes("/rewards/")) return mood(answer, path, query, parameters);
    const { page, size } = query;
    const start = Number(page) * Number(size);
    const last = start + Number(size) >= all.length;
    return { content: all.slice(start, start + Number(size)), last, totalElements: all.length };
  };
  expect(await ask("/party rewards", { party })).toMatch(
    /-# the oldest 300 rewards, from <t:\d+:f>, to <t:\d+:f>/,
  );
  // The newest first, and the first one without a time.
  all.reverse();
  all[0] = { ...all[0], createdAt: null };
  const third = harness.explorer.ledger.validators[4]?.party.id ?? "";
  expect(await ask("/party rewards", { party: third })).toMatch(/-# the newest 300 rewards, since/);
  const other = harness.explorer.ledger.validators[3]?.party.id ?? "";
  all = all.slice(1, 2);
  expect(await ask("/party rewards", { party: other })).toMatch(/-# 1 reward, since/);
  harness.explorer.mood = mood;
});

it("a coin's price of zero is none", async () => {
  expect(await ask("/transfers")).toMatch(/\$\d.* at the current price/);
});

it("a row that cannot be read is not one that the explorer leaves out, and moves no rank", async () => {
  const answer = await ask("/party top");
  expect(answer).toContain("-# 21 parties. I can't read 1 row of the explorer's answer");
  expect(answer).not.toMatch(/doesn't list more|\b1\\+\. /);
});

it("validators that the explorer lists twice are counted once", async () => {
  const { validators } = harness.explorer.ledger;
  const active = validators.filter((each) => each.active).length;
  const [, shown, total] = /🟢 \*\*(\d+)\*\* of (\d+) active/.exec(await ask("/validator list")) ?? [];
  expect([Number(shown), Number(total)]).toEqual([active, validators.length]);
});

it("vote requests are listed by age, whatever the explorer's order", async () => {
  for (const status of ["all", "rejected"]) {
    const numbers = [...(await ask("/proposals list", { status })).matchAll(/Request (\d+)/g)].map(([, at]) =>
      Number(at),
    );
    expect(numbers.length).toBeGreaterThan(2);
    expect(numbers).toEqual(numbers.toSorted((a, b) => b - a));
  }
});

it("a vote, which makes a new contract, does not make a vote request newer", async () => {
  const { explorer, discord } = harness;
  const { ledger } = explorer;
  explorer.mood = undefined;
  const older = ledger.openVoteRequest({ title: "Opened first", lastsMs: 2 * HOUR, effectiveInMs: null });
  // The bot reads when it was opened.
  const shown = (status: string) => async () => {
    harness.pass(2 * MINUTE);
    return ask("/proposals list", { status });
  };
  await expect.poll(shown("all"), { timeout: 20_000 }).toContain("Opened first");
  harness.pass(HOUR);
  const newer = ledger.openVoteRequest({ title: "Opened later", effectiveInMs: null });
  ledger.castVote(older, true);
  for (const each of [older, newer]) ledger.closeVoteRequest(each, "Rejected");
  await expect.poll(shown("rejected"), { timeout: 20_000 }).toMatch(/Opened later.*Opened first/);
  expect(discord.world.refusals).toEqual([]);
  explorer.mood = mood;
});

it("nothing has happened in the future, and a licence is not as old as its last report", async () => {
  const { explorer } = harness;
  const { ledger } = explorer;
  const validator = ledger.validators[6]?.party.id ?? "";
  // Nothing is cached any more.
  harness.pass(26 * HOUR);
  const later = harness.now() + 3 * HOUR;
  const times = ["createdAt", "firstSeen", "lastSeen", "recordTime", "effectiveAt", "lastSeenRoundTimestamp"];
  const ahead = (given: Row): Row =>
    Object.fromEntries(
      Object.entries(given).map(([name, value]) => [name, times.includes(name) ? later : value]),
    );
  explorer.mood = (answer, path) => {
    if (path.includes("/validators/")) {
      const detail = answer as Row;
      return { ...detail, createdAt: detail.lastActiveAt };
    }
    if (!/parties|transfers|contracts|events|updates/.test(path)) return answer;
    const { content, ...rest } = answer as { readonly content?: readonly Row[] };
    return content ? { ...rest, content: content.map(ahead) } : ahead(rest);
  };
  const now = Math.ceil(harness.now() / 1_000) + 60;
  for (const command of ["/party list", "/transfers", "/contract list", "/event list", "/update list"])
    for (const [, seconds] of (await ask(command)).matchAll(/<t:(\d+):R>/g))
      expect(Number(seconds), command).toBeLessThan(now);
  const party = await ask("/party show", { party: validator });
  expect(party).toContain('"Created","value":"unknown"');
  const shown = await ask("/validator show", { validator });
  expect(shown).toContain('"Current licence since"');
  expect(shown).not.toContain('"Joined"');
  explorer.mood = mood;
});

it("an unlocked amount is shown if the locked one is missing", async () => {
  const party = harness.explorer.ledger.validators[0]?.party.id ?? "";
  const answer = await ask("/party show", { party });
  expect(answer).toMatch(/"Unlocked","value":"60 CC".*"Locked","value":"unknown"/);
});

it("a price or a dashboard that does not answer delays a screen by seconds, and does not fail it", async () => {
  const { explorer } = harness;
  // Nothing is cached any more.
  harness.pass(26 * HOUR);
  explorer.injectFault({ kind: "slow", ms: 60_000 }, { path: /dashboard|get-price/ });
  const party = explorer.ledger.validators[1]?.party.id ?? "";
  const [requests, rewards] = await Promise.all([
    ask("/proposals list", { status: "expired" }),
    ask("/party rewards", { party }),
  ]);
  expect(requests).toContain("Vote requests");
  expect(rewards).toContain("Rewards");
  expect(requests + rewards).not.toMatch(/waiting|too long|right now/);
  explorer.clearFaults();
});

it("transfers tell parties with the same name apart, and a licence dated in the future has an unknown date", async () => {
  // The lists are read again.
  harness.pass(HOUR);
  const usual = harness.explorer.mood;
  const party = (hex: string) => ({ partyId: `acme::1220${hex.repeat(32)}`, accountName: "Acme" });
  harness.explorer.mood = (answer, path, query, parameters) => {
    if (path.endsWith("/validators/:id")) return { ...(answer as Row), createdAt: harness.now() + 400 * DAY };
    if (!path.endsWith("/transfers")) return usual?.(answer, path, query, parameters) ?? answer;
    const { content } = answer as { readonly content: readonly Row[] };
    return listOf(
      content.slice(0, 1).map((each) => ({ ...each, senders: [party("ab")], receivers: [party("cd")] })),
    );
  };
  expect(await ask("/transfers")).toMatch(/Acme `?1220ab…abab`? → Acme `?1220cd…cdcd`?/);
  const { validators } = harness.explorer.ledger;
  expect(await ask("/validator show", { validator: validators[0]?.party.id ?? "" })).toMatch(
    /"(?:Joined|Current licence since)","value":"unknown"/,
  );
  harness.explorer.mood = usual;
});
