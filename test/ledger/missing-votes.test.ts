import { afterAll, beforeAll, expect, it } from "vitest";
import type { Party, VoteRequest } from "../../sandbox/explorer/model.js";
import { type SandboxExplorer, startSandboxExplorer } from "../../sandbox/explorer/server.js";
import { readMissing } from "../../src/ledger/missing-votes.js";
import { findVoteRequest } from "../../src/ledger/vote-requests.js";
import type { Voter } from "../../src/ledger/votes.js";
import { newExplorer, SMALL } from "../harness.js";

let sandbox: SandboxExplorer;
beforeAll(async () => {
  sandbox = await startSandboxExplorer({
    size: { ...SMALL, superValidators: 3, voteRequests: 0 },
    lively: false,
  });
});
afterAll(() => sandbox.close());

const VOTE = { accept: true, reason: "", reasonUrl: "", castAt: Date.UTC(2026, 10, 1) };

/** Opens a vote request with these votes. A page of votes has 100. */
function openWith(voters: readonly (Party | undefined)[]): VoteRequest {
  const request = sandbox.ledger.openVoteRequest();
  const ballots = voters.flatMap((voter) => (voter ? [{ ...VOTE, voter }] : []));
  request.ballots.splice(0, request.ballots.length, ...ballots);
  return request;
}

it("a super validator misses its vote although those that left are on each newer page of votes", async () => {
  const { superValidators, validators } = sandbox.ledger;
  const [first, second, successor] = superValidators;
  const left = validators.filter(({ isSv }) => !isSv).slice(0, 2);
  const isFormer = ({ aliases }: Voter) => left.some(({ party }) => aliases.includes(party.id));
  const [lastLeft, firstLeft] = left.map(({ party }) => party);
  openWith([successor]);
  openWith(Array.from({ length: 100 }, () => firstLeft));
  openWith(Array.from({ length: 98 }, () => lastLeft));
  const { contractId } = openWith([first, second]);
  const explorer = newExplorer(sandbox).for("background");
  const reading = await findVoteRequest(explorer, contractId);
  expect(reading.data).toMatchObject({ yes: 2, no: 0, pending: 1 });
  const missing = await readMissing(explorer, reading, async (voters) => voters.filter(isFormer));
  expect(missing?.voters.map(({ name }) => name)).toEqual([successor?.name]);
  expect(missing?.unknown).toBe(0);
});
