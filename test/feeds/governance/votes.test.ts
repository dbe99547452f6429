import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Channel, Message } from "../../../sandbox/discord/world.js";
import type { VoteRequest } from "../../../sandbox/explorer/model.js";
import { type Harness, startHarness, textOf } from "../../harness.js";

type Row = Record<string, unknown>;

describe("votes in announcements", () => {
  let harness: Harness;
  let channel: Channel;
  const world = () => harness.discord.world;
  const ledger = () => harness.explorer.ledger;
  const sent = (path: RegExp) => harness.explorer.requests.filter((each) => path.test(each.path)).length;

  beforeAll(async () => {
    harness = await startHarness({ env: () => ({ GOVERNANCE_POLL_SECONDS: "1" }) });
    channel = world().addChannel({ type: 0, guild_id: harness.discord.guild.id, name: "votes" });
    const place = { user: harness.discord.people.owner, channel: harness.discord.channels.general };
    await harness.discord.driver.ask(place, "/subscribe governance", { channel: channel.id, votes: true });
  });
  afterEach(() => {
    harness.explorer.mood = undefined;
  });
  afterAll(async () => {
    expect(world().refusals).toEqual([]);
    await harness.close();
  });

  const open = async (title: string) => {
    const request = ledger().openVoteRequest({ title });
    await world().until(
      () =>
        world()
          .read(channel)
          .some((message) => textOf(message).includes(`New vote request: ${title}`)),
      `the announcement of ${title}`,
    );
    return request;
  };
  const told = (title: string): Message[] =>
    world()
      .read(channel)
      .filter((message) => new RegExp(`(voted (yes|no)|\\d+ votes?) on ${title}`).test(textOf(message)));
  /** Returns the announced voters in message order. Votes that are found by one poll share a message. */
  const votersTold = (title: string, sign: string) =>
    told(title).flatMap((message) =>
      [...textOf(message).matchAll(new RegExp(`\\*\\*([^*]+)\\*\\* ${sign}`, "g"))].map(([, name]) => name),
    );
  const voters = (request: VoteRequest, count: number) =>
    ledger()
      .superValidators.filter((each) => each !== request.requester)
      .slice(0, count);
  const polled = async () => {
    const before = sent(/vote-requests$/);
    await world().until(() => sent(/vote-requests$/) > before + 1, "two polls");
  };

  it("come from the contract in one request, with a tally that includes them", async () => {
    const request = await open("Exact");
    await polled();
    const lists = sent(/vote-requests\/votes$/);
    // The list lags behind by one vote. It shows that something has changed, but not everything.
    harness.explorer.mood = (answer, path) => {
      const { content } = answer as { content?: Row[] };
      if (path !== "/v1/governance/vote-requests" || !content) return answer;
      const late = (row: Row) => ({
        ...row,
        yesCount: Number(row.yesCount) - 1,
        abstainCount: Number(row.abstainCount) + 1,
      });
      return {
        ...(answer as object),
        content: content.map((row) => (row.title === "Exact" ? late(row) : row)),
      };
    };
    for (const voter of voters(request, 2)) ledger().castVote(request, true, voter);
    await world().until(() => votersTold("Exact", "✅").length === 2, "both votes");
    expect(textOf(told("Exact").at(-1) as Message)).toMatch(
      /\*\*3\*\* yes · \*\*0\*\* no · \*\*10\*\* not voted yet/,
    );
    expect(sent(/vote-requests\/votes$/)).toBe(lists);
    await polled();
    expect(votersTold("Exact", "✅")).toHaveLength(2);
  });

  it("come from the list of votes if the contract is missing, matched by any id or name", async () => {
    let request: VoteRequest | undefined;
    harness.explorer.mood = (answer, path) => {
      if (path.endsWith("/details")) return { ...(answer as object), rawPayload: null };
      const { content } = answer as { content?: Row[] };
      if (path !== "/v1/governance/vote-requests/votes" || !content) return answer;
      const renamed = (row: Row) => ({ ...row, identifier: null, trackingCid: request?.contractId });
      return {
        ...(answer as object),
        content: content.map((row) => (row.title === "Listed" ? renamed(row) : row)),
      };
    };
    request = await open("Listed");
    await polled();
    for (const voter of voters(request, 3)) ledger().castVote(request, false, voter);
    const named = () => votersTold("Listed", "❌");
    await world().until(() => named().length === 3, "three votes");
    expect(new Set(named())).toEqual(new Set(voters(request, 3).map(({ name }) => name)));
    expect(textOf(told("Listed").at(-1) as Message)).toMatch(/\*\*1\*\* yes · \*\*3\*\* no/);

    const place = { user: harness.discord.people.ana, channel: harness.discord.channels.general };
    const shown = await harness.discord.driver.ask(place, "/proposals votes", {
      proposal: request.firstContractId,
    });
    for (const { name } of voters(request, 3)) expect(textOf(shown)).toContain(`❌ no · **${name}**`);
  });

  it("are announced only once the contract's newest version is available", async () => {
    const request = await open("Lagging");
    await polled();
    let lags = true;
    harness.explorer.mood = (answer, path) => {
      const detail = answer as { contractId?: string; rawPayload?: { votes: unknown[] } };
      if (!lags || !path.endsWith("/details") || detail.contractId !== request.contractId) return answer;
      const votes = detail.rawPayload?.votes.slice(0, 1) ?? [];
      return { ...detail, contractId: request.firstContractId, rawPayload: { votes } };
    };
    for (const voter of voters(request, 2)) ledger().castVote(request, true, voter);
    await polled();
    expect(told("Lagging")).toHaveLength(0);
    lags = false;
    await world().until(() => votersTold("Lagging", "✅").length === 2, "both votes");
  });

  it("lead to a report of changed action details, at any depth, once two reads agree", async () => {
    const place = { user: harness.discord.people.owner, channel: harness.discord.channels.general };
    await harness.discord.driver.ask(place, "/subscribe edit", { channel: channel.id, changes: true });
    const config = (minted: string) => ({
      tag: "CRARC_SetConfig",
      value: {
        baseConfig: null,
        newConfig: {
          issuanceCurve: {
            futureValues: [
              { _1: { microseconds: "1000000" }, _2: { deep: { deeper: { amuletToIssuePerYear: minted } } } },
            ],
          },
        },
      },
    });
    const request = ledger().openVoteRequest({ title: "Deep", actionConfig: config("1") });
    const changed = () =>
      world()
        .read(channel)
        .filter((message) => textOf(message).includes("Changed: Deep"));
    await world().until(
      () =>
        world()
          .read(channel)
          .some((message) => textOf(message).includes("New vote request: Deep")),
      "its announcement",
    );
    await polled();
    request.actionConfig = config("2");
    ledger().castVote(request, true);
    await world().until(() => changed().length === 1, "the change");
    expect(textOf(changed()[0] as Message)).toContain("some details changed");
    await polled();
    expect(changed()).toHaveLength(1);
  });

  it("are counted once if a list has two versions of a request, and the newer one is shown", async () => {
    const request = await open("Twice");
    let older: Row | undefined;
    harness.explorer.mood = (answer, path) => {
      const { content } = answer as { content?: Row[] };
      if (path !== "/v1/governance/vote-requests" || !content) return answer;
      older ??= content.find((row) => row.title === "Twice");
      return { ...(answer as object), content: older ? [older, ...content] : content };
    };
    await polled();
    for (const voter of voters(request, 2)) ledger().castVote(request, true, voter);
    await world().until(() => votersTold("Twice", "✅").length === 2, "both votes");
    harness.pass(60_000);
    const place = { user: harness.discord.people.ana, channel: harness.discord.channels.general };
    const list = await harness.discord.driver.ask(place, "/proposals list");
    await harness.discord.driver.click(place, list, "Refresh");
    expect(textOf(list).match(/\*\*Twice\*\*/g)).toHaveLength(1);
    expect(textOf(list)).toMatch(/\*\*Twice\*\*\\n-# \*\*3\*\* yes/);
  });

  it("are announced if two of them change between two polls and leave the tally as it was", async () => {
    const request = await open("Swapped");
    const [first, second] = voters(request, 2);
    ledger().castVote(request, true, first);
    ledger().castVote(request, false, second);
    await world().until(() => votersTold("Swapped", "✅").length === 1, "the yes vote");
    await world().until(() => votersTold("Swapped", "❌").length === 1, "the no vote");
    await polled();
    ledger().castVote(request, false, first);
    ledger().castVote(request, true, second);
    const changed = () => votersTold("Swapped", ". \\S+ \\(before: ");
    await world().until(() => changed().length === 2, "both changes");
    expect(new Set(changed())).toEqual(new Set([first?.name, second?.name]));
  });

  it("are missing from one more super validator once another one joins, which may need more votes", async () => {
    const request = await open("Joined");
    const announced = () =>
      world()
        .read(channel)
        .map(textOf)
        .find((words) => words.includes("New vote request: Joined")) ?? "";
    expect(announced()).toContain("about 9 yes votes needed");
    const all = ledger().superValidators;
    const joined = ledger().parties.find((party) => !all.includes(party));
    all.push(joined ?? request.requester);
    await world().until(() => announced().includes("about 10 yes votes needed"), "the edit");
    expect(announced()).toContain("**13** not voted yet");
    all.pop();
  });
});
