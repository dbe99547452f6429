import { expect, it } from "vitest";
import type { Subscription } from "../../../src/delivery/collections.js";
import { loudnessOf } from "../../../src/feeds/validator/events.js";
import { holdView } from "../../../src/feeds/validator/hold-messages.js";
import { manyView, silenceView } from "../../../src/feeds/validator/messages.js";
import { address } from "../../../src/screens/addresses.js";
import { HOUR, MINUTE } from "../../../src/util/units.js";

const NOW = Date.UTC(2026, 10, 23, 12);
const known = {
  called: (party: string) => party,
  activity: undefined,
  interval: undefined,
  response: undefined,
  now: NOW,
};
const alert = (members: Parameters<typeof manyView>[0]["members"], endedAt?: number) => ({
  kind: "many" as const,
  channelId: "1",
  subject: "many:1",
  since: NOW - 1_000,
  silent: 12,
  total: 45,
  toldAt: NOW - 1_000,
  revision: 1,
  members,
  ...(endedAt === undefined ? {} : { endedAt }),
});
const open = { validator: "Fjord" };
const back = { validator: "Maple", backAt: NOW };
const gone = { validator: "Onyx", backAt: NOW, isGone: true };

it.each([
  [
    "is open",
    [open, back, gone],
    undefined,
    "🔴 12 of 45 validators went silent at about",
    "1 of your 3 validators back, 1 no longer listed",
  ],
  ["is over if all are back", [back], NOW, "🟢 Back: all of yours", "Maple"],
  [
    "says how many are no longer listed",
    [back, gone],
    NOW,
    "🟢 Over: 1 back, 1 no longer listed",
    "no longer listed since",
  ],
  ["does not call a delisted validator back", [gone], NOW, "⚪ No longer listed: all of yours", "Onyx"],
  [
    "says so if the last one is no longer watched",
    [],
    NOW,
    "⚪ No longer watched",
    "12 of 45 validators went silent",
  ],
] as const)("an alert about many %s", (_, members, endedAt, title, line) => {
  const view = manyView(alert(members, endedAt), known, "mark");
  expect(String(view.notification)).toContain(title);
  expect((view.body ?? []).join("\n")).toContain(line);
  expect(view.links?.some(({ to }) => JSON.stringify(to) === JSON.stringify(address("overview", {})))).toBe(
    true,
  );
});

it.each([
  ["many silences", manyView(alert([open], undefined), known, "mark"), / about \d\d:\d\d UTC/],
  [
    "a stopped rhythm",
    holdView(
      {
        kind: "hold",
        channelId: "1",
        subject: "hold:1",
        since: NOW - HOUR,
        newestAt: NOW - 72 * HOUR,
        revision: 1,
        rhythm: { beforeMs: 10 * MINUTE },
      },
      "mark",
      NOW,
    ),
    / since 20 November at 12:00 UTC/,
  ],
])(
  "an alert about %s has a readable time in its notification, and the reader's own in the embed",
  (_, view, words) => {
    expect(String(view.notification)).toMatch(words);
    expect(String(view.notification)).not.toContain("<t:");
    expect((view.body ?? []).join("\n")).toMatch(/<t:\d+:f>/);
  },
);

it("a hold gives the age of the newest data, also after it has advanced, and then its own length", () => {
  const hold = {
    kind: "hold" as const,
    channelId: "1",
    subject: "hold:1",
    since: NOW - 180 * MINUTE,
    newestAt: NOW - 40 * MINUTE,
    revision: 3,
  };
  expect(String(holdView(hold, "mark", NOW).notification)).toBe(
    "⏸ The explorer's newest data is 40 min old; silence alerts are on hold",
  );
  expect(String(holdView({ ...hold, endedAt: NOW }, "mark", NOW).notification)).toBe(
    "▶️ Silence alerts are on again after 3 h on hold",
  );
});

it.each<[what: string, given: object, again: string]>([
  ["an explorer that was behind", {}, "Silence alerts are on again after 3 h on hold"],
  [
    "rounds that can't be read any more",
    { standstill: { round: 7, isUnsure: true } },
    "Silence alerts are on again",
  ],
  ["a change of rhythm", { rhythm: { beforeMs: 10 * MINUTE, nowMs: 10 * MINUTE } }, "Alerts are on again."],
])("says that alerts are on again after %s, unless they stay on hold", (_, given, again) => {
  const place = { kind: "hold" as const, channelId: "1", subject: "hold/1", revision: 3 };
  const hold = { ...place, since: NOW - 180 * MINUTE, newestAt: NOW - 200 * MINUTE, endedAt: NOW, ...given };
  const shown = (isStillHeld: boolean) => {
    const { notification, body = [] } = holdView(
      { ...hold, ...(isStillHeld && { isStillHeld }) },
      "mark",
      NOW,
    );
    return [notification, ...body].join("\n");
  };
  expect(shown(false)).toContain(again);
  expect(shown(true)).not.toContain("on again");
  expect(shown(true)).toContain("stayed on hold");
  // An unknown value.
  expect(shown(false) + shown(true)).not.toContain("—");
});

it.each([
  [{}, "🟢 Back: Fjord, after 40 min", false],
  [{ isBackEarlier: true }, "🟢 Back: Fjord", true],
])("a silence that is over names no duration that was not seen: %j", (more, news, isUnsure) => {
  const silence = {
    kind: "silent" as const,
    channelId: "1",
    subject: "s",
    validator: "Fjord",
    since: NOW - 40 * MINUTE,
  };
  const view = silenceView({ ...silence, endedAt: NOW, revision: 2, after: 1, level: 1, ...more }, known, "");
  expect(`${view.notification}`).toBe(news);
  expect(`${view.body?.join(" ")}`.includes("may have been back earlier")).toBe(isUnsure);
});

it.each([
  ["a channel", null, false, "ping"],
  ["a channel, if somebody is on it", null, true, "normal"],
  ["a person's own watch", "1", false, "ping"],
  ["a person's own watch, if they are on it", "1", true, "silent"],
] as const)("news of a silence that lasts is told to %s", (_, userId, isCalm, loudness) => {
  const event = { kind: "worse", channelId: "2", validator: "a", since: 1, level: 2, isCalm } as const;
  expect(loudnessOf(event, [{ userId } as Subscription])).toBe(loudness);
});
