import * as z from "zod";
import { type DocumentOf, defineCollection } from "../../storage/collection.js";
import { timestampSchema } from "../../storage/timestamp.js";

/** The name of this feed. */
export const DIGEST_FEED = "digest";

/** The end of the last digest of each channel, by channel id. */
export const digests = defineCollection({
  name: "digests",
  schema: z.object({
    at: timestampSchema,
    /** When the last digest was due that was not posted, because the channel or its subscription was paused. */
    skippedAt: timestampSchema.exactOptional(),
    /** Only for version 0.2.0, in case an operator downgrades. */
    version: z.null().catch(null),
  }),
  lifetime: "as long as its subscription",
  owners: [{ kind: "subscription", patternOf: (channelId) => ({ channelId, feed: DIGEST_FEED }) }],
});

/** The end of a channel's last digest, epoch ms. */
export type LastDigest = DocumentOf<typeof digests>;

/** Activity of a validator; "unknown" if the explorer has never stated the time of its last report. */
const activity = z.enum(["alive", "silent", "unknown"]);

/** The network's validators at the last complete reading. */
export const chronicles = defineCollection({
  name: "digest-chronicle",
  schema: z.object({
    /** Time of the first reading, epoch ms. Earlier events are not known. */
    startedAt: timestampSchema,
    /** Time of the last reading, epoch ms. */
    readAt: timestampSchema,
    /** By short hash of the party. Delisted validators are kept, so that they do not count as new if they are listed again. */
    activity: z.record(z.string(), activity),
    /** The most common version, and its share of the active validators in percent. */
    version: z.object({ name: z.string(), percent: z.number() }).nullable(),
  }),
  lifetime: "as long as a channel subscribes to the digest: one document",
});

/** The validators at the last complete reading. */
export type Chronicle = DocumentOf<typeof chronicles>;

/** Changes of the network's validators, each recorded once. Digests are made from them. */
export const happenings = defineCollection({
  name: "digest-happenings",
  schema: z.discriminatedUnion("kind", [
    z.object({
      kind: z.enum(["joined", "silent", "back"]),
      at: timestampSchema,
      party: z.string(),
      name: z.string().nullable(),
    }),
    /** The most common version has changed. */
    z.object({ kind: z.literal("version"), at: timestampSchema, from: z.string() }),
    /** The validators could not be read for a while. */
    z.object({ kind: z.literal("unread"), at: timestampSchema, from: timestampSchema }),
  ]),
  lifetime: "31 days, and only while a channel subscribes to the digest",
});

export type Happening = DocumentOf<typeof happenings>;
