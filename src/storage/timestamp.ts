import * as z from "zod";

/** The latest time that a Date can hold, epoch ms (ECMAScript: 100,000,000 days). */
const LATEST = 8.64e15;

/** A stored time, epoch ms. A document with another number would fail wherever the time is formatted. */
export const timestampSchema = z.number().min(-LATEST).max(LATEST);
