import * as z from "zod";
import type { Loudness } from "../../delivery/feed.js";
import { timestampSchema } from "../../storage/timestamp.js";
import type { Upgrade } from "./collections.js";

const upgradeFields = {
  /** The upgrade, as stored. */
  subject: z.string(),
  upgradeAt: timestampSchema,
  freezeAt: timestampSchema.nullable(),
};

/** Steps of which people are reminded: a day and an hour before the freeze, and the upgrade itself. */
export const STEPS = ["day", "hour", "upgrade"] as const;
export type ReminderStep = (typeof STEPS)[number];

const upgradeEventSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("scheduled"), ...upgradeFields }),
  z.object({
    kind: z.literal("moved"),
    ...upgradeFields,
    movedFrom: timestampSchema,
    /** Number of the move. An upgrade may be moved to the same time twice. */
    move: z.number(),
  }),
  z.object({ kind: z.literal("cancelled"), ...upgradeFields }),
  z.object({
    kind: z.literal("reminder"),
    ...upgradeFields,
    step: z.enum(STEPS),
    /** Time when the vote requests were last read, epoch ms, if the explorer has not given them for an hour. */
    readAt: timestampSchema.optional(),
  }),
  /** The rounds have advanced for the first time after the upgrade time. */
  z.object({
    kind: z.literal("advancing"),
    ...upgradeFields,
    round: z.number(),
    at: timestampSchema,
    /** True if rounds may have advanced before the bot read the first one. */
    isLate: z.boolean().optional(),
  }),
  z.object({ kind: z.literal("still"), subject: z.string(), round: z.number(), since: timestampSchema }),
  z.object({
    kind: z.literal("moving"),
    subject: z.string(),
    round: z.number(),
    since: timestampSchema,
    at: timestampSchema,
    /** True if the rounds may have advanced before the bot read the newest one. */
    isLate: z.boolean().optional(),
  }),
]);

/** An event about the network's upgrade, or about its rounds. */
export type UpgradeEvent = z.infer<typeof upgradeEventSchema>;

/** Parses an event. `undefined` if it is invalid. */
export const readEvent = (json: unknown): UpgradeEvent | undefined => upgradeEventSchema.safeParse(json).data;

/** True if the event creates a message that is edited later. */
export const begins = (
  event: UpgradeEvent,
): event is Extract<UpgradeEvent, { kind: "scheduled" | "still" }> =>
  event.kind === "scheduled" || event.kind === "still";

/** Returns the id of the event that creates a subject's message. */
export const beginningOf = (subject: string): string => `${subject}:begins`;

/** Returns an event's id. The same event always has the same id. */
export function eventId(event: UpgradeEvent): string {
  if (begins(event)) return beginningOf(event.subject);
  if (event.kind === "moved") return `${event.subject}:moved:${event.move}`;
  if (event.kind === "reminder") return `${event.subject}:${reminderKey(event.step, event)}`;
  return `${event.subject}:${event.kind}`;
}

/** The times of an upgrade, epoch ms. */
export type UpgradeTimes = Pick<Upgrade, "upgradeAt" | "freezeAt">;

/** Returns the time that a reminder is about, epoch ms. */
export const timeOfStep = (step: ReminderStep, { upgradeAt, freezeAt }: UpgradeTimes): number =>
  step === "upgrade" ? upgradeAt : (freezeAt ?? upgradeAt);

/** Identifies a reminder. A moved upgrade has new reminders. */
export const reminderKey = (step: ReminderStep, times: UpgradeTimes): string =>
  `${step}:${timeOfStep(step, times)}`;

/** Returns how loud an event's message is. Changes of the schedule and the last reminder ping. */
export function loudnessOf(event: UpgradeEvent): Loudness {
  switch (event.kind) {
    case "advancing":
    case "moving":
      return "normal";
    case "reminder":
      return event.step === "hour" ? "ping" : "normal";
    default:
      return "ping";
  }
}
