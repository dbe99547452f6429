import { expect, it } from "vitest";
import { loudnessOf, type UpgradeEvent } from "../../../src/feeds/upgrades/events.js";
import { newsView, upgradeView } from "../../../src/feeds/upgrades/messages.js";
import { DAY, HOUR, MINUTE } from "../../../src/util/units.js";

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

const about = { subject: "upgrade/1", ...upgrade };
const reminder = (step: "day" | "hour" | "upgrade") => ({ kind: "reminder", ...about, step }) as const;

it.each<[UpgradeEvent, ReturnType<typeof loudnessOf>]>([
  [{ kind: "scheduled", ...about }, "ping"],
  [{ kind: "moved", ...about, movedFrom: NOW, move: 1 }, "ping"],
  [{ kind: "cancelled", ...about }, "ping"],
  [reminder("day"), "normal"],
  [reminder("hour"), "ping"],
  [reminder("upgrade"), "normal"],
  [{ kind: "advancing", ...about, round: 1, at: NOW }, "normal"],
  [{ kind: "still", subject: "still/1", round: 1, since: NOW }, "ping"],
  [{ kind: "moving", subject: "still/1", round: 1, since: NOW, at: NOW }, "normal"],
])("%j is as loud as the feed says: %s", (event, expected) => {
  expect(loudnessOf(event)).toBe(expected);
});

it("a reminder warns of a schedule that may have changed while the vote requests could not be read", () => {
  const bodyOf = (readAt: object, step: "hour" | "upgrade") =>
    newsView({ ...reminder(step), ...readAt }, [], "mark", upgrade.upgradeAt - HOUR).body?.join("\n");
  for (const step of ["hour", "upgrade"] as const) {
    expect(bodyOf({ readAt: NOW }, step)).toMatch(
      /since <t:\d+:f>. The upgrade may have been moved or cancelled/,
    );
    expect(bodyOf({}, step)).not.toContain("may have been");
  }
});

const noFreeze = { ...reminder("hour"), freezeAt: null };
it.each<[Parameters<typeof newsView>[0], number, RegExp]>([
  [noFreeze, HOUR, /: transactions pause in 1 h$/],
  [noFreeze, 57 * MINUTE, /: transactions pause in 55 min$/],
  [noFreeze, MINUTE, /: transactions pause in 5 min$/],
  [reminder("hour"), 2 * HOUR, /: freeze in 1 h \(no new parties or packages\); transactions pause on/],
  [reminder("upgrade"), -19 * MINUTE, /: transactions pause about now$/],
  [reminder("upgrade"), -20 * MINUTE, /^🛠️ The time of the network upgrade has passed: /],
  [
    { kind: "moved", ...about, movedFrom: upgrade.upgradeAt, move: 1 },
    DAY,
    /: the freeze before it has changed, and /,
  ],
  [{ kind: "moved", ...about, movedFrom: NOW, move: 1 }, DAY, /moved: .*, not on 26 November at 12:00 UTC$/],
  [{ kind: "advancing", ...about, round: 1, at: NOW }, -HOUR, /Rounds are advancing again after/],
  [{ kind: "advancing", ...about, round: 1, at: NOW, isLate: true }, -HOUR, /Rounds are advancing after/],
])("%j is told %i ms before the upgrade as %s", (event, ms, expected) => {
  expect(String(newsView(event, [], "mark", upgrade.upgradeAt - ms).notification)).toMatch(expected);
});
