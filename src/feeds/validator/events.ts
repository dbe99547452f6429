import * as z from "zod";
import type { Loudness } from "../../delivery/feed.js";
import type { ValidatorTopic } from "./topics.js";

const timestampSchema = z.number();
const placeFields = { channelId: z.string() };
const oneFields = { ...placeFields, validator: z.string() };
/** An alert's: when the validator was last seen before it. */
const alertSchema = { ...oneFields, since: timestampSchema };
const laterFields = {
  /** True if it was acknowledged or snoozed, so that it does not ping. */
  isCalm: z.boolean().optional(),
  /** Of many: those that are silent still. */
  members: z.array(z.string()).optional(),
};

const validatorEventSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("silent"), ...alertSchema }),
  z.object({ kind: z.literal("worse"), ...alertSchema, level: z.number(), ...laterFields }),
  /** A snooze is over, and it is silent still. */
  z.object({ kind: z.literal("again"), ...alertSchema, until: timestampSchema, ...laterFields }),
  z.object({ kind: z.literal("back"), ...alertSchema, at: timestampSchema }),
  /** The explorer no longer lists it. */
  z.object({ kind: z.literal("gone"), ...alertSchema }),
  z.object({ kind: z.literal("many"), ...placeFields, since: timestampSchema, members: z.array(z.string()) }),
  z.object({ kind: z.literal("hold"), ...placeFields, since: timestampSchema }),
  z.object({
    kind: z.literal("version"),
    ...oneFields,
    target: z.string(),
    running: z.string().nullable(),
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

/** Something to be told of a watched validator, or of all of a channel's, to one channel. */
export type ValidatorEvent = z.infer<typeof validatorEventSchema>;

/** An event from JSON; undefined if it is none. */
export const readEvent = (json: unknown): ValidatorEvent | undefined =>
  validatorEventSchema.safeParse(json).data;

/** Used instead of a validator for alerts about many. */
export const MANY = "many";

/** Names a silence's messages; so do the two below for what concerns all of a channel's. */
export const silenceOf = (validator: string, since: number): string => `${validator}/${since}`;
export const manySubject = (since: number): string => silenceOf(MANY, since);
export const holdSubject = (since: number): string => `hold/${since}`;

/** Returns the subject of an event's message, if later events can follow up on it. */
export function subjectOf(event: ValidatorEvent): string | undefined {
  switch (event.kind) {
    case "many":
      return manySubject(event.since);
    case "hold":
      return holdSubject(event.since);
    case "version":
    case "traffic":
      return undefined;
    default:
      return silenceOf(event.validator, event.since);
  }
}

/** True if it begins a message that is kept up to date. */
export const begins = ({ kind }: ValidatorEvent): boolean =>
  kind === "silent" || kind === "many" || kind === "hold";

/** The id of the event that begins a subject's message. */
export const beginningOf = (subject: string): string => `${subject}:begins`;

/** The same event always has the same id. */
export function eventId(event: ValidatorEvent): string {
  const subject = subjectOf(event);
  if (subject !== undefined && begins(event)) return beginningOf(subject);
  switch (event.kind) {
    case "worse":
      return `${subject}:worse:${event.level}`;
    case "again":
      return `${subject}:again:${event.until}`;
    case "version":
      return `${event.validator}:version:${event.target}`;
    case "traffic":
      return `${event.validator}:traffic:${event.sequence}`;
    default:
      return `${subject}:${event.kind}`;
  }
}

/** Urgent events ping, and unimportant ones are silent. */
export function loudnessOf(event: ValidatorEvent): Loudness {
  switch (event.kind) {
    case "worse":
    case "again":
      return event.isCalm ? "normal" : "ping";
    case "back":
    case "hold":
      return "silent";
    case "version":
      return "normal";
    default:
      return "ping";
  }
}

/** The topic of each kind of event. */
export const topicOf = ({ kind }: ValidatorEvent): ValidatorTopic =>
  kind === "version" || kind === "traffic" ? kind : "silent";
