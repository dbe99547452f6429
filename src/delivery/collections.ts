import * as z from "zod";
import { type DocumentOf, defineCollection, type Owner, type StoredFields } from "../storage/collection.js";
import { FIRST_FEED } from "./version-1.js";

const timestampSchema = z.number();
const feed = z.string().default(FIRST_FEED);

const subscription = z.looseObject({
  channelId: z.string(),
  feed,
  /** The one thing that it is about, such as a validator; null if it is about all of them. */
  subject: z.string().nullable().default(null),
  /** The server; null if the environment made it, which does not say, and in a direct message. */
  guildId: z.string().nullable(),
  /** The person who is told in private; null if it is a channel's. */
  userId: z.string().nullable().default(null),
  /** True for a forum. It gets a post for each message that begins a subject. */
  forum: z.boolean(),
  /** The tag that a forum demands. */
  tagId: z.string().nullable(),
  /** Epoch ms: what was before is not announced. */
  since: timestampSchema,
  topics: z.record(z.string(), z.boolean()),
  /** Pinged with each message that begins something. */
  roleId: z.string().nullable(),
  /** Opens a thread under each message that begins something; later news goes there. */
  thread: z.boolean(),
  /** Crossposts in announcement channels. */
  publish: z.boolean(),
  /** Options that a person typed. Earlier versions stored every option without saying which were chosen. */
  chosen: z.array(z.string()).exactOptional(),
  /** When it was last set up, epoch ms. Events before that are not announced. */
  savedAt: timestampSchema.exactOptional(),
  /** True if the person has paused it. */
  isPaused: z.boolean().exactOptional(),
  /** End of a snooze, epoch ms. */
  snoozedUntil: timestampSchema.exactOptional(),
  // Fields of one feed only are stored beside these and parsed by that feed's own schema.
});

const health = z.object({
  deliveredAt: timestampSchema.exactOptional(),
  /** In words, for people. */
  error: z.string().exactOptional(),
  erroredAt: timestampSchema.exactOptional(),
  /** True if deliveries wait until the subscription is resumed. */
  paused: z.boolean().exactOptional(),
  /** Since when the bot has not been in the server, epoch ms. */
  goneSince: timestampSchema.exactOptional(),
});

const delivery = z.object({
  feed,
  /** The feed's own; it reads it back by its own schema. */
  event: z.unknown(),
  channelId: z.string(),
  /** The subject of the subscription that wants it; null if it is for the channel, whatever it is subscribed to. */
  subject: z.string().nullable().default(null),
  /** True for a drill. Its event is the message, and it is not recorded after it is sent. */
  drill: z.boolean().exactOptional(),
  /** When it was recorded, epoch ms. */
  at: timestampSchema,
  /** Deliveries to a channel keep the order of it. */
  order: z.number(),
  attempts: z.number(),
  /** Not before this, epoch ms. */
  notBefore: timestampSchema,
  /**
   * Set while a process sends the delivery. After the deadline, a new attempt must first look for a message sent since `at`
   * (Discord's time).
   */
  claim: z.object({ epoch: z.number(), at: timestampSchema, deadline: timestampSchema }).exactOptional(),
});

/** A drill that a person asked for, until the outbox takes it up. */
const drill = delivery.pick({ feed: true, event: true, channelId: true, subject: true, at: true });

const announcedSchema = z.object({
  feed,
  subject: z.string(),
  channelId: z.string(),
  /** Later news, which is kept only while something is to be done about its message. */
  news: z.boolean().default(false),
  messageId: z.string(),
  /** Channel of the message: the subscribed one, or the forum's post. */
  in: z.string(),
  at: timestampSchema,
  /** The mentions that its text begins with. Missing in documents of earlier versions. */
  pings: z.string().exactOptional(),
  /** The channel of later news: its thread, or the forum's post. */
  threadId: z.string().exactOptional(),
  /** Revision of the subject that the message shows. Missing if the message is never edited, or was deleted by a person. */
  revision: z.number().exactOptional(),
  /** True if a person deleted it. Later news then stands alone. */
  gone: z.boolean().exactOptional(),
  editedAt: timestampSchema.exactOptional(),
  /** True once it shows the end of its subject. */
  isOver: z.boolean().exactOptional(),
  notBefore: timestampSchema.exactOptional(),
  /** Steps that remain after sending. */
  todo: z.array(z.enum(["thread", "publish"])).exactOptional(),
});

/** Version 1 kept a message's subject and channel in its id alone: `<subject>@<channel>`, with `#<event>` for news. */
function withPlace(id: string, document: StoredFields): StoredFields {
  if ("channelId" in document) return document;
  const [place = "", event] = id.split("#");
  const [subject, channelId] = place.split("@");
  return { ...document, subject, channelId, news: event !== undefined };
}

/** A person with watches. */
const person = z.object({
  /** Of their direct messages. */
  channelId: z.string(),
  /** When Discord refused one, until they have been told. */
  refusedAt: timestampSchema.exactOptional(),
});

/** Belongs to the subscriptions of its channel to its feed, and to one of its subject if it names one. */
const ofSubscription: Owner<{ channelId: string; feed: string; subject: string | null }> = {
  kind: "subscription",
  patternOf: (_, { channelId, feed, subject }) =>
    subject === null ? { channelId, feed } : { channelId, feed, subject },
};

/** Subscriptions of channels and people. */
export const subscriptionDocuments = defineCollection({
  name: "subscriptions",
  schema: subscription,
  lifetime: "until it is removed, or 30 days after the bot has left the server",
});

/** Delivery problems of subscribed channels, by channel id. */
export const channelHealths = defineCollection({
  name: "health",
  schema: health,
  lifetime: "as long as its channel's subscriptions",
  owners: [{ kind: "subscription", patternOf: (channelId) => ({ channelId }) }],
});

/** Deliveries that have not arrived yet. */
export const pendingDeliveries = defineCollection({
  name: "outbox",
  schema: delivery,
  lifetime: "until it is delivered, or for a day",
  owners: [ofSubscription],
});

/** Drills that wait for the outbox. */
export const requestedDrills = defineCollection({
  name: "drills",
  schema: drill,
  lifetime: "until the outbox takes it up, a second later",
  owners: [ofSubscription],
});

/** Messages that were delivered and may be edited, or that later news refers to. */
export const announcements = defineCollection({
  name: "announced",
  schema: announcedSchema,
  lifetime: "30 days after its subject has ended, or until the channel's subscription is removed",
  upgrade: withPlace,
  owners: [{ kind: "subscription", patternOf: (_, { channelId, feed }) => ({ channelId, feed }) }],
});

/** Open messages of subscriptions that were removed. They are closed with a last edit. */
export const farewells = defineCollection({
  name: "farewells",
  schema: announcedSchema,
  lifetime: "until its last edit, a second later",
});

/** People with watches, by user id. */
export const watchers = defineCollection({
  name: "people",
  schema: person,
  lifetime: "as long as they watch something",
  owners: [
    { kind: "subscription", patternOf: (_, { channelId }) => ({ channelId }) },
    { kind: "person", mentions: (userId, id) => id === userId },
  ],
});

/** Times of the last complete read, by feed. */
export const progress = defineCollection({
  name: "progress",
  schema: z.object({ completeAt: timestampSchema }),
  lifetime: "forever",
});

/**
 * A number for each server or person, which goes up with each write that a limit applies to. With it, a limit is checked and used
 * in one commit (limits.ts).
 */
export const ownerRevisions = defineCollection({
  name: "owners",
  schema: z.object({ revision: z.number() }),
  lifetime: "forever: one for each server; a person's until they are forgotten",
  isShared: true,
  owners: [{ kind: "person", mentions: (userId, id) => id === `person:${userId}` }],
});

/** The collections of deliveries. Feeds declare their own. */
export const deliveryCollections = [
  subscriptionDocuments,
  channelHealths,
  pendingDeliveries,
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
/** One event's message to one channel, recorded before it is sent. */
export type Delivery = DocumentOf<typeof pendingDeliveries>;
/** A delivered message. */
export type Announced = DocumentOf<typeof announcements>;

/** Puts a feed's name before an id; the first feed's ids stay as version 1 wrote them. */
const scoped = (feed: string, id: string): string => (feed === FIRST_FEED ? id : `${feed}/${id}`);

/** A subscription's id. */
export const subscriptionId = (channelId: string, feed: string, subject: string | null): string =>
  scoped(feed, subject === null ? channelId : `${channelId}/${subject}`);

/** The id of an event's delivery to a channel. */
export const deliveryId = (feed: string, eventId: string, channelId: string): string =>
  scoped(feed, `${eventId}@${channelId}`);

/** The id of the message in a channel that a subject's later news refers to. */
export const announcedId = (feed: string, subject: string, channelId: string): string =>
  scoped(feed, `${subject}@${channelId}`);

/** The id of a message with later news, while something is to be done about it. */
export const newsId = (feed: string, subject: string, channelId: string, eventId: string): string =>
  `${announcedId(feed, subject, channelId)}#${eventId}`;
