import * as z from "zod";
import { type DocumentOf, defineCollection } from "../../storage/collection.js";
import { timestampSchema } from "../../storage/timestamp.js";

/** Current and recent problems of the bot. */
export const troubles = defineCollection({
  name: "troubles",
  schema: z.object({
    /** The channel that receives the message. */
    channelId: z.string(),
    kind: z.enum(["commands", "key", "explorer", "late", "unread", "unreadable", "unforeseen"]),
    since: timestampSchema,
    /** Time when it was last detected, to the minute. */
    seenAt: timestampSchema,
    endedAt: timestampSchema.exactOptional(),
    /** Details, one line each. */
    details: z.array(z.string()),
    revision: z.number(),
  }),
  lifetime: "until 30 days after it is over",
});

/** A problem of the bot. */
export type Trouble = DocumentOf<typeof troubles>;
