import { expect, it } from "vitest";
import { upgradeView } from "../../../src/feeds/upgrades/messages.js";
import { DAY, HOUR } from "../../../src/util/units.js";

const NOW = Date.UTC(2026, 10, 26, 12);
const upgrade = { upgradeAt: NOW + 10 * DAY, freezeAt: NOW + 10 * DAY - HOUR };

it.each([
  ["is marked as moved", { movedFrom: NOW + 3 * DAY }, true],
  ["is not marked as moved if only the freeze before it was", { movedFrom: upgrade.upgradeAt }, false],
  ["is not marked as moved if it never was", {}, false],
])("an upgrade's card %s", (_, given, isMarked) => {
  const { body = [] } = upgradeView({ ...upgrade, ...given }, [], "mark", NOW);
  expect(body.some((line) => String(line).includes("Moved."))).toBe(isMarked);
});
