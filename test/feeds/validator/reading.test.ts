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
