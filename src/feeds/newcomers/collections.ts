import * as z from "zod";
import { defineCollection } from "../../storage/collection.js";
import { timestampSchema } from "../../storage/timestamp.js";

/** Known validators by party. They are not announced as new. */
export const knownValidators = defineCollection({
  name: "validators",
  schema: z.object({ seenAt: timestampSchema }),
  lifetime: "forever: one for each validator",
});
