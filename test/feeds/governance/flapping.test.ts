import { expect, it } from "vitest";
import { startSandboxDiscord } from "../../../sandbox/discord/server.js";
import { createRandom } from "../../../sandbox/explorer/random.js";
import { startSandboxExplorer } from "../../../sandbox/explorer/server.js";
import { ExplorerError } from "../../../src/explorer/errors.js";
import { newState, textOf } from "../../harness.js";
import { runGovernance } from "./in-process.js";

it("sends no false announcement during a thousand polls with failing, empty, shuffled and incomplete answers", async () => {
  const seed = 7;
  const random = createRandom(seed);
  const explorer = await startSandboxExplorer({
    lively: false,
    size: { validators: 20, parties: 30, voteRequests: 60, superValidators: 13, updates: 10, tokens: 1 },
  });
  const discord = await startSandboxDiscord();
  discord.limits.enforced = false;
  const { ledger } = explorer;
  const state = newState();
  const { outbox, runner } = await runGovernance(explorer, discord, state);
  const poll = () =>
    runner.poll().catch((error: unknown) => {
      if (!(error instanceof ExplorerError)) throw error;
    });
  await poll();

  type Page = { content: { contractId: string }[]; totalElements: number; last: boolean };
  /** Earlier answers, served again as stale ones */
  const old: Page[] = [];
  const moods: readonly ((page: Page) => unknown)[] = [
    (page) => ({ ...page, content: [], totalElements: 0, last: true }),
    (page) => ({ ...page, content: [...page.content].sort(() => random.next() - 0.5) }),
    (page) => ({ ...page, content: page.content.slice(0, random.int(0, page.content.length)) }),
    (page) => ({ ...page, content: page.content.map((row) => (random.chance(0.3) ? null : row)) }),
    (page) => ({
      ...page,
      content: page.content.map((row) => ({
        ...row,
        status: null,
        voteBefore: null,

        yesCount: null,
      })),
    }),
    (page) => ({
      ...page,
      content: page.content.map((row) => ({ ...row, targetEffectiveAt: 0, createdAt: "never" })),
    }),
    () => (old.length > 0 ? random.pick(old) : { content: [] }),
    () => "maintenance",
    () => ({ error: true }),
  ];
  const told = () => discord.world.read(discord.channels.governance).map((message) => textOf(message));
  const of = (pattern: RegExp) => told().filter((text) => pattern.test(text));
  const opened: string[] = [];
  const closed: string[] = [];
  for (let round = 0; round < 1_000; round += 1) {
    if (random.chance(0.02)) {
      opened.push(`Real ${opened.length}.`);
      ledger.openVoteRequest({ title: opened.at(-1) ?? "", motion: "feature" });
    }
    const open = ledger.voteRequests.filter(
      (each) => each.status === "In Progress" && each.title.startsWith("Real"),
    );
    const [first] = open;
    if (first && random.chance(0.05)) ledger.castVote(first, random.chance(0.8));
    // Close only requests that have been announced.
    const seen = random.chance(0.01)
      ? open.find(({ title }) => of(new RegExp(`: ${title}"`)).length > 0)
      : undefined;
    if (seen) {
      closed.push(seen.title);
      ledger.closeVoteRequest(seen, "Rejected");
    }
    const mood = random.chance(0.6) ? random.pick(moods) : undefined;
    if (random.chance(0.15))
      explorer.injectFault(
        random.pick([{ kind: "reset" }, { kind: "html" }, { kind: "status", status: 503 }] as const),
        { times: random.int(1, 3) },
      );
    explorer.mood = (answer, path) => {
      if (path !== "/v1/governance/vote-requests") return answer;
      const page = answer as Page;
      if (random.chance(0.05)) old.push(structuredClone(page));
      return mood ? mood(page) : page;
    };
    await poll();
    explorer.clearFaults();
  }
  explorer.mood = undefined;
  for (let at = 0; at < 3; at += 1) await poll();

  await discord.world.until(
    () =>
      of(/(Accepted|Rejected|Expired): Real/).length >= closed.length &&
      of(/New vote request/).length >= opened.length,
    "what is true",
  );
  for (const title of opened) expect(of(new RegExp(`New vote request: ${title}"`)), title).toHaveLength(1);
  for (const title of closed)
    expect(of(new RegExp(`(Accepted|Rejected|Expired): ${title} `)), title).toHaveLength(1);
  expect(of(/New vote request|new vote requests/)).toHaveLength(opened.length);
  expect(of(/(Accepted|Rejected|Expired): /)).toHaveLength(closed.length);
  expect(of(/Changed: /)).toEqual([]);
  expect(opened.length).toBeGreaterThan(8);
  expect(closed.length).toBeGreaterThan(2);
  await outbox.stop();
  await state.close();
  await Promise.all([explorer.close(), discord.close()]);
});
