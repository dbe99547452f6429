import { afterEach, beforeEach, expect, it } from "vitest";
import { type SandboxDiscord, startSandboxDiscord } from "../../../sandbox/discord/server.js";
import { type SandboxExplorer, startSandboxExplorer } from "../../../sandbox/explorer/server.js";
import { trackedVoteRequests } from "../../../src/feeds/governance/collections.js";
import type { State } from "../../../src/storage/state.js";
import { newState, textOf } from "../../harness.js";
import { runGovernance } from "./in-process.js";

let explorer: SandboxExplorer;
let discord: SandboxDiscord;
beforeEach(async () => {
  explorer = await startSandboxExplorer({
    lively: false,
    size: { validators: 20, parties: 30, voteRequests: 3, superValidators: 13, updates: 2, tokens: 1 },
  });
  discord = await startSandboxDiscord();
});
afterEach(async () => {
  await Promise.all([explorer.close(), discord.close()]);
});

const told = (title: string) =>
  discord.world
    .read(discord.channels.governance)
    .filter((message) => textOf(message).includes(`vote request: ${title}`)).length;
const open = (title: string) => explorer.ledger.openVoteRequest({ title, lastsMs: 86_400_000 });

it("sends a delivery that was committed while the stored deliveries were being reread", async () => {
  const stored = newState();
  let beforeCommit = async () => {};
  const state: State = {
    ...stored,
    async commit(writes) {
      const before = beforeCommit;
      beforeCommit = async () => {};
      await before();
      return stored.commit(writes);
    },
  };
  const { outbox, running, runner } = await runGovernance(explorer, discord, state);
  await runner.poll();
  beforeCommit = async () => {
    // Imitates another feed's commit with an unknown result: everything is reread before this commit is written.
    running.reread?.();
    outbox.reread();
    await outbox.waitingMs();
  };
  open("Motion committed late");
  await runner.poll();
  await discord.world.until(() => told("Motion committed late") > 0, "the announcement");
  await runner.poll();
  await discord.world.until(() => outbox.idle(), "an idle outbox");
  expect(told("Motion committed late")).toBe(1);
  await outbox.stop();
});

it("records a request again after the state has lost it, without a duplicate message", async () => {
  const state = newState();
  const { outbox, running, runner } = await runGovernance(explorer, discord, state);
  await runner.poll();
  const known = await state.open(trackedVoteRequests).list();
  open("Lost motion");
  await runner.poll();
  await discord.world.until(() => told("Lost motion") === 1, "the announcement");
  // Redis may lose a confirmed write in a crash or a failover (appendfsync everysec).
  const requests = state.open(trackedVoteRequests);
  const lost = [...(await requests.list()).keys()].filter((key) => !known.has(key));
  expect(lost).toHaveLength(1);
  await state.commit(lost.map((key) => requests.delete(key)));
  running.reread?.();
  outbox.reread();
  await runner.poll();
  await discord.world.until(() => outbox.idle(), "an idle outbox");
  expect([...(await requests.list()).keys()]).toEqual(expect.arrayContaining(lost));
  // The nonce of a recent message prevents a second one.
  expect(told("Lost motion")).toBe(1);
  await outbox.stop();
});
