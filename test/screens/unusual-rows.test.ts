import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import type { Mood } from "../../sandbox/explorer/server.js";
import { DAY, HOUR } from "../../src/util/units.js";
import { type Harness, SMALL, startHarness, textOf } from "../harness.js";

type Row = Readonly<Record<string, unknown>>;

let harness: Harness;
/** Answers by the end of an endpoint's path. */
let answers: Readonly<Record<string, (answer: Row) => unknown>> = {};
const mood: Mood = (answer, path) => {
  const change = Object.entries(answers).find(([end]) => path.endsWith(end))?.[1];
  return change ? change(answer as Row) : answer;
};
const ask = async (command: string, given: Record<string, string> = {}) => {
  const { driver, people, channels } = harness.discord;
  return textOf(await driver.ask({ user: people.ana, channel: channels.general }, command, given));
};
const listOf = (content: readonly unknown[]) => ({ content, last: true, totalElements: content.length });
const rowsOf = ({ content }: Row) => content as readonly Row[];

beforeAll(async () => {
  harness = await startHarness({ explorer: { size: SMALL, lively: false, mood } });
});
beforeEach(() => {
  // Nothing is cached any more.
  harness.pass(2 * DAY);
});
afterAll(() => harness.close());

it("a list of vote requests has those that its state and its votes belong to, and counts rows that can't be read", async () => {
  const now = harness.now();
  const states = [
    { title: "No status, carried", status: null, yesCount: 10, noCount: 1, abstainCount: 2 },
    { title: "No status, expired", status: null, yesCount: 3, noCount: 1, abstainCount: 9 },
    { title: "Voted down", yesCount: 1, noCount: 9, abstainCount: 3, voteBefore: now + DAY },
    { title: "Undated", yesCount: 3, noCount: 1, abstainCount: 9, targetEffectiveAt: null },
  ];
  answers = {
    "/vote-requests": (answer) =>
      listOf([
        null,
        ...rowsOf(answer)
          .slice(0, states.length)
          .map((each, at) => ({
            ...each,
            status: "In Progress",
            voteBefore: now - 2 * DAY,
            targetEffectiveAt: now - DAY,
            ...states[at],
            ...(states[at]?.voteBefore && { targetEffectiveAt: now + 2 * DAY }),
          })),
      ]),
  };
  const listed = async (status: string) => {
    const text = await ask("/proposals list", { status });
    expect(text, status).toContain("I can't read 1 row");
    return states.flatMap(({ title }) => (text.includes(`**${title}**`) ? [title] : []));
  };
  expect(await listed("open")).toEqual(["No status, carried", "Voted down", "Undated"]);
  expect(await listed("expired")).toEqual(["No status, expired", "Undated"]);
  expect(await listed("rejected")).toEqual(["Voted down"]);
  expect(await listed("all")).toHaveLength(states.length);
});

it("a list in which a row is repeated and another one can't be read is complete", async () => {
  answers = {
    "/transfers": (answer) => {
      const rows = rowsOf(answer).slice(0, 10);
      return listOf([...rows, rows[9], null]);
    },
  };
  const text = await ask("/transfers");
  expect(text).toContain("11 transfers. I can't read 1 row");
  expect(text).not.toContain("doesn't list more");
});

it("a created event shows its arguments beside an empty choice", async () => {
  answers = {
    "/events/:id": (answer) => ({
      ...answer,
      choiceArgument: "{}",
      createArguments: '{"amount":"1.5"}',
    }),
  };
  const id = harness.explorer.ledger.updates[0]?.events[0]?.eventId ?? "";
  expect(await ask("/event show", { event: id })).toContain("amount: 1.5");
});

it("a balance, a creator or a number of validators that is only known in part is shown", async () => {
  answers = {
    "/parties/:id": (answer) => ({
      ...answer,
      creator: { partyId: null, accountName: "Maker" },
      holdingsSummaryResponse: {
        summaries: [{ party_id: answer.partyId, total_coin_holdings: null, total_locked_coin: "2.5" }],
      },
    }),
    "/dashboard": (answer) => ({ ...answer, totalActiveValidators: null, totalValidators: 1_000 }),
  };
  const party = await ask("/party show", { party: harness.explorer.ledger.validators[0]?.party.id ?? "" });
  expect(party).toContain("doesn't give the total balance");
  expect(party).toContain("Maker");
  expect(await ask("/network")).toContain("**1,000 validators**, active unknown");
});

it("rewards have no beginning in the future", async () => {
  answers = {
    "/rewards/:id": (answer) =>
      listOf(
        rowsOf(answer)
          .slice(0, 1)
          .map((each) => ({ ...each, createdAt: harness.now() + 16 * HOUR })),
      ),
  };
  const party = harness.explorer.ledger.validators[0]?.party.id ?? "";
  expect(await ask("/party rewards", { party })).not.toMatch(/reward, since/);
});
