import * as z from "zod";
import { type DocumentOf, defineCollection } from "../../storage/collection.js";
import { timestampSchema } from "../../storage/timestamp.js";

/** The name of this feed. */
export const PRICE_FEED = "price";

/** State of each subscription to the price, by subscription. */
export const priceWatches = defineCollection({
  name: "price-watches",
  schema: z.object({
    /** True if the alert can fire. False from an alert until its condition has stopped holding. */
    isArmed: z.boolean(),
    /** The subscription's `savedAt` at that time. */
    savedAt: timestampSchema.exactOptional(),
    /** The last alert. `isDown` says which way a price moved. Only moves have it, since version 0.3.0. */
    told: z
      .object({ at: timestampSchema, price: z.string(), isDown: z.boolean().exactOptional() })
      .exactOptional(),
  }),
  lifetime: "as long as its subscription",
  owners: [{ kind: "subscription" }],
});

/** The state of a subscription to the price. */
export type PriceWatch = DocumentOf<typeof priceWatches>;
