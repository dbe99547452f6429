import * as z from "zod";
import { defineCalendar } from "../../delivery/scheduled-events.js";
import { type DocumentOf, defineCollection, type StoredFields } from "../../storage/collection.js";
import type { State } from "../../storage/state.js";
import { timestampSchema } from "../../storage/timestamp.js";
import { digest } from "../../util/digest.js";

/** Fields of a vote request whose changes are announced. */
export const termsSchema = z.object({
  title: z.string().nullable(),
  /** The action as text, if the details have been read. */
  action: z.string().nullable(),
  /** The quorum date, epoch ms. */
  voteBefore: timestampSchema.nullable(),
  targetEffectiveAt: timestampSchema.nullable(),
});

const trackedVoteRequest = z.object({
  identity: z.string(),
  /** All contract ids so far, newest last. A row with an older one is stale. */
  contractIds: z.array(z.string()),
  /** "open" while votes can be cast, "closed" once the API says so (final), "ignored" if it was closed when first seen. */
  phase: z.preprocess(
    (value) => (value === "silent" ? "ignored" : value),
    z.enum(["open", "closed", "ignored"]),
  ),
  status: z.string().nullable(),
  /** Name or party id of a super validator. Its own Yes is cast automatically. */
  requester: z.string().nullable(),
  terms: termsSchema,
  /** Changed terms from one read. They are announced once the next read confirms them. */
  unconfirmed: termsSchema.exactOptional(),
  /** True if reads in a row showed different unconfirmed dates. Until two agree, the earlier dates count. */
  isDisputed: z.boolean().exactOptional(),
  yes: z.number().nullable(),
  no: z.number().nullable(),
  pending: z.number().nullable(),
  /** Increases with every change that the announcement shows. */
  revision: z.number(),
  /** Number of consecutive complete reads without this request. */
  missedReads: z.number().catch(0),
  /** Votes by voter, while a subscription wants them. Votes in the first read are not announced. */
  votes: z.record(z.string(), z.boolean().nullable()).exactOptional(),
  /** Changed votes from one read. They count once the next read confirms them. */
  unconfirmedVotes: z.record(z.string(), z.boolean()).exactOptional(),
  /** Digest of the action's data. The words for an action may change with the next version of the bot. */
  actionDigest: z.string().exactOptional(),
  /** Digest of a changed action from one read. It counts once the next read confirms it. */
  unconfirmedAction: z.string().exactOptional(),
  /** True if the tally or the contract has changed since the votes and the action were read. */
  needsDetail: z.boolean().exactOptional(),
  /** True while messages about it lack the details, because the explorer did not answer when they were written. */
  isIncomplete: z.boolean().exactOptional(),
  /** True if the request is gone and its ending is unknown. */
  endUnconfirmed: z.boolean().exactOptional(),
  /** Increases with each announced vote. */
  voteSequence: z.number(),
  /** Increases with each announced change. */
  changeSequence: z.number(),
  /** Time when it was opened, epoch ms. null if the explorer does not say. Missing in documents of earlier versions. */
  openedAt: timestampSchema.nullable().exactOptional(),
  /** Time when it was first seen. Reminders that were due before that are not sent. */
  seenAt: timestampSchema.exactOptional(),
  /** Its phase at the last poll (src/ledger/vote-phase.ts). */
  stage: z.string().exactOptional(),
  /** Time since which the bot has known this stage, epoch ms. */
  stageAt: timestampSchema.exactOptional(),
  /** Time since which there are enough yes votes. */
  enoughYesAt: timestampSchema.exactOptional(),
  /** Time when the bot first saw, before the quorum date, that enough had voted. */
  quorumAt: timestampSchema.exactOptional(),
  /** True if there were enough yes votes when it was first seen, so that it is unknown since when. */
  hadEnough: z.boolean().exactOptional(),
  /**
   * True if too few had voted by the quorum date. Later votes do not count. False if the bot saw at that date that enough had
   * voted.
   */
  hasExpired: z.boolean().exactOptional(),
  /** The outcome that was announced, if the explorer has stated another one since. */
  toldStatus: z.string().nullable().exactOptional(),
  /** Time since which the explorer states the current outcome instead, epoch ms. */
  restatedAt: timestampSchema.exactOptional(),
  /** Time since which the explorer has listed it as open although it had ended, epoch ms. */
  listedOpenAt: timestampSchema.exactOptional(),
  /** Time when it was last reopened, because its end had been a mistake, epoch ms. */
  reopenedAt: timestampSchema.exactOptional(),
  /** True if it was announced as overdue, or was overdue when first seen. */
  toldOverdue: z.boolean().exactOptional(),
  /** The decisions that were announced, or had been made when first seen. Missing if it was never checked. */
  decided: z.array(z.enum(["yes", "no"])).exactOptional(),
  /** A decision that one read no longer shows. It is withdrawn once the next read confirms that. */
  unconfirmedLoss: z.enum(["yes", "no"]).exactOptional(),
  /** Number of votes that were needed for the last decision. */
  neededBefore: z.number().exactOptional(),
  /** Increases with each decision that is withdrawn because votes have changed. */
  decisionSequence: z.number().exactOptional(),
  /** Reminders that were sent or skipped, as `<deadline>:<before>`. */
  reminded: z.array(z.string()),
  /** Time when it was first read as closed. */
  closedAt: timestampSchema.exactOptional(),
  /** Time when it was last read as open, null if unknown. Missing if the bot did not see it close. */
  openUntil: timestampSchema.nullable().exactOptional(),
});

/** A representative of a super validator in a server. */
const voterSchema = z.object({
  guildId: z.string(),
  name: z.string(),
  /** All names of the super validator: its party, if the explorer states it, and its display names. */
  aliases: z.array(z.string()),
  who: z.object({ kind: z.enum(["member", "role"]), id: z.string() }),
  setAt: timestampSchema,
  /** The person who set it, who must be allowed to ping the role. Missing in documents of version 0.2.0. */
  setBy: z.string().exactOptional(),
  /** Time since which the server has had no subscription. */
  unusedSince: timestampSchema.exactOptional(),
});

/** Field names of version 1, and their current names. */
const OLD_FIELDS = { missing: "missedReads", flips: "unconfirmedVotes", due: "needsDetail" } as const;

/** Renames old fields to their current names. */
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

/** Representatives of super validators, by server and super validator (`representativeId`). */
export const representatives = defineCollection({
  name: "voters",
  schema: voterSchema,
  lifetime: "until it is removed, or for 30 days where its server has no governance subscription",
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

/** Returns the id of a super validator's representatives in a server. */
export const representativeId = (guildId: string, voter: string): string => `${guildId}/${digest(voter)}`;

/** Returns a server's representatives, by their ids. @throws {StateError} */
export const representativesIn = (
  state: Pick<State, "open">,
  guildId: string,
): Promise<ReadonlyMap<string, Representative>> => state.open(representatives).startingWith(`${guildId}/`);

/** Scheduled events of servers, by server and vote request. */
export const calendarEvents = defineCalendar("calendar", "until its vote request has ended");

/** A vote request's last known state. */
export type TrackedVoteRequest = DocumentOf<typeof trackedVoteRequests>;
/** A member or role that represents a super validator in a server. */
export type Representative = DocumentOf<typeof representatives>;
