import * as z from "zod";
import { type DocumentOf, defineCollection } from "../storage/collection.js";

const timestampSchema = z.number();

const entrySchema = z.object({
  id: z.string(),
  name: z.string().nullable(),
  /** True for an active validator or an open request. False if it is not, or for a former super validator. null if unknown. */
  active: z.boolean().nullable(),
  /** The validator's software version. */
  version: z.string().nullable().exactOptional(),
  /** When a validator was last seen, epoch ms. */
  seenAt: timestampSchema.nullable().exactOptional(),
  /** Distinguishes namesakes better than an id: a vote request's status and deadline. */
  note: z.string().exactOptional(),
  /** The constructor of a vote request's action, from its details; empty if they name none. */
  action: z.string().exactOptional(),
  /** The span in which the bot saw a vote request end, epoch ms. */
  closed: z.object({ after: timestampSchema.nullable(), by: timestampSchema }).exactOptional(),
});

/** Lists of names, by kind. */
export const nameLists = defineCollection({
  name: "directory",
  schema: z.object({
    readAt: timestampSchema,
    changedAt: timestampSchema.exactOptional(),
    entries: z.array(entrySchema),
  }),
  lifetime: "until the list is read again",
});

/** Times of the lists of names. They are stored apart, since a process that waits for a new list reads only these. */
export const nameListTimes = defineCollection({
  name: "directory-times",
  schema: z.object({ readAt: timestampSchema, changedAt: timestampSchema.exactOptional() }),
  lifetime: "until the list is read again",
});

/** Summaries of vote requests, by identity: words, and parties by their ids. */
export const requestSummaries = defineCollection({
  name: "subjects",
  schema: z.array(z.union([z.string(), z.object({ party: z.string() })])),
  lifetime: "forever: one for each vote request",
});

/** Tokens that people have looked at. */
export const knownTokens = defineCollection({ name: "tokens", schema: entrySchema, lifetime: "forever" });

/** The collections of names. */
export const directoryCollections = [nameLists, nameListTimes, requestSummaries, knownTokens];

/** A thing with its id, as a list describes it. */
export type NamedEntry = DocumentOf<typeof knownTokens>;
