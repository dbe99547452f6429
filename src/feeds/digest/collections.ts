import * as z from "zod";
import { type DocumentOf, defineCollection } from "../../storage/collection.js";

/** The last digest and the state of things at that time. */
const digestMemory = z.object({
  at: z.number(),
  /** Validators by short digests of their ids; missing if they were not known. */
  alive: z.array(z.string()).optional(),
  silent: z.array(z.string()).optional(),
  /** Validators of earlier digests that the explorer no longer listed. They have not joined when they are listed again. */
  unlisted: z.array(z.string()).optional(),
  /** The version that most validators run. */
  version: z.string().nullable(),
});

/** The name of this feed. */
export const DIGEST_FEED = "digest";

/** The last digest of each channel, by channel id. */
export const digests = defineCollection({
  name: "digests",
  schema: digestMemory,
  lifetime: "as long as its subscription",
  owners: [{ kind: "subscription", patternOf: (channelId) => ({ channelId, feed: DIGEST_FEED }) }],
});

/** The last digest and the state of things at that time. */
export type DigestMemory = DocumentOf<typeof digests>;
