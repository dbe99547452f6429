import { expect, it } from "vitest";
import { startSandboxExplorer } from "../../../sandbox/explorer/server.js";
import { readActivity } from "../../../src/feeds/validator/reading.js";
import { HOUR } from "../../../src/util/units.js";
import { newExplorer, SMALL } from "../../harness.js";

it.each([
  ["most reports", 0.6, true],
  ["one report", 0.01, false],
])("is useless if %s are in the future", async (_, share, isAhead) => {
  const now = Date.now();
  const sandbox = await startSandboxExplorer({ size: SMALL, lively: false, now: () => now });
  const { validators } = sandbox.ledger;
  for (const each of validators.slice(0, Math.ceil(share * validators.length)))
    each.lastActiveAt = now + HOUR;
  const explorer = newExplorer(sandbox, () => now).for("background", { maxAgeMs: 0 });
  const reading = await readActivity(explorer, [validators.at(-1)?.party.id ?? ""], () => now);
  expect(reading.isAhead).toBe(isAhead);
  await sandbox.close();
});

it("takes a report's time from the details if the row lacks it", async () => {
  const now = Date.now();
  const sandbox = await startSandboxExplorer({ size: SMALL, lively: false, now: () => now });
  const [watched] = sandbox.ledger.validators;
  const party = watched?.party.id ?? "";
  sandbox.mood = (answer, path) => {
    if (!path.endsWith("/v1/validators")) return answer;
    const { content, ...page } = answer as { readonly content: readonly { readonly validator: string }[] };
    return {
      ...page,
      content: content.map((row) => (row.validator === party ? { ...row, lastActiveAt: null } : row)),
    };
  };
  const explorer = newExplorer(sandbox, () => now).for("background", { maxAgeMs: 0 });
  const reading = await readActivity(explorer, [party], () => now);
  expect(reading.seen.get(party)?.seenAt).toBe(watched?.lastActiveAt);
  await sandbox.close();
});
