import { DiscordAPIError } from "discord.js";
import { describe, expect, it } from "vitest";
import type { Announced } from "../../src/delivery/collections.js";
import {
  backoffMs,
  dueAt,
  type FailureResult,
  type MessageStep,
  nextStep,
  resultOf,
} from "../../src/delivery/decisions.js";
import { afterFailedEdit } from "../../src/delivery/edits.js";
import type { PostProblem } from "../../src/discord/problems.js";
import { DAY, HOUR, MINUTE, SECOND } from "../../src/util/units.js";

const NOW = Date.UTC(2026, 10, 23, 12);

describe("a delivery is due", () => {
  const claim = (epoch: number, deadline: number) => ({ epoch, at: 0, deadline });
  it.each<[string, Parameters<typeof dueAt>[0], number]>([
    ["at once", { notBefore: 0 }, 0],
    ["at its time", { notBefore: NOW + MINUTE }, NOW + MINUTE],
    ["at once if a wrong clock set its time", { notBefore: NOW + 2 * HOUR + 1 }, 0],
    ["at once if the claim is this process's own", { notBefore: 0, claim: claim(7, NOW + MINUTE) }, 0],
    [
      "two seconds after another process's claim has ended",
      { notBefore: 0, claim: claim(6, NOW + MINUTE) },
      NOW + MINUTE + 2 * SECOND,
    ],
    ["at the later of both times", { notBefore: NOW + HOUR, claim: claim(6, NOW + MINUTE) }, NOW + HOUR],
  ])("%s", (_, delivery, expected) => {
    expect(dueAt(delivery, 7, NOW)).toBe(expected);
  });
});

it.each([
  [0, 0, 750],
  [0, 1, 1_250],
  [3, 0.5, 8_000],
  [9, 0.5, 512_000],
  [10, 0.5, 15 * MINUTE],
  [200, 1, 15 * MINUTE * 1.25],
])("attempt %i with random value %d is retried after %i ms", (attempts, chance, expected) => {
  expect(backoffMs(attempts, chance)).toBe(expected);
});

describe("a failed delivery", () => {
  const cases: readonly [PostProblem, Partial<Parameters<typeof resultOf>[0]>, FailureResult][] = [
    ["deleted-by-somebody", {}, "arrived"],
    ["deleted-by-somebody", { hasThread: true }, "arrived"],
    ["deleted-by-somebody", { isSending: false }, "retry"],
    ["channel-deleted", {}, "drop-channel"],
    ["channel-deleted", { hasThread: true }, "stand-alone"],
    ["channel-deleted", { ageMs: 2 * DAY }, "drop-channel"],
    ["permanent", {}, "pause"],
    ["permanent", { hasThread: true }, "stand-alone"],
    ["permanent", { ageMs: DAY }, "pause"],
    ["permanent", { ageMs: DAY + 1 }, "give-up"],
    ["no-access", {}, "pause"],
    ["no-access", { hasThread: true }, "stand-alone"],
    ["no-access", { hasThread: true, ageMs: 2 * DAY }, "stand-alone"],
    ["invalid", {}, "give-up"],
    ["invalid", { hasThread: true }, "give-up"],
    ["refused-for-now", {}, "retry"],
    ["refused-for-now", { hasThread: true }, "retry"],
    ["refused-for-now", { ageMs: DAY + 1 }, "give-up"],
    ["unknown", {}, "retry"],
    ["unknown", { isSending: false }, "retry"],
    ["unknown", { ageMs: DAY + 1 }, "give-up"],
  ];
  it.each(cases)("for %s with %j ends as %s", (problem, given, expected) => {
    expect(resultOf({ problem, isSending: true, hasThread: false, ageMs: 0, ...given })).toBe(expected);
  });
});

/** Returns the document of a delivered message. */
const document = (given: Partial<Announced> = {}): Announced => ({
  feed: "tides",
  subject: "bay",
  channelId: "1",
  news: false,
  messageId: "2",
  in: "1",
  at: NOW - HOUR,
  revision: 3,
  ...given,
});

describe("a delivered message", () => {
  const { revision: _, ...uneditable } = document();
  const open = { revision: 3, endedAt: null };
  const changed = { revision: 4, endedAt: null };
  const ended = { revision: 4, endedAt: NOW - MINUTE };
  const wait = (until: number): MessageStep => ({ kind: "wait", until });
  const kind = (each: Exclude<MessageStep["kind"], "wait">): MessageStep => ({ kind: each });
  const cases: readonly [string, Partial<Parameters<typeof nextStep>[0]>, MessageStep][] = [
    ["is up to date", { subject: open }, kind("none")],
    ["is edited if its subject has changed", { subject: changed }, kind("edit")],
    ["is not edited if a person deleted it", { document: uneditable, subject: changed }, kind("none")],
    ["waits while new messages are sent", { subject: changed, mayEdit: false }, wait(NOW)],
    [
      "is edited at most every five minutes",
      { document: document({ editedAt: NOW - 2 * MINUTE }), subject: changed },
      wait(NOW + 3 * MINUTE),
    ],
    [
      "is edited after five minutes",
      { document: document({ editedAt: NOW - 5 * MINUTE }), subject: changed },
      kind("edit"),
    ],
    [
      "is edited at once if its subject has ended",
      { document: document({ editedAt: NOW - MINUTE }), subject: ended },
      kind("edit"),
    ],
    [
      "is edited at once if a person has answered since its last edit",
      {
        document: document({ editedAt: NOW - MINUTE }),
        subject: { ...changed, answeredAt: NOW - MINUTE + 1 },
      },
      kind("edit"),
    ],
    [
      "waits if it shows the person's last answer",
      { document: document({ editedAt: NOW - MINUTE }), subject: { ...changed, answeredAt: NOW - MINUTE } },
      wait(NOW + 4 * MINUTE),
    ],
    [
      "waits as long as Discord asks",
      { document: document({ notBefore: NOW + MINUTE }), subject: ended },
      wait(NOW + MINUTE),
    ],
    [
      "does not wait for a time that a wrong clock set",
      { document: document({ notBefore: NOW + 3 * HOUR }), subject: changed },
      kind("edit"),
    ],
    [
      "gets its thread first",
      { document: document({ todo: ["thread"] }), subject: changed },
      kind("follow-up"),
    ],
    [
      "gets its thread although its subject is unknown",
      { document: document({ todo: ["thread"] }), subject: undefined },
      kind("follow-up"),
    ],
    [
      "waits with its thread as long as Discord asks",
      { document: document({ todo: ["thread"], todoNotBefore: NOW + 1 }), subject: open },
      wait(NOW + 1),
    ],
    [
      "is edited while its thread waits",
      { document: document({ todo: ["thread"], todoNotBefore: NOW + 1 }), subject: changed },
      kind("edit"),
    ],
    [
      "waits for the earlier of its thread and its edit",
      {
        document: document({ todo: ["thread"], todoNotBefore: NOW + 1, notBefore: NOW + 2 }),
        subject: changed,
      },
      wait(NOW + 1),
    ],
    [
      "opens its thread at the time that Discord asked for",
      { document: document({ todo: ["thread"], todoNotBefore: NOW }), subject: changed },
      kind("follow-up"),
    ],
    [
      "is edited at the time that Discord asked for",
      { document: document({ notBefore: NOW }), subject: changed },
      kind("edit"),
    ],
    [
      "waits for its thread rather than for its next edit",
      { document: document({ todo: ["thread"], todoNotBefore: NOW + 1, editedAt: NOW }), subject: changed },
      wait(NOW + 1),
    ],
    [
      "is shown as ended at the time that Discord asked for",
      { document: document({ notBefore: NOW }), subject: undefined },
      kind("retire"),
    ],
    ["is shown as ended once if its subject is unknown", { subject: undefined }, kind("retire")],
    [
      "is shown as ended later if Discord refused that for now",
      { document: document({ notBefore: NOW + MINUTE }), subject: undefined },
      wait(NOW + MINUTE),
    ],
    [
      "keeps saying how its subject ended if that is unknown now",
      { document: document({ isOver: true }), subject: undefined },
      kind("forget"),
    ],
    [
      "is forgotten if its subject is unknown and it is old",
      { document: document({ at: NOW - 30 * DAY }), subject: undefined },
      kind("forget"),
    ],
    [
      "is shown as ended until it is a month old",
      { document: document({ at: NOW - 30 * DAY + 1 }), subject: undefined },
      kind("retire"),
    ],
    [
      "is forgotten if its subject is unknown and it cannot be edited",
      { document: uneditable, subject: undefined },
      kind("forget"),
    ],
    ["stays if its feed never edits", { isLasting: false, subject: undefined }, kind("none")],
    [
      "is forgotten a month after its subject has ended",
      { subject: { revision: 3, endedAt: NOW - 30 * DAY - 1 } },
      kind("forget"),
    ],
    [
      "is kept for a month after its subject has ended",
      { subject: { revision: 3, endedAt: NOW - 30 * DAY } },
      kind("none"),
    ],
  ];
  it.each(cases)("%s", (_, given, expected) => {
    const message = { document: document(), isLasting: true, subject: undefined, mayEdit: true, ...given };
    expect(nextStep(message, NOW)).toEqual(expected);
  });
});

describe("a message after an edit that Discord refused", () => {
  const refused = (status: number, code: number) =>
    new DiscordAPIError({ message: "no", code }, code, status, "PATCH", "https://discord.example", {});
  it.each([
    ["is edited later if somebody has hidden the channel", 403, 50_001, DAY, NOW + HOUR],
    ["is given up a week after its last edit", 403, 50_001, 7 * DAY, undefined],
    ["is given up if Discord never accepts it", 400, 50_035, 0, undefined],
    ["is given up if somebody deleted it", 404, 10_008, 0, undefined],
  ] as const)("%s", (_, status, code, ageMs, notBefore) => {
    const edited = document({ at: NOW - 30 * DAY, editedAt: NOW - ageMs });
    const after = afterFailedEdit(edited, refused(status, code), NOW);
    expect([after.notBefore, after.revision]).toEqual([notBefore, notBefore && 3]);
  });
});
