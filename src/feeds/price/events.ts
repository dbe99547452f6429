import * as z from "zod";
import { timestampSchema } from "../../storage/timestamp.js";

/** An alert as the outbox stores it. Prices are in USD. */
export const priceEventSchema = z.object({
  channelId: z.string(),
  /** Id of the condition. */
  subject: z.string(),
  from: z.string(),
  to: z.string(),
  at: timestampSchema,
  /** For a move, the time of the price from which it is measured, epoch ms. Missing in events of earlier versions. */
  since: timestampSchema.optional(),
  /** True if the subscription gets no more alerts. */
  isLast: z.boolean().optional(),
});

/** An alert about the price. */
export type PriceEvent = z.infer<typeof priceEventSchema>;
