import * as z from "zod";
import { type DocumentOf, defineCollection, type StoredFields } from "../../storage/collection.js";

const timestampSchema = z.number();

const termsSchema = z.object({
  title: z.string().nullable(),
  /** The action's words, if its detail has been read. */
  action: z.string().nullable(),
  /** The threshold deadline, epoch ms. */
  voteBefore: timestampSchema.nullable(),
  targetEffectiveAt: timestampSchema.nullable(),
});

const trackedVoteRequest = z.object({
  identity: z.string(),
  /** The contract ids it has had, the newest last: a row with an older one is stale. */
  contractIds: z.array(z.string()),
  /** Open while votes can be cast; closed for good once the API says so; ignored if it was closed when first seen. */
  phase: z.preprocess(
    (value) => (value === "silent" ? "ignored" : value),
    z.enum(["open", "closed", "ignored"]),
  ),
  status: z.string().nullable(),
  /** A super validator's name or party id; its own Yes is cast automatically. */
  requester: z.string().nullable(),
  terms: termsSchema,
  /** Terms that one read has shown and the next must confirm before they are announced. */
  unconfirmed: termsSchema.exactOptional(),
  yes: z.number().nullable(),
  no: z.number().nullable(),
  pending: z.number().nullable(),
  /** Goes up with whatever its announcement shows. */
  revision: z.number(),
  /** Complete reads in a row that it was missing from. */
  missedReads: z.number().catch(0),
  /** Votes by voter, while a subscription wants them; what is there when they are first read is not announced. */
  votes: z.record(z.string(), z.boolean().nullable()).exactOptional(),
  /** Changed votes that one read has shown and the next must confirm. */
  unconfirmedVotes: z.record(z.string(), z.boolean()).exactOptional(),
  /** Of its action as the explorer gave it last: in words it may read otherwise with the next version of the bot. */
  actionDigest: z.string().exactOptional(),
  /** Of an action that one read has shown and the next must confirm. */
  unconfirmedAction: z.string().exactOptional(),
  /** Its tally has moved since its votes and its action were read. */
  needsDetail: z.boolean().exactOptional(),
  /** True if the request is gone and its ending is unknown. */
  endUnconfirmed: z.boolean().exactOptional(),
  /** Goes up with each vote announced. */
  voteSequence: z.number(),
  /** Goes up with each change announced. */
  changeSequence: z.number(),
  /** When it was opened, epoch ms; null if the explorer does not say. Missing in documents of earlier versions. */
  openedAt: timestampSchema.nullable().exactOptional(),
  /** When it was first seen: what came before that is not reminded of. */
  seenAt: timestampSchema.exactOptional(),
  /** Its phase at the last poll (src/ledger/vote-phase.ts). */
  stage: z.string().exactOptional(),
  /** Since when enough votes are yes. */
  enoughYesAt: timestampSchema.exactOptional(),
  /** Too few had voted by the quorum date: no later vote saves it. */
  hasExpired: z.boolean().exactOptional(),
  /** True if it was announced as overdue, or was overdue when first seen. */
  toldOverdue: z.boolean().exactOptional(),
  /** The decisions that were announced, or had been made when first seen. Missing if it was never checked. */
  decided: z.array(z.enum(["yes", "no"])).exactOptional(),
  /** A decision that one read no longer shows and the next must confirm. */
  unconfirmedLoss: z.enum(["yes", "no"]).exactOptional(),
  /** Goes up with each decision that was withdrawn, since votes had changed. */
  decisionSequence: z.number().exactOptional(),
  /** Reminders that are done, as `<deadline>:<before>`. */
  reminded: z.array(z.string()),
  /** When it was first read as closed, or seen for the first time, closed already. */
  closedAt: timestampSchema.exactOptional(),
  /** When it was last read as open; null if that is not known. Missing if the bot did not see it close. */
  openUntil: timestampSchema.nullable().exactOptional(),
});

/** A representative of a super validator in a server. */
const voterSchema = z.object({
  guildId: z.string(),
  name: z.string(),
  /** All that it goes by: its party, if the explorer gives it, and its names. */
  aliases: z.array(z.string()),
  who: z.object({ kind: z.enum(["member", "role"]), id: z.string() }),
  setAt: timestampSchema,
  /** The person who set it, who must be allowed to ping the role. Missing in documents of version 0.2.0. */
  setBy: z.string().exactOptional(),
  /** Since when its server has had no subscription. */
  unusedSince: timestampSchema.exactOptional(),
});

/** An event in a server's calendar, for one vote request. */
const calendarEvent = z.object({
  guildId: z.string(),
  /** The vote request's. */
  key: z.string(),
  name: z.string(),
  endsAt: timestampSchema,
  /** Missing until Discord has said that it was made. */
  eventId: z.string().exactOptional(),
  startsAt: timestampSchema.exactOptional(),
  /** True if a person deleted it. It is not created again. */
  isGone: z.boolean().exactOptional(),
  notBefore: timestampSchema.exactOptional(),
});

/** Field names of version 1. */
const OLD_FIELDS = { missing: "missedReads", flips: "unconfirmedVotes", due: "needsDetail" } as const;

/** Fields under the names that they have now. */
const renamed = (_: string, document: StoredFields): StoredFields =>
  Object.fromEntries([
    ...Object.entries(OLD_FIELDS).flatMap(([old, now]) => (old in document ? [[now, document[old]]] : [])),
    ...Object.entries(document).filter(([key]) => !(key in OLD_FIELDS)),
  ]);

/** Tracked vote requests, by identity. */
export const trackedVoteRequests = defineCollection({
  name: "requests",
  schema: trackedVoteRequest,
  lifetime: "forever, shortened 180 days after it has closed",
  upgrade: renamed,
});

const isMember = ({ kind, id }: { readonly kind: string; readonly id: string }, userId: string): boolean =>
  kind === "member" && id === userId;

/** Representatives of super validators, by server. */
export const representatives = defineCollection({
  name: "voters",
  schema: voterSchema,
  lifetime: "until it is removed, or for 30 days where its server has no subscription",
  owners: [
    {
      kind: "person",
      mentions: (userId, _, { who, setBy }) => isMember(who, userId) || setBy === userId,
      without(userId, { setBy, ...others }) {
        return isMember(others.who, userId) ? undefined : others;
      },
    },
  ],
});

/** Scheduled events of servers, by server and vote request. */
export const calendarEvents = defineCollection({
  name: "calendar",
  schema: calendarEvent,
  lifetime: "until its vote request has ended",
});

/** A vote request's last known state. */
export type TrackedVoteRequest = DocumentOf<typeof trackedVoteRequests>;
/** A member or role that represents a super validator in a server. */
export type Representative = DocumentOf<typeof representatives>;
/** An event in a server's calendar. */
export type CalendarEvent = DocumentOf<typeof calendarEvents>;
