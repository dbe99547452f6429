import { expect, it } from "vitest";
import {
  eventId,
  loudnessOf,
  MANY,
  subjectOf,
  type ValidatorEvent,
} from "../../../src/feeds/validator/events.js";
import { isShared, sharedView, together } from "../../../src/feeds/validator/together.js";
import { DAY, HOUR } from "../../../src/util/units.js";

const NOW = Date.UTC(2026, 10, 23, 12);
const PARTIES = ["Birch", "Cedar", "Dune", "Elm", "Fjord"];
const [first = ""] = PARTIES;

const gone = (validator: string, isCalm = false): ValidatorEvent => ({
  kind: "gone",
  channelId: "1",
  validator,
  since: NOW - DAY,
  isCalm,
});
const listed = (validator: string): ValidatorEvent => ({
  kind: "listed",
  channelId: "1",
  validator,
  since: NOW - DAY,
});
const old = (validator: string, target = "0.5.0"): ValidatorEvent => ({
  kind: "version",
  channelId: "1",
  validator,
  target,
  running: "0.4.9",
});
const upgrade = (validator: string): ValidatorEvent => ({
  kind: "upgrade",
  channelId: "1",
  validator,
  upgradeAt: NOW + 2 * DAY,
  days: 2,
  target: "0.5.0",
  running: "0.4.9",
});
const rescheduled =
  (upgradeAt: number | undefined) =>
  (validator: string): ValidatorEvent => ({
    kind: "rescheduled",
    channelId: "1",
    validator,
    warnedOf: NOW + DAY,
    decidedAt: NOW - HOUR,
    upgradeAt,
  });
const merge = (events: readonly ValidatorEvent[]) => together(events, () => false, NOW);

it.each<[news: string, of: (validator: string) => ValidatorEvent, headline: string, line: string]>([
  [
    "that they are gone",
    gone,
    "⚪ No longer listed: Birch, Cedar, Dune and 2 more",
    "until they're listed again",
  ],
  ["that they are back", listed, "🟢 Listed again: Birch, Cedar, Dune and 2 more", "alerts about them again"],
  [
    "of old versions",
    old,
    "⚠️ Old versions: Birch, Cedar, Dune and 2 more. Most run 0.5.0",
    "behind for a day",
  ],
  [
    "before an upgrade",
    upgrade,
    "⚠️ Network upgrade in 2 days: Birch, Cedar, Dune and 2 more still run old versions",
    "Compared with `0.5.0`",
  ],
  [
    "that the upgrade is moved",
    rescheduled(NOW + 3 * DAY),
    "🛠️ Network upgrade moved: transactions pause on 26 November at 12:00 UTC, not on 24 November at 12:00 UTC",
    "that Birch, Cedar, Dune and 2 more were behind before it. You'll be warned again if they still are.",
  ],
  [
    "that the upgrade is cancelled",
    rescheduled(undefined),
    "⚪ Network upgrade of 24 November cancelled",
    "that Birch, Cedar, Dune and 2 more were behind before it. It was scheduled for",
  ],
])("the same news about five validators is one message: %s", (_, of, headline, line) => {
  const [event, ...others] = merge(PARTIES.map((each) => of(each)));
  expect(others).toEqual([]);
  if (!event || !isShared(event)) throw new Error("It is not shared");
  expect(event).toMatchObject({ validator: MANY, members: PARTIES });
  expect(subjectOf(event)).toBeUndefined();
  const known = {
    called: (party: string) => party,
    activity: undefined,
    interval: undefined,
    response: undefined,
  };
  const { notification, body = [], menus = [] } = sharedView(event, { ...known, now: NOW }, "mark");
  expect(String(notification)).toBe(headline);
  expect(body.join("\n")).toContain(line);
  expect(body.join("\n")).toContain("All 5: Birch, Cedar, Dune, Elm, Fjord");
  expect(menus[0]?.choices.map(({ label }) => label)).toEqual(PARTIES);
});

it.each<[what: string, events: readonly ValidatorEvent[]]>([
  ["four", PARTIES.slice(1).map((each) => gone(each))],
  ["different news", [...PARTIES.slice(1).map((each) => gone(each)), listed(first)]],
  ["different versions", [...PARTIES.slice(1).map((each) => old(each)), old(first, "0.6.0")]],
  ["different channels", [...PARTIES.slice(1).map((each) => gone(each)), { ...gone(first), channelId: "2" }]],
])("news about %s stay apart", (_, events) => {
  expect(merge(events)).toEqual(events);
});

it("shared news pings unless the alerts of all have been taken", () => {
  const loudness = (events: readonly ValidatorEvent[]) => merge(events).map((event) => loudnessOf(event, []));
  expect(loudness(PARTIES.map((each) => gone(each, each !== first)))).toEqual(["ping"]);
  expect(loudness(PARTIES.map((each) => gone(each, true)))).not.toContain("ping");
});

it("shared news reaches those who follow all super validators, and keeps an id of its own", () => {
  const others = { ...gone("Oak"), channelId: "2" };
  const events = together(
    [...PARTIES.map((each) => gone(each)), ...PARTIES.map(listed), others],
    (channelId, validator) => channelId === "1" && validator === first,
    NOW,
  );
  expect(events.map((event) => isShared(event) && event.isOfAll)).toEqual([true, true, false]);
  expect(new Set(events.map(eventId)).size).toBe(3);
});
