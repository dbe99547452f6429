import * as z from "zod";

/**
 * Every collection of the durable state: its name, what a document of it is, and how long one lives. Nowhere else does a
 * collection have a name or a document a shape. A document that does not fit its schema affects nothing else (state.ts).
 */

/** Goes up when a document changes in a way that an older bot would misread. */
export const STATE_VERSION = 2;

/** The feed of what was written before there were others: documents of version 1 name none. */
export const FIRST_FEED = "governance";

const time = z.number();
const feed = z.string().default(FIRST_FEED);

const subscription = z.looseObject({
  channelId: z.string(),
  feed,
  /** The one thing that it is about, such as a validator; null where it is about all of them. */
  subject: z.string().nullable().default(null),
  /** The server; null where the environment made it, which does not say, and in a direct message. */
  guildId: z.string().nullable(),
  /** The person who is told in private; null where it is a channel's. */
  userId: z.string().nullable().default(null),
  /** Whether the channel is a forum, which gets a post for each message that begins something. */
  forum: z.boolean(),
  /** The tag that a forum demands. */
  tagId: z.string().nullable(),
  /** Epoch ms: what was before is not announced. */
  since: time,
  topics: z.record(z.string(), z.boolean()),
  /** Pinged with each message that begins something. */
  roleId: z.string().nullable(),
  /** Opens a thread under each message that begins something; later news goes there. */
  thread: z.boolean(),
  /** Crossposts in announcement channels. */
  publish: z.boolean(),
  /** When it was last set up, epoch ms: what was over before begins anew. */
  savedAt: time.exactOptional(),
  /** Nothing is told until the person goes on with it. */
  isPaused: z.boolean().exactOptional(),
  /** Nothing is told until then, epoch ms. */
  snoozedUntil: time.exactOptional(),
  // What only one feed knows stands beside these, and is read by that feed's own schema.
});

const health = z.object({
  deliveredAt: time.exactOptional(),
  /** In words, for people. */
  error: z.string().exactOptional(),
  erroredAt: time.exactOptional(),
  /** Nothing is sent until it is resumed. */
  paused: z.boolean().exactOptional(),
  /** Since when the bot has not been in the server, epoch ms. */
  goneSince: time.exactOptional(),
});

const delivery = z.object({
  feed,
  /** The feed's own; it reads it back by its own schema. */
  event: z.unknown(),
  channelId: z.string(),
  /** The subject of the subscription that wants it; null where it is for the channel, whatever it is subscribed to. */
  subject: z.string().nullable().default(null),
  /** Whether it is a drill, whose event is a message: nothing of it is kept. */
  drill: z.boolean().exactOptional(),
  /** When it was recorded, epoch ms. */
  at: time,
  /** Deliveries to a channel keep the order of it. */
  order: z.number(),
  attempts: z.number(),
  /** Not before this, epoch ms. */
  notBefore: time,
  /**
   * Somebody is sending it until the deadline, or was: from then on, whether it arrived must be looked up, from `at`, which is
   * Discord's time.
   */
  claim: z.object({ epoch: z.number(), at: time, deadline: time }).exactOptional(),
});

/** A drill that somebody asked for, until the outbox takes it up. */
const drill = delivery.pick({ feed: true, event: true, channelId: true, subject: true, at: true });

const announced = z.object({
  feed,
  subject: z.string(),
  channelId: z.string(),
  /** Later news, which is kept only while something is to be done about its message. */
  news: z.boolean().default(false),
  messageId: z.string(),
  /** The channel it stands in: the subscribed one, or the forum's post. */
  in: z.string(),
  at: time,
  /** The channel of later news: its thread, or the forum's post. */
  threadId: z.string().exactOptional(),
  /** What of its subject it shows; missing where it is never edited: a digest, or one that somebody deleted. */
  revision: z.number().exactOptional(),
  /** Deleted by somebody: later news stands alone. */
  gone: z.boolean().exactOptional(),
  editedAt: time.exactOptional(),
  notBefore: time.exactOptional(),
  /** What is still to be done about it, after it was sent. */
  todo: z.array(z.enum(["thread", "publish"])).exactOptional(),
});

const terms = z.object({
  title: z.string().nullable(),
  /** The action's words, where its detail has been read. */
  action: z.string().nullable(),
  /** The threshold deadline, epoch ms. */
  voteBefore: time.nullable(),
  targetEffectiveAt: time.nullable(),
});

const trackedVoteRequest = z.object({
  identity: z.string(),
  /** The contract ids it has had, the newest last: a row with an older one is stale. */
  contractIds: z.array(z.string()),
  /** Open while votes can be cast; closed for good once the API says so; ignored where it was closed when first seen. */
  phase: z.preprocess(
    (value) => (value === "silent" ? "ignored" : value),
    z.enum(["open", "closed", "ignored"]),
  ),
  status: z.string().nullable(),
  /** A super validator's name or party id; its own Yes is cast automatically. */
  requester: z.string().nullable(),
  terms,
  /** Terms that one read has shown and the next must confirm before they are announced. */
  unconfirmed: terms.exactOptional(),
  yes: z.number().nullable(),
  no: z.number().nullable(),
  pending: z.number().nullable(),
  /** Goes up with whatever its announcement shows. */
  revision: z.number(),
  /** Complete reads in a row that it was missing from. */
  missedReads: z.number().catch(0),
  /** Votes by voter, while a subscription wants them; what is there when they are first read is not announced. */
  votes: z.record(z.string(), z.boolean().nullable()).exactOptional(),
  /** Changed votes that one read has shown and the next must confirm. */
  unconfirmedVotes: z.record(z.string(), z.boolean()).exactOptional(),
  /** Of its action as the explorer gave it last: in words it may read otherwise with the next version of the bot. */
  actionDigest: z.string().exactOptional(),
  /** Of an action that one read has shown and the next must confirm. */
  unconfirmedAction: z.string().exactOptional(),
  /** Its tally has moved since its votes and its action were read. */
  needsDetail: z.boolean().exactOptional(),
  /** It is gone, and nobody says how it ended. */
  endUnconfirmed: z.boolean().exactOptional(),
  /** Goes up with each vote announced. */
  voteSequence: z.number(),
  /** Goes up with each change announced. */
  changeSequence: z.number(),
  /** The ways in which enough had voted, as far as that was told or was so at first; missing where nobody looked yet. */
  decided: z.array(z.enum(["yes", "no"])).exactOptional(),
  /** Reminders that are done, as `<deadline>:<before>`. */
  reminded: z.array(z.string()),
  closedAt: time.exactOptional(),
});

/** The last reports of a validator that somebody watches. */
const activity = z.object({
  /** When it was last seen, epoch ms, as the newest reading said that told of it. */
  seenAt: time,
  active: z.boolean().nullable(),
  version: z.string().nullable(),
  readAt: time,
  /** Between its reports, as far as readings saw them, in ms; the newest last. */
  gaps: z.array(z.number()),
});

/** What a subscription to a validator must remember. */
const validatorWatch = z.object({
  /** A time last seen that one reading has found too old, and the next must confirm. */
  unconfirmed: time.exactOptional(),
  /** The time last seen that the open alert began with. */
  alert: time.exactOptional(),
  /** What most run while this one does not, and since when that is so. */
  behind: z.object({ target: z.string(), since: time }).exactOptional(),
  /** The version that was told last. */
  toldVersion: z.string().exactOptional(),
  traffic: z
    .object({
      readAt: time,
      /** The threshold in percent that was told last, and one that a reading must confirm. */
      told: z.number().exactOptional(),
      unconfirmed: z.number().exactOptional(),
      /** Goes up with each that is told. */
      sequence: z.number(),
    })
    .exactOptional(),
  /** When the explorer first said that there is no such validator. */
  missingSince: time.exactOptional(),
  /** When the explorer no longer listed it, epoch ms: nothing is read of it any more. */
  goneAt: time.exactOptional(),
});

const alertPlace = {
  channelId: z.string(),
  /** Names its messages. */
  subject: z.string(),
  since: time,
  endedAt: time.exactOptional(),
  /** Goes up with whatever its message shows. */
  revision: z.number(),
};

/** Something that is shown by one message in one channel, which is edited as it goes on. */
const alert = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("silent"),
    ...alertPlace,
    validator: z.string(),
    /** See Subscription's option, in ms. */
    after: z.number(),
    /** 1, and more with each limit passed. */
    level: z.number(),
    /** The subject of the alert that tells of it together with others. */
    within: z.string().exactOptional(),
    /** The end of a snooze after which it was told again. */
    toldAgain: time.exactOptional(),
    isGone: z.boolean().exactOptional(),
  }),
  z.object({
    kind: z.literal("many"),
    ...alertPlace,
    silent: z.number(),
    total: z.number(),
    /** When it was told. */
    toldAt: time,
    /** The most limits that any of them has passed, as far as that was told; and the end of a snooze after which it was told again. */
    level: z.number().exactOptional(),
    toldAgain: time.exactOptional(),
    /** Those of the channel's own, and when each was back, or no longer listed. */
    members: z.array(z.object({ validator: z.string(), backAt: time.exactOptional() })),
  }),
  z.object({ kind: z.literal("hold"), ...alertPlace, newestAt: time }),
]);

/** What people said of an alert. */
const response = z.object({
  /** Goes up with whatever an alert's message shows of it. */
  revision: z.number(),
  /** The person; null where they had it forgotten. */
  acknowledged: z.object({ by: z.string().nullable(), at: time }).exactOptional(),
  /** Until when nothing more is told, epoch ms; null: until it is over. */
  snoozed: z.object({ by: z.string().nullable(), at: time, until: time.nullable() }).exactOptional(),
});

/** What a subscription to the price must remember. */
const priceWatch = z.object({
  /** Whether it may be told: not while its condition has held all the time since it was. */
  isArmed: z.boolean(),
  /** Of the subscription as it was set up then. */
  savedAt: time.exactOptional(),
  told: z.object({ at: time, price: z.string() }).exactOptional(),
});

/** Somebody who watches something. */
const person = z.object({
  /** Of their direct messages. */
  channelId: z.string(),
  /** When Discord refused one, until they have been told. */
  refusedAt: time.exactOptional(),
});

/** Who of a server stands for a super validator. */
const voter = z.object({
  guildId: z.string(),
  name: z.string(),
  /** All that it goes by: its party, where the explorer gives it, and its names. */
  aliases: z.array(z.string()),
  who: z.object({ kind: z.enum(["member", "role"]), id: z.string() }),
  setAt: time,
  /** Since when its server has had no subscription. */
  unusedSince: time.exactOptional(),
});

/** What a digest told of last, and how things stood then. */
const digestMemory = z.object({
  at: time,
  /** Validators by short digests of their ids; missing where they were not known. */
  alive: z.array(z.string()).optional(),
  silent: z.array(z.string()).optional(),
  /** What most of them ran. */
  version: z.string().nullable(),
});

/** An event in a server's calendar, for one vote request. */
const calendarEvent = z.object({
  guildId: z.string(),
  /** The vote request's. */
  key: z.string(),
  name: z.string(),
  endsAt: time,
  /** Missing until Discord has said that it was made. */
  eventId: z.string().exactOptional(),
  startsAt: time.exactOptional(),
  /** Deleted by somebody: it stays so. */
  isGone: z.boolean().exactOptional(),
  notBefore: time.exactOptional(),
});

const entry = z.object({
  id: z.string(),
  name: z.string().nullable(),
  /** A validator that is active, a vote request that is open; null where it is neither or not known. */
  active: z.boolean().nullable(),
  /** What a validator runs. */
  version: z.string().nullable().exactOptional(),
  /** When a validator was last seen, epoch ms. */
  seenAt: time.nullable().exactOptional(),
  /** What tells it from others of the same name, better than its id: a vote request's status and deadline. */
  note: z.string().exactOptional(),
});

/** What version 1 called these fields. */
const OLD_FIELDS = { missing: "missedReads", flips: "unconfirmedVotes", due: "needsDetail" } as const;

type Fields = Readonly<Record<string, unknown>>;

/** Fields under the names that they have now. */
const renamed = (_: string, document: Fields): Fields =>
  Object.fromEntries([
    ...Object.entries(OLD_FIELDS).flatMap(([old, now]) => (old in document ? [[now, document[old]]] : [])),
    ...Object.entries(document).filter(([key]) => !(key in OLD_FIELDS)),
  ]);

/** Version 1 kept a message's subject and channel in its id alone: `<subject>@<channel>`, with `#<event>` for news. */
function withPlace(id: string, document: Fields): Fields {
  if ("channelId" in document) return document;
  const [place = "", event] = id.split("#");
  const [subject, channelId] = place.split("@");
  return { ...document, subject, channelId, news: event !== undefined };
}

/** Something that ails the bot, which its operator is told of. */
const trouble = z.object({
  /** The channel that is told. */
  channelId: z.string(),
  kind: z.enum(["key", "explorer", "late", "unreadable", "unforeseen"]),
  since: time,
  /** When it was last found, within a minute. */
  seenAt: time,
  endedAt: time.exactOptional(),
  /** What is to be said of it besides, a line each. */
  details: z.array(z.string()),
  revision: z.number(),
});

/** One collection: its name, the schema of its documents, and how long one lives. */
interface Definition {
  readonly name: string;
  readonly schema: z.ZodType;
  readonly lives: string;
  /** Brings a document of an earlier version to the present shape, before it is parsed. */
  readonly upgrade?: (id: string, document: Fields) => Fields;
  /** Whether an export leaves it out: it belongs to the store it is in. */
  readonly stays?: boolean;
  /** Whether it belongs to the bot as a whole: each network has every other collection for itself. */
  readonly shared?: boolean;
  /**
   * Whether an import writes it last. Cut off halfway, it then leaves a state that tells of no progress: a bot on it begins
   * anew, silently, where progress without the rest would have it announce all that is open again.
   */
  readonly last?: boolean;
}

/** The collections, by the names that code has for them. */
const catalogue = {
  subscriptions: {
    name: "subscriptions",
    schema: subscription,
    lives: "until it is removed, or 30 days after the bot has left the server",
  },
  health: { name: "health", schema: health, lives: "as long as its channel's subscriptions" },
  outbox: { name: "outbox", schema: delivery, lives: "until it is delivered, or for a day" },
  drills: { name: "drills", schema: drill, lives: "until the outbox takes it up, a second later" },
  announced: {
    name: "announced",
    schema: announced,
    lives: "30 days after its subject has ended, or until the channel's subscription is removed",
    upgrade: withPlace,
  },
  voteRequests: {
    name: "requests",
    schema: trackedVoteRequest,
    lives: "for ever, shortened 180 days after it has closed",
    upgrade: renamed,
  },
  /** By party: those that are known are no news. */
  validators: {
    name: "validators",
    schema: z.object({ seenAt: time }),
    lives: "for ever: one for each validator",
  },
  activity: { name: "activity", schema: activity, lives: "as long as somebody watches the validator" },
  validatorWatches: {
    name: "validator-watches",
    schema: validatorWatch,
    lives: "as long as its subscription",
  },
  alerts: { name: "alerts", schema: alert, lives: "until 30 days after it is over" },
  responses: { name: "responses", schema: response, lives: "as long as its alert" },
  priceWatches: { name: "price-watches", schema: priceWatch, lives: "as long as its subscription" },
  people: { name: "people", schema: person, lives: "as long as they watch something" },
  voters: {
    name: "voters",
    schema: voter,
    lives: "until it is removed, or for 30 days where its server has no subscription",
  },
  calendar: { name: "calendar", schema: calendarEvent, lives: "until its vote request has ended" },
  digests: { name: "digests", schema: digestMemory, lives: "as long as its subscription" },
  troubles: { name: "troubles", schema: trouble, lives: "until 30 days after it is over" },
  progress: { name: "progress", schema: z.object({ completeAt: time }), lives: "for ever", last: true },
  prices: {
    name: "prices",
    schema: z.array(z.tuple([z.number(), z.string()])),
    lives: "each sample for 30 days",
  },
  directory: {
    name: "directory",
    schema: z.object({ readAt: time, changedAt: time.exactOptional(), entries: z.array(entry) }),
    lives: "until the list is read again",
  },
  /** Apart from the lists, since they are what a process that waits for news reads. */
  directoryTimes: {
    name: "directory-times",
    schema: z.object({ readAt: time, changedAt: time.exactOptional() }),
    lives: "until the list is read again",
  },
  /** What vote requests are about, by their identity: words, and parties by their ids. */
  subjects: {
    name: "subjects",
    schema: z.array(z.union([z.string(), z.object({ party: z.string() })])),
    lives: "for ever: one for each vote request",
  },
  tokens: { name: "tokens", schema: entry, lives: "for ever" },
  ids: {
    name: "ids",
    // Version 1 wrote the id alone.
    schema: z.preprocess(
      (value) => (typeof value === "string" ? { id: value, usedAt: null } : value),
      z.object({ id: z.string(), usedAt: time.nullable() }),
    ),
    lives: "for a year after a button with it was last shown or pressed",
    shared: true,
  },
  networks: {
    name: "networks",
    schema: z.object({ oldest: z.string(), all: z.array(z.string()) }),
    lives: "for ever: the networks that NETWORKS has named",
    shared: true,
  },
  networkChoices: {
    name: "network-choices",
    schema: z.object({
      /** Of the whole server, or of the person's direct messages. */
      network: z.string().exactOptional(),
      /** By the ids of a server's channels. */
      channels: z.record(z.string(), z.string()),
      usedAt: time,
    }),
    lives: "until it is taken back, the person is forgotten, or nobody has used it for a year",
    shared: true,
  },
  settings: {
    name: "settings",
    schema: z.object({ guildId: z.string().nullable() }),
    lives: "for ever: where the commands were last registered",
    shared: true,
  },
  version: {
    name: "version",
    schema: z.object({ version: z.number() }),
    lives: "for ever",
    shared: true,
  },
  lease: {
    name: "lease",
    schema: z.object({ epoch: z.number() }),
    lives: "for ever",
    stays: true,
    shared: true,
  },
  unreadable: {
    name: "unreadable",
    schema: z.object({
      collection: z.string(),
      id: z.string(),
      text: z.string(),
      problem: z.string(),
      at: time,
    }),
    lives: "until an operator deletes it",
  },
} as const satisfies Record<string, Definition>;

/** A collection's name in code. */
export type CollectionName = keyof typeof catalogue;

/** A collection's definition. */
export const definitionOf = (collection: CollectionName): Definition => catalogue[collection];

/** Every collection. */
export const collectionNames = Object.keys(catalogue) as CollectionName[];

const shared = new Set(
  Object.values<Definition>(catalogue)
    .filter((each) => each.shared)
    .map(({ name }) => name),
);

/** Whether a collection, by its name, belongs to the bot as a whole. */
export const isShared = (name: string): boolean => shared.has(name);

type DeepReadonly<T> = T extends object ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> } : T;

/** A document of a collection. */
export type DocumentOf<Name extends CollectionName> = DeepReadonly<
  z.output<(typeof catalogue)[Name]["schema"]>
>;

/** What a channel is subscribed to: some topics of a feed. */
export type Subscription = DocumentOf<"subscriptions">;
/** How a subscribed channel is doing. */
export type Health = DocumentOf<"health">;
/** One event's message to one channel, recorded before it is sent. */
export type Delivery = DocumentOf<"outbox">;
/** A message as it stands in a channel. */
export type Announced = DocumentOf<"announced">;
/** What is known of a vote request from one read to the next. */
export type TrackedVoteRequest = DocumentOf<"voteRequests">;
export type Activity = DocumentOf<"activity">;
export type ValidatorWatch = DocumentOf<"validatorWatches">;
export type Alert = DocumentOf<"alerts">;
/** What people said of an alert. */
export type Response = DocumentOf<"responses">;
export type PriceWatch = DocumentOf<"priceWatches">;
/** What ails the bot. */
export type Trouble = DocumentOf<"troubles">;
/** What a digest told of last. */
export type DigestMemory = DocumentOf<"digests">;
/** An event in a server's calendar. */
export type CalendarEvent = DocumentOf<"calendar">;
/** Who of a server stands for a super validator. */
export type MappedVoter = DocumentOf<"voters">;
/** One thing by its id, as a list told of it. */
export type Entry = DocumentOf<"tokens">;

/** Puts a feed's name before an id; the first feed's ids stay as version 1 wrote them. */
const scoped = (feed: string, id: string): string => (feed === FIRST_FEED ? id : `${feed}/${id}`);

/** A subscription's id. */
export const subscriptionId = (channelId: string, feed: string, subject: string | null): string =>
  scoped(feed, subject === null ? channelId : `${channelId}/${subject}`);

/** An alert's id, and that of what people said of it. */
export const alertId = (channelId: string, subject: string): string => `${channelId}/${subject}`;

/** The id of an event's delivery to a channel. */
export const deliveryId = (feed: string, eventId: string, channelId: string): string =>
  scoped(feed, `${eventId}@${channelId}`);

/** The id of the message in a channel that a subject's later news refers to. */
export const announcedId = (feed: string, subject: string, channelId: string): string =>
  scoped(feed, `${subject}@${channelId}`);

/** The id of a message with later news, while something is to be done about it. */
export const newsId = (feed: string, subject: string, channelId: string, eventId: string): string =>
  `${announcedId(feed, subject, channelId)}#${eventId}`;
