import { userMention } from "@discordjs/formatters";
import * as z from "zod";
import { type DocumentOf, defineCollection, type Owner, type StoredFields } from "../storage/collection.js";
import { timestampSchema } from "../storage/timestamp.js";
import { FIRST_FEED } from "./version-1.js";

const feed = z.string().default(FIRST_FEED);

const subscription = z.looseObject({
  channelId: z.string(),
  feed,
  /** The thing that it is about, such as a validator. null if it covers all of them. */
  subject: z.string().nullable().default(null),
  /** The server. null in direct messages, and for subscriptions from the environment, which does not state the server. */
  guildId: z.string().nullable(),
  /** The person who receives direct messages, null for a subscription of a channel. */
  userId: z.string().nullable().default(null),
  /** True for a forum. It gets a post for each message that begins a subject. */
  forum: z.boolean(),
  /** The tag that a forum requires. */
  tagId: z.string().nullable(),
  /** Start of the subscription, epoch ms. Earlier events are not announced. */
  since: timestampSchema,
  topics: z.record(z.string(), z.boolean()),
  /** Role to ping with each message that begins a subject. */
  roleId: z.string().nullable(),
  /** True to open a thread under each message that begins a subject. Later messages about the subject go there. */
  thread: z.boolean(),
  /** True to publish messages of announcement channels to the channels that follow them. */
  publish: z.boolean(),
  /** Options that a person typed. Earlier versions stored every option without saying which were chosen. */
  chosen: z.array(z.string()).exactOptional(),
  /** Time when it was last saved, epoch ms. Events before that are not announced. */
  savedAt: timestampSchema.exactOptional(),
  /** True if the person has paused it. */
  isPaused: z.boolean().exactOptional(),
  /** End of a snooze, epoch ms. */
  snoozedUntil: timestampSchema.exactOptional(),
  // Options of a feed are stored beside these fields and parsed by the feed's own schema.
});

const delivery = z.object({
  feed,
  /** Event of the feed, parsed by the feed's own schema. */
  event: z.unknown(),
  channelId: z.string(),
  /** Subject of the subscription that receives it. null if it is for all subscriptions of the channel to the feed. */
  subject: z.string().nullable().default(null),
  /** True for a drill. Its event contains the message, and the sent message is not recorded. */
  drill: z.boolean().exactOptional(),
  /** Time when it was recorded, epoch ms. */
  at: timestampSchema,
  /** Position in the queue. Deliveries to a channel are sent in this order. */
  order: z.number(),
  attempts: z.number(),
  /** Earliest time of the next attempt, epoch ms. */
  notBefore: timestampSchema,
  /**
   * Set while a process sends the delivery. After `deadline`, a new attempt must first look for a message
   * sent to the channel or thread `placeId` since `at` (Discord's time).
   */
  claim: z
    .object({
      epoch: z.number(),
      at: timestampSchema,
      deadline: timestampSchema,
      placeId: z.string().exactOptional(),
    })
    .exactOptional(),
});

/** One event's deliveries to many channels, until each has a document. */
const fanOut = delivery.pick({ feed: true, event: true, at: true }).extend({
  eventId: z.string(),
  channels: z.array(delivery.pick({ channelId: true, subject: true, order: true })),
});

/** A drill that a person requested, until the outbox picks it up. */
const drill = delivery.pick({ feed: true, event: true, channelId: true, subject: true, at: true });

const announcedSchema = z.object({
  feed,
  subject: z.string(),
  channelId: z.string(),
  /** True for a later message about a subject. It is stored only while follow-up steps remain. */
  news: z.boolean().default(false),
  messageId: z.string(),
  /** Channel of the message: the subscribed one, or the forum's post. */
  in: z.string(),
  at: timestampSchema,
  /** Mentions at the start of its text. Missing in documents of earlier versions. */
  pings: z.string().exactOptional(),
  /** Channel for later messages about the subject: the thread, or the forum's post. */
  threadId: z.string().exactOptional(),
  /** Revision of the subject that the message shows. Missing if the message is never edited, or was deleted by a person. */
  revision: z.number().exactOptional(),
  /** True if a person deleted it. Later messages are then sent without a reference to it. */
  gone: z.boolean().exactOptional(),
  /** True for a forum's post that later news has opened. It is never edited, so that news archives it at the end. */
  byNews: z.boolean().exactOptional(),
  editedAt: timestampSchema.exactOptional(),
  /** True once the message shows that its subject has ended. Without `editedAt`, it was sent like that. */
  isOver: z.boolean().exactOptional(),
  /** Time of the next attempt to edit it, epoch ms. */
  notBefore: timestampSchema.exactOptional(),
  /** Steps that remain after sending. */
  todo: z.array(z.enum(["thread", "publish"])).exactOptional(),
  /** Time of the next attempt at the first of these steps, epoch ms. */
  todoNotBefore: timestampSchema.exactOptional(),
});

/**
 * Adds the subject and the channel to documents of version 1, where they are only in the id:
 * `<subject>@<channel>`, with `#<event>` for later messages.
 */
function withPlace(id: string, document: StoredFields): StoredFields {
  if ("channelId" in document) return document;
  const [place = "", event] = id.split("#");
  const [subject, channelId] = place.split("@");
  return { ...document, subject, channelId, news: event !== undefined };
}

/** Owned by the channel's subscriptions to the feed, or by the one with its subject. */
const ofSubscription: Owner<{ channelId: string; feed: string; subject: string | null }> = {
  kind: "subscription",
  patternOf: (_, { channelId, feed, subject }) =>
    subject === null ? { channelId, feed } : { channelId, feed, subject },
};

/** Subscriptions of channels and people. */
export const subscriptionDocuments = defineCollection({
  name: "subscriptions",
  schema: subscription,
  lifetime:
    "until it is removed, 30 days after the bot has left the server, or once a person has refused messages for a year",
});

/** Delivery problems of subscribed channels, by channel id. */
export const channelHealths = defineCollection({
  name: "health",
  schema: z.object({
    deliveredAt: timestampSchema.exactOptional(),
    /** Error message for people. */
    error: z.string().exactOptional(),
    erroredAt: timestampSchema.exactOptional(),
    /** True if deliveries wait until the subscription is resumed. */
    paused: z.boolean().exactOptional(),
    /** Time when the bot left the server, epoch ms. */
    goneSince: timestampSchema.exactOptional(),
  }),
  lifetime: "as long as its channel's subscriptions",
  owners: [{ kind: "subscription", patternOf: (channelId) => ({ channelId }) }],
});

/** Deliveries that have not been sent yet. */
export const pendingDeliveries = defineCollection({
  name: "outbox",
  schema: delivery,
  lifetime: "until it is delivered, or for a day",
  owners: [ofSubscription],
});

/** Deliveries that still need documents of their own, in bundles of `BUNDLE` (fan-out.ts). */
export const bundledDeliveries = defineCollection({
  name: "bundles",
  schema: z.object({ fanOuts: z.array(fanOut) }),
  lifetime: "until the outbox picks it up, usually within seconds",
});

/** Drills that the outbox has not picked up yet. */
export const requestedDrills = defineCollection({
  name: "drills",
  schema: drill,
  lifetime: "until the outbox picks it up, a second later",
  owners: [ofSubscription],
});

/** Returns a message's document without a person's mention. Empty pings mean that an edit writes none. */
const withoutPing = <Document extends { readonly pings?: string }>(
  userId: string,
  document: Document,
): Document => ({
  ...document,
  pings: (document.pings ?? "").replace(userMention(userId), "").replace(/ {2,}/g, " ").trim(),
});

/** Delivered messages that may be edited, or that later messages refer to. */
export const announcements = defineCollection({
  name: "announced",
  schema: announcedSchema,
  lifetime: "30 days after its subject has ended, or until the channel's subscription is removed",
  upgrade: withPlace,
  owners: [
    { kind: "subscription", patternOf: (_, { channelId, feed }) => ({ channelId, feed }) },
    {
      kind: "person",
      mentions: (userId, _, { pings = "" }) => pings.includes(userMention(userId)),
      without: withoutPing,
    },
  ],
});

/** Open messages of subscriptions that were removed. They are closed with a last edit. */
export const farewells = defineCollection({
  name: "farewells",
  schema: announcedSchema.extend({
    /** The person whose private message it is. */
    userId: z.string().exactOptional(),
  }),
  lifetime: "until its last edit, usually a second later",
  owners: [
    {
      kind: "person",
      mentions: (userId, _, { pings = "", userId: owner }) =>
        owner === userId || pings.includes(userMention(userId)),
      without: (userId, document) => (document.userId === userId ? undefined : withoutPing(userId, document)),
    },
  ],
});

/** People with watches, by user id. */
export const watchers = defineCollection({
  name: "people",
  schema: z.object({
    /** Channel of the person's direct messages. */
    channelId: z.string(),
    /** Time when Discord refused a message, until the person has been told. */
    refusedAt: timestampSchema.exactOptional(),
  }),
  lifetime: "as long as they watch something",
  owners: [
    { kind: "subscription", patternOf: (_, { channelId }) => ({ channelId }) },
    { kind: "person", mentions: (userId, id) => id === userId },
  ],
});

/** Times of reads that feeds remember, by feed. */
export const progress = defineCollection({
  name: "progress",
  schema: z.object({
    completeAt: timestampSchema,
    /** True if the feed has only seen the beginning of its list so far, so that what is behind it may be old. */
    isPartial: z.boolean().exactOptional(),
  }),
  lifetime: "forever, or while a channel subscribes to the feed",
});

/**
 * A revision number for each server or person, which increases with each write that counts towards a limit.
 * It allows checking and using a limit in one commit (limits.ts).
 */
export const ownerRevisions = defineCollection({
  name: "owners",
  /** `at`: time of the last write, epoch ms. Missing in documents of earlier versions. */
  schema: z.object({ revision: z.number(), at: timestampSchema.exactOptional() }),
  lifetime: "a day after the last write; a person's at most until they are forgotten",
  isShared: true,
  owners: [{ kind: "person", mentions: (userId, id) => id === `person:${userId}` }],
});

/** Collections of the delivery. Feeds declare their own. */
export const deliveryCollections = [
  subscriptionDocuments,
  channelHealths,
  pendingDeliveries,
  bundledDeliveries,
  requestedDrills,
  announcements,
  farewells,
  watchers,
  progress,
  ownerRevisions,
];

/** A subscription to some topics of a feed. */
export type Subscription = DocumentOf<typeof subscriptionDocuments>;
/** Delivery problems of a subscribed channel. */
export type Health = DocumentOf<typeof channelHealths>;
/** The message of an event to a channel, recorded before it is sent. */
export type Delivery = DocumentOf<typeof pendingDeliveries>;
/** Deliveries that are written together later. */
export type Bundle = DocumentOf<typeof bundledDeliveries>;
/** One event's deliveries to many channels. */
export type FanOut = Bundle["fanOuts"][number];
/** A delivered message. */
export type Announced = DocumentOf<typeof announcements>;

/** Prefixes an id with the feed's name. The first feed's ids have no prefix, as in version 1. */
const scoped = (feed: string, id: string): string => (feed === FIRST_FEED ? id : `${feed}/${id}`);

export const subscriptionId = (channelId: string, feed: string, subject: string | null): string =>
  scoped(feed, subject === null ? channelId : `${channelId}/${subject}`);

/** Returns the id of an event's delivery to a channel. */
export const deliveryId = (feed: string, eventId: string, channelId: string): string =>
  scoped(feed, `${eventId}@${channelId}`);

/** Returns the id of the message in a channel to which later messages about a subject refer. */
export const announcedId = (feed: string, subject: string, channelId: string): string =>
  scoped(feed, `${subject}@${channelId}`);

/** Returns the id of a later message with remaining follow-up steps. */
export const newsId = (feed: string, subject: string, channelId: string, eventId: string): string =>
  `${announcedId(feed, subject, channelId)}#${eventId}`;
