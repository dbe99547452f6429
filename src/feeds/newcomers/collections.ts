import * as z from "zod";
import { defineCollection } from "../../storage/collection.js";

/** Known validators by party. They are not announced as new. */
export const knownValidators = defineCollection({
  name: "validators",
  schema: z.object({ seenAt: z.number() }),
  lifetime: "forever: one for each validator",
});
