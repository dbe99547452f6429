import { afterAll, beforeAll, expect, it } from "vitest";
import { Refused, type SandboxExplorer, startSandboxExplorer } from "../../sandbox/explorer/server.js";
import { readDetail } from "../../src/ledger/vote-requests.js";
import { newExplorer, SMALL } from "../harness.js";

let sandbox: SandboxExplorer;
beforeAll(async () => {
  sandbox = await startSandboxExplorer({ size: SMALL, lively: false });
});
afterAll(() => sandbox.close());

it("a vote request's detail is found by its tracking id if the explorer answers 500 for its contract id", async () => {
  const request = sandbox.ledger.voteRequests.find((each) => each.contractId !== each.firstContractId);
  const [contractId, trackingCid] = [request?.contractId ?? "", request?.firstContractId ?? ""];
  sandbox.mood = (answer, path, _, { id }) => {
    if (path.endsWith("/details") && id === contractId) throw new Refused(500);
    return answer;
  };
  const detail = await readDetail(newExplorer(sandbox).for("background"), { contractId, trackingCid });
  expect(detail?.actionConfig ?? undefined).toBeDefined();
});
