import * as z from "zod";
import type { Subscription } from "../../delivery/collections.js";
import type { Loudness } from "../../delivery/feed.js";
import { timestampSchema } from "../../storage/timestamp.js";
import type { ValidatorTopic } from "./topics.js";

const placeFields = { channelId: z.string() };
const oneFields = {
  ...placeFields,
  validator: z.string(),
  /** Subject of the subscription: the names may not show yet, or no longer, that a validator belongs to its group. */
  subject: z.string().optional(),
};
/** Fields of events about an alert. `since` is the last report before it. */
const alertSchema = { ...oneFields, since: timestampSchema };
const groupFields = {
  /** True if one of them belongs to all super validators: the lists may not show that now. */
  isOfAll: z.boolean().optional(),
};
const laterFields = {
  /** True if the alert has been taken, so that the event does not ping. */
  isCalm: z.boolean().optional(),
  /** For a group, the members that are still silent. */
  members: z.array(z.string()).optional(),
  ...groupFields,
};
/** Fields of the same news about several validators, of whom `validator` is the first (together.ts). */
const sharedFields = {
  members: z.array(z.string()).optional(),
  /** Time of the poll that found them. */
  toldAt: timestampSchema.optional(),
  ...groupFields,
};

const validatorEventSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("silent"), ...alertSchema }),
  z.object({ kind: z.literal("worse"), ...alertSchema, level: z.number(), ...laterFields }),
  /** The snooze has ended, and the validator is still silent. */
  z.object({ kind: z.literal("again"), ...alertSchema, until: timestampSchema, ...laterFields }),
  /** `isBackEarlier`: see the alert. */
  z.object({
    kind: z.literal("back"),
    ...alertSchema,
    at: timestampSchema,
    isBackEarlier: z.boolean().optional(),
  }),
  /** The explorer no longer lists the validator. */
  z.object({ kind: z.literal("gone"), ...alertSchema, isCalm: z.boolean().optional(), ...sharedFields }),
  /** The explorer lists the validator again. `since` is the time when it no longer did. */
  z.object({ kind: z.literal("listed"), ...alertSchema, ...sharedFields }),
  /** A validator that another team watches belongs to a group that was told before. `since` is when it was told. */
  z.object({ kind: z.literal("joined"), ...alertSchema }),
  z.object({
    kind: z.literal("many"),
    ...placeFields,
    since: timestampSchema,
    members: z.array(z.string()),
    ...groupFields,
  }),
  z.object({
    kind: z.literal("hold"),
    ...placeFields,
    since: timestampSchema,
    /** True if the network stands still. */
    isStandstill: z.boolean().optional(),
  }),
  /** The rounds advance again. `since` is the start of the standstill. */
  z.object({
    kind: z.literal("moving"),
    ...placeFields,
    since: timestampSchema,
    at: timestampSchema,
    round: z.number(),
    /** True if the rounds may have advanced before the bot read the newest one. */
    isLate: z.boolean().optional(),
  }),
  z.object({
    kind: z.literal("version"),
    ...oneFields,
    target: z.string(),
    running: z.string().nullable(),
    ...sharedFields,
  }),
  /** The validator is behind shortly before an upgrade of the network. */
  z.object({
    kind: z.literal("upgrade"),
    ...oneFields,
    upgradeAt: timestampSchema,
    /** The time that the last warning named, if the upgrade was moved since. */
    movedFrom: timestampSchema.optional(),
    days: z.number(),
    target: z.string(),
    running: z.string(),
    ...sharedFields,
  }),
  /** The upgrade that a person was warned of is now at another time, or cancelled. */
  z.object({
    kind: z.literal("rescheduled"),
    ...oneFields,
    /** Time of the upgrade that the warning named. */
    warnedOf: timestampSchema,
    /** The new time. Missing if the upgrade is cancelled. */
    upgradeAt: timestampSchema.optional(),
    /** When the vote that changed it took effect. */
    decidedAt: timestampSchema,
    ...sharedFields,
  }),
  z.object({
    kind: z.literal("traffic"),
    ...oneFields,
    percent: z.number(),
    sequence: z.number(),
    /** In bytes. Missing in events of earlier versions. */
    used: z.string().optional(),
    bought: z.string().optional(),
  }),
]);

/** An event for one channel, about one or all of its watched validators. */
export type ValidatorEvent = z.infer<typeof validatorEventSchema>;

/** Parses an event. `undefined` if it is invalid. */
export const readEvent = (json: unknown): ValidatorEvent | undefined =>
  validatorEventSchema.safeParse(json).data;

/** Used instead of a validator in group alerts. */
export const MANY = "many";
/** Used instead of a validator in alerts about a hold. */
const HOLD = "hold";

/** Returns the subject of a silence's messages. The functions below do the same for alerts about a whole channel. */
export const silenceOf = (validator: string, since: number): string => `${validator}/${since}`;
export const manySubject = (since: number): string => silenceOf(MANY, since);
export const holdSubject = (since: number): string => silenceOf(HOLD, since);

/** Returns the validator that a message's subject is about. `undefined` if it is about a whole channel. */
export function validatorIn(subject: string): string | undefined {
  const validator = subject.slice(0, subject.lastIndexOf("/"));
  return validator === MANY || validator === HOLD ? undefined : validator;
}

/** Returns the validators that an event is about. Empty if it is about the network, or an earlier version did not store them. */
export function validatorsOf(event: ValidatorEvent): readonly string[] {
  if ("members" in event && event.members) return event.members;
  return "validator" in event && event.validator !== MANY ? [event.validator] : [];
}

/** Returns the subject of an event's message. `undefined` if there are no later events about it. */
export function subjectOf(event: ValidatorEvent): string | undefined {
  switch (event.kind) {
    case "many":
    case "joined":
      return manySubject(event.since);
    case "hold":
    case "moving":
      return holdSubject(event.since);
    case "listed":
    case "version":
    case "upgrade":
    case "rescheduled":
    case "traffic":
      return undefined;
    case "gone":
      return event.members ? undefined : silenceOf(event.validator, event.since);
    default:
      return silenceOf(event.validator, event.since);
  }
}

/** True if the event creates a message that is edited later. */
export const begins = (
  event: ValidatorEvent,
): event is Extract<ValidatorEvent, { kind: "silent" | "many" | "hold" }> =>
  event.kind === "silent" || event.kind === "many" || event.kind === "hold";

/** Returns the id of the event that creates a subject's message. */
export const beginningOf = (subject: string): string => `${subject}:begins`;

/** Returns an event's id. The same event always has the same id. */
export function eventId(event: ValidatorEvent): string {
  const subject = subjectOf(event);
  // A poll finds one event of a kind for each member at most.
  if ("toldAt" in event && event.toldAt !== undefined)
    return `${event.validator}:${event.kind}:${event.toldAt}`;
  if (subject !== undefined && begins(event)) return beginningOf(subject);
  switch (event.kind) {
    case "worse":
      return `${subject}:worse:${event.level}`;
    case "again":
      return `${subject}:again:${event.until}`;
    case "listed":
      return `${event.validator}:listed:${event.since}`;
    case "joined":
      return `${subject}:joined:${event.validator}`;
    case "version":
      return `${event.validator}:version:${event.target}`;
    case "upgrade":
      return `${event.validator}:upgrade:${event.upgradeAt}:${event.days}`;
    case "rescheduled":
      return `${event.validator}:rescheduled:${event.decidedAt}`;
    case "traffic":
      return `${event.validator}:traffic:${event.sequence}`;
    default:
      return `${subject}:${event.kind}`;
  }
}

/** Returns how loud an event's message is. Urgent events ping, unimportant ones send no notification. */
export function loudnessOf(event: ValidatorEvent, recipients: readonly Subscription[]): Loudness {
  switch (event.kind) {
    case "worse":
    case "again":
    case "gone":
      if (!event.isCalm) return "ping";
      // A person who has taken the alert of their own watch knows about it.
      return recipients.every(({ userId }) => userId !== null) ? "silent" : "normal";
    case "hold":
      return event.isStandstill ? "ping" : "silent";
    case "back":
    case "listed":
      return "silent";
    case "version":
    case "rescheduled":
    case "moving":
      return "normal";
    default:
      return "ping";
  }
}

/** Returns the topic of an event. */
export function topicOf({ kind }: ValidatorEvent): ValidatorTopic {
  if (kind === "upgrade" || kind === "rescheduled") return "version";
  return kind === "version" || kind === "traffic" ? kind : "silent";
}
