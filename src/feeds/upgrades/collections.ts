import * as z from "zod";
import { upgradeChangeSchema } from "../../directory/collections.js";
import { type DocumentOf, defineCollection, type Owner } from "../../storage/collection.js";
import { timestampSchema } from "../../storage/timestamp.js";

/** The name of this feed. */
export const UPGRADES_FEED = "upgrades";
/** Id of the time since which it is known what all accepted vote requests change. */
export const EXAMINED = `${UPGRADES_FEED}-votes`;

const ofSubject: Owner = { kind: "subject" };

/** Accepted upgrades, by subject. At most one of them is open. */
export const upgrades = defineCollection({
  name: "upgrades",
  schema: z.object({
    /** Identity of the last vote request about it. */
    decidedBy: z.string(),
    upgradeAt: timestampSchema,
    /** Start of the freeze: no new parties or packages. null if there is none before the upgrade. */
    freezeAt: timestampSchema.nullable(),
    /** The time before it was moved last. */
    movedFrom: timestampSchema.exactOptional(),
    /** Number of moves. */
    moves: z.number(),
    /** Reminders that were sent or have been missed, with the times that they were about. */
    told: z.array(z.string()),
    /** The newest round in the first reading after the upgrade time. */
    roundThen: z.number().exactOptional(),
    /** True if that reading came late, so that rounds may have advanced before. */
    isLate: z.boolean().exactOptional(),
    isCancelled: z.boolean().exactOptional(),
    /** Changes by the accepted vote requests, by their identity. A list of the explorer may lack one of them. */
    changes: z.record(z.string(), upgradeChangeSchema).exactOptional(),
    endedAt: timestampSchema.exactOptional(),
    /** Increases with every change that its message shows. */
    revision: z.number(),
  }),
  lifetime: "until 30 days after it is over, and only while a channel subscribes to upgrades",
  owners: [ofSubject],
});

/** Standstills of the network, by subject. At most one of them is open. */
export const standstills = defineCollection({
  name: "standstills",
  schema: z.object({
    /** The newest round, and the time when it was first seen. */
    round: z.number(),
    since: timestampSchema,
    endedAt: timestampSchema.exactOptional(),
    /** True if it may have ended before. */
    isLate: z.boolean().exactOptional(),
    revision: z.number(),
  }),
  lifetime: "until 30 days after it is over, and only while a channel subscribes to upgrades",
  owners: [ofSubject],
});

/** An upgrade that the super validators have accepted. */
export type Upgrade = DocumentOf<typeof upgrades>;
/** A time without new rounds. */
export type Standstill = DocumentOf<typeof standstills>;

/** Returns the documents that have not ended, by subject. */
export const openIn = <Document extends { readonly endedAt?: number }>(
  documents: ReadonlyMap<string, Document>,
): (readonly [subject: string, document: Document])[] =>
  [...documents].filter(([, { endedAt }]) => endedAt === undefined);
