import * as z from "zod";
import { timestampSchema } from "../../storage/timestamp.js";

/** Maximum number of items of a kind that a digest names. The others are only counted. */
export const MAX_NAMED = 5;

const several = <Item extends z.ZodType>(item: Item) => z.object({ count: z.number(), named: z.array(item) });
/** Default of a list that events of earlier versions do not have. */
const NONE = { count: 0, named: [] };
const request = z.object({ id: z.string(), title: z.string() });

/** The content of a digest: everything that happened in a period. */
export const facts = z.object({
  opened: several(request),
  /** The status is null if the outcome is unknown. */
  closed: several(
    request.extend({
      status: z.string().nullable(),
      yes: z.number().nullable().default(null),
      no: z.number().nullable().default(null),
    }),
  ),
  /** Open requests that were decided within the period. */
  decided: several(request.extend({ words: z.string() })).default(NONE),
  /** Open requests that are overdue, however long. */
  overdue: several(request).default(NONE),
  /** Name of the next date. Missing in events of earlier versions. */
  soon: several(request.extend({ until: timestampSchema, date: z.string().optional() })),
  /** Time from which endings of votes are known (epoch ms), if that is later than the start of the period. */
  votesSince: timestampSchema.optional(),
  /** Time of the last complete read of the votes (epoch ms), if it was before the end of the period. */
  votesReadAt: timestampSchema.optional(),
  /** Number of votes cast on closed requests, and of votes that could have been cast. */
  participation: z.object({ cast: z.number(), all: z.number() }).nullable(),
  /** null if the validators have never been read. */
  validators: z
    .object({
      joined: several(z.string()),
      silent: several(z.string()),
      back: several(z.string()),
      /** Time from which validators are known (epoch ms), if that is later than the start of the period. */
      since: timestampSchema.optional(),
      /** Time within the period during which they could not be read, in ms. */
      unreadMs: z.number().optional(),
    })
    .nullable(),
  /** The most common version now and before. */
  version: z.object({ now: z.string(), percent: z.number(), before: z.string().nullable() }).nullable(),
  /** USD. `since` is the time of the first price (epoch ms) if that is later than the start of the period. */
  price: z.object({ from: z.string(), to: z.string(), since: timestampSchema.optional() }).nullable(),
  /** Time of the accepted upgrade of the network that is ahead, or was due within the period, epoch ms. */
  upgradeAt: timestampSchema.optional(),
  /** Since when the network stands still, epoch ms. */
  stillSince: timestampSchema.optional(),
});

/** The content of a digest. */
export type Facts = Readonly<z.infer<typeof facts>>;

/** Time range in epoch ms. Its start is exclusive: an event at that moment belongs to the period before. */
export interface TimeRange {
  readonly since: number;
  readonly until: number;
}

/** Period of a digest, and the server that receives it. */
export interface DigestScope extends TimeRange {
  /** Time when the next digest is due, epoch ms. */
  readonly nextAt: number;
  readonly guildId: string | null;
}

/** True if a time lies within a range. */
export const isWithin = (at: number | undefined, { since, until }: TimeRange): boolean =>
  at !== undefined && at > since && at <= until;

/** Facts about vote requests, which are the same for all servers. */
export type VoteFacts = Pick<
  Facts,
  "opened" | "closed" | "decided" | "overdue" | "soon" | "participation" | "votesSince" | "votesReadAt"
>;

/** Returns the number of items, and the first `MAX_NAMED` of them. */
export const listOf = <T>(all: readonly T[]) => ({ count: all.length, named: all.slice(0, MAX_NAMED) });
