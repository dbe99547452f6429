import * as z from "zod";
import { type DocumentOf, defineCollection } from "../storage/collection.js";
import { timestampSchema } from "../storage/timestamp.js";
import { inPieces } from "../util/event-loop.js";

/** A vote request's change of the network's upgrade schedule, epoch ms. null removes a time. */
export const upgradeChangeSchema = z.object({
  upgradeAt: timestampSchema.nullable().exactOptional(),
  freezeAt: timestampSchema.nullable().exactOptional(),
  olderUpgradeAt: timestampSchema.nullable().exactOptional(),
});

const entrySchema = z.object({
  id: z.string(),
  name: z.string().nullable(),
  /**
   * True for an active validator or an open request. False for an inactive or closed one, or a former super validator. null if
   * unknown.
   */
  active: z.boolean().nullable(),
  /** The validator's software version. */
  version: z.string().nullable().exactOptional(),
  /** Time of a validator's last report, epoch ms. */
  seenAt: timestampSchema.nullable().exactOptional(),
  /** Status and deadline of a vote request. They tell requests with the same name apart better than an id. */
  note: z.string().exactOptional(),
  /** A vote request's requester, and when it was opened (epoch ms). They tell requests with the same name apart. */
  requester: z.string().exactOptional(),
  openedAt: timestampSchema.exactOptional(),
  /** Constructor of a vote request's action, from its detail. Empty if the detail has none. */
  action: z.string().exactOptional(),
  /** A vote request's change of the network's upgrade schedule; null if it has none. Missing if the request was not read. */
  upgradeChange: upgradeChangeSchema.nullable().exactOptional(),
  /** Time when the bot first saw enough yes votes (epoch ms), and whether it saw the request expire. */
  enoughYesAt: timestampSchema.exactOptional(),
  hasExpired: z.boolean().exactOptional(),
  /** When an accepted vote request took or takes effect, epoch ms. */
  acceptedFor: timestampSchema.exactOptional(),
  /** When the bot noticed that the explorer no longer lists a vote request, whose outcome is not known, epoch ms. */
  goneAt: timestampSchema.exactOptional(),
  /** The time span in which the bot saw a vote request end, epoch ms. */
  closed: z.object({ after: timestampSchema.nullable(), by: timestampSchema }).exactOptional(),
});

/** Lists of names, by kind. */
export const nameLists = defineCollection({
  name: "directory",
  schema: z.object({
    readAt: timestampSchema,
    changedAt: timestampSchema.exactOptional(),
    /** Checked with `checkEntries`, because checking thousands at once would block the event loop. */
    entries: z.array(z.unknown()),
  }),
  lifetime: "until the list is read again",
});

/** Times of the lists of names. They are stored separately, because a process that waits for a new list reads only these. */
export const nameListTimes = defineCollection({
  name: "directory-times",
  schema: z.object({
    readAt: timestampSchema,
    changedAt: timestampSchema.exactOptional(),
    /** True if there is no list: it is empty, or the API key may not use it. */
    isNameless: z.boolean().exactOptional(),
  }),
  lifetime: "until the list is read again",
});

/** Summaries of vote requests by identity. Each consists of text and party ids. */
export const requestSummaries = defineCollection({
  name: "subjects",
  schema: z.array(z.union([z.string(), z.object({ party: z.string() })])),
  lifetime: "forever: one for each vote request",
});

/** Tokens that people have looked at. */
export const knownTokens = defineCollection({ name: "tokens", schema: entrySchema, lifetime: "forever" });

export const directoryCollections = [nameLists, nameListTimes, requestSummaries, knownTokens];

/** An entry of a list of names. */
export type NamedEntry = DocumentOf<typeof knownTokens>;

/** Number of entries that are checked before yielding to the event loop. */
const CHECKED = 100;

/** Returns the valid entries of a stored list. */
export async function checkEntries(stored: readonly unknown[]): Promise<NamedEntry[]> {
  const entries: NamedEntry[] = [];
  for await (const piece of inPieces(stored, CHECKED))
    for (const each of piece) {
      const { data } = entrySchema.safeParse(each);
      if (data) entries.push(data);
    }
  return entries;
}
