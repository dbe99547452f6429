import * as z from "zod";
import { type VoteRequestListItem, voteRequestListItem } from "../../explorer/schema/governance.js";
import { statusGroup } from "../../ledger/vote-rules.js";
import { timestampSchema } from "../../storage/timestamp.js";
import { termsSchema } from "./collections.js";
import type { GovernanceTopic } from "./topics.js";

const governanceEventSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("opened"), key: z.string(), row: voteRequestListItem }),
  z.object({
    kind: z.literal("digest"),
    keys: z.array(z.string()).min(1),
    rows: z.array(voteRequestListItem),
    /**
     * Time of the last complete read of the list (epoch ms), so that the requests opened after it. null in
     * events of versions that did not store it.
     */
    since: timestampSchema.nullable().default(null),
  }),
  /** A request that opened and ended while the bot was offline. */
  z.object({ kind: z.literal("missed"), key: z.string(), row: voteRequestListItem }),
  z.object({
    kind: z.literal("changed"),
    key: z.string(),
    sequence: z.number(),
    from: termsSchema,
    to: termsSchema,
  }),
  /** New and changed votes in one read. */
  z.object({
    kind: z.literal("votes"),
    key: z.string(),
    /** Sequence number of the last of these votes. */
    sequence: z.number(),
    votes: z.array(
      z.object({
        voter: z.string(),
        /** The voter's party, if its name is not its party. Another voter may have the same name. */
        party: z.string().exactOptional(),
        from: z.boolean().nullable(),
        to: z.boolean().nullable(),
      }),
    ),
  }),
  z.object({
    kind: z.literal("reminder"),
    key: z.string(),
    /** `<deadline>:<before>`, both in ms. */
    reminder: z.string(),
    /** All reminders that became due together. A subscription gets only the last one that matches its times. */
    due: z.array(z.string()).optional(),
    /** Time when the request was opened, epoch ms. Reminders of a short request are scaled. */
    openedAt: timestampSchema.nullable().optional(),
    /** Time when the bot first saw the request, epoch ms. */
    seenAt: timestampSchema.optional(),
    /** True if the request is open for less than two days. Its reminders ping. */
    isShort: z.boolean().optional(),
  }),
  /** The request was accepted and its dates have passed, but it has not been carried out. */
  z.object({ kind: z.literal("overdue"), key: z.string(), since: timestampSchema.nullable() }),
  /** One side has enough votes. */
  z.object({
    kind: z.literal("decided"),
    key: z.string(),
    way: z.enum(["yes", "no"]),
    votes: z.number(),
    needed: z.number(),
    /** Number of earlier decisions of this request that were withdrawn. */
    sequence: z.number().optional(),
  }),
  /** Votes have changed, or more are needed, and there are no longer enough. */
  z.object({
    kind: z.literal("undecided"),
    key: z.string(),
    way: z.enum(["yes", "no"]),
    votes: z.number(),
    needed: z.number(),
    sequence: z.number(),
    /** True if no vote was lost, and there are more super validators than at the decision. */
    isMoreNeeded: z.boolean().optional(),
  }),
  /** Its end was a mistake of the explorer. */
  z.object({ kind: z.literal("reopened"), key: z.string(), at: timestampSchema }),
  z.object({
    kind: z.literal("closed"),
    key: z.string(),
    status: z.string().nullable(),
    /** Set if another outcome was announced before: since when the explorer states this one, or no end, epoch ms. */
    correctedAt: timestampSchema.optional(),
  }),
]);

/** An event about one or more vote requests that subscriptions can receive. */
export type GovernanceEvent = Readonly<z.infer<typeof governanceEventSchema>>;

/** Events of one vote request, which refer to its announcement. */
export type News = Exclude<GovernanceEvent, { kind: "opened" | "digest" | "missed" }>;

/** Event of earlier versions, which had one for each vote. */
const singleVote = z
  .object({
    kind: z.literal("vote"),
    key: z.string(),
    sequence: z.number(),
    voter: z.string(),
    from: z.boolean().nullable(),
    to: z.boolean().nullable(),
  })
  .transform(
    ({ kind, key, sequence, ...vote }): GovernanceEvent => ({ kind: "votes", key, sequence, votes: [vote] }),
  );

/** A reminder of one of a request's deadlines. */
export type Reminder = Extract<GovernanceEvent, { kind: "reminder" }>;

/** Parses an event from the outbox. `undefined` if it is invalid. */
export const readEvent = (json: unknown): GovernanceEvent | undefined =>
  z.union([governanceEventSchema, singleVote]).safeParse(json).data;

const TOPIC_OF: Readonly<Record<Exclude<GovernanceEvent["kind"], "digest" | "missed">, GovernanceTopic>> = {
  opened: "new",
  changed: "changes",
  votes: "votes",
  reminder: "reminders",
  decided: "decided",
  undecided: "decided",
  overdue: "overdue",
  reopened: "outcome",
  closed: "outcome",
};

/** Returns an event's topics. A message about a new request that has ended states the outcome, too. */
export function topicOf(event: GovernanceEvent): readonly GovernanceTopic[] {
  if (event.kind === "missed") return ["new", "outcome"];
  if (event.kind !== "digest") return [TOPIC_OF[event.kind]];
  return event.rows.some(hasEnded) ? ["new", "outcome"] : ["new"];
}

/** True if a row of a digest states the outcome. */
export const hasEnded = ({ status }: Pick<VoteRequestListItem, "status">): boolean =>
  !["open", "other"].includes(statusGroup(status));

/** Returns the keys of a digest's rows that state the outcome. */
export const endedKeys = ({ keys, rows }: GovernanceEvent & { kind: "digest" }): readonly string[] =>
  keys.filter((_, index) => rows[index] !== undefined && hasEnded(rows[index]));

/** Returns the id of the event that announces a vote request. */
export const openingOf = (key: string): string => `${key}:opened`;

/** Returns an event's id. The same event always has the same id. */
export function eventId(event: GovernanceEvent): string {
  switch (event.kind) {
    case "opened":
      return openingOf(event.key);
    case "closed":
      return [event.key, "closed", event.correctedAt].filter((part) => part !== undefined).join(":");
    case "missed":
      return `${event.key}:missed`;
    case "reopened":
      return `${event.key}:reopened:${event.at}`;
    case "overdue":
      // With other dates, a request may be overdue again.
      return `${event.key}:overdue:${event.since ?? ""}`;
    case "digest":
      return `${event.keys.join("+").slice(0, 200)}:digest`;
    case "changed":
    case "votes":
      return `${event.key}:${event.kind}:${event.sequence}`;
    case "decided":
      return `${event.key}:decided:${event.way}${event.sequence ? `:${event.sequence}` : ""}`;
    case "undecided":
      return `${event.key}:undecided:${event.way}:${event.sequence}`;
    case "reminder":
      return `${event.key}:reminder:${event.reminder}`;
  }
}

/** Returns the reminder in a subject that is the id of a reminder event, otherwise `undefined`. */
export function reminderOf(subject: string): Reminder | undefined {
  const [, key, reminder] = /^(.+?):reminder:(\d+:\d+)$/.exec(subject) ?? [];
  return key !== undefined && reminder !== undefined ? { kind: "reminder", key, reminder } : undefined;
}

/**
 * Returns the id of a reminder.
 * @param deadline epoch ms
 * @param before ms before the deadline
 */
export const reminderId = (deadline: number, before: number): string => `${deadline}:${before}`;

/** Returns the deadline of a reminder, epoch ms. */
export const deadlineOf = (reminder: string): number => Number(reminder.split(":")[0]);

/** Returns the time between a reminder and its deadline, in ms. */
export const beforeOf = (reminder: string): number => Number(reminder.split(":")[1]);

/** Returns the keys of the vote requests that an event is about. */
export const keysOf = (event: GovernanceEvent): readonly string[] =>
  event.kind === "digest" ? event.keys : [event.key];
