import * as z from "zod";
import { type DocumentOf, defineCollection, type Owner } from "../../storage/collection.js";

/** The name of this feed. */
export const VALIDATOR_FEED = "validator";

const timestampSchema = z.number();

/** The state of a subscription to a validator. */
const validatorWatch = z.object({
  /** A time last seen that one reading has found too old, and the next must confirm. */
  unconfirmed: timestampSchema.exactOptional(),
  /** The time last seen that the open alert began with. */
  alert: timestampSchema.exactOptional(),
  /** The version that most validators run and this one does not, and since when. */
  behind: z.object({ target: z.string(), since: timestampSchema }).exactOptional(),
  /** The version that was told last. */
  toldVersion: z.string().exactOptional(),
  traffic: z
    .object({
      readAt: timestampSchema,
      /** The threshold in percent that was told last, and one that a reading must confirm. */
      told: z.number().exactOptional(),
      unconfirmed: z.number().exactOptional(),
      /** Goes up with each that is told. */
      sequence: z.number(),
    })
    .exactOptional(),
  /** When the explorer first said that there is no such validator. */
  missingSince: timestampSchema.exactOptional(),
  /** When the explorer stopped listing it, epoch ms. It is no longer read. */
  goneAt: timestampSchema.exactOptional(),
});

const alertPlace = {
  channelId: z.string(),
  /** Names its messages. */
  subject: z.string(),
  since: timestampSchema,
  endedAt: timestampSchema.exactOptional(),
  /** Goes up with whatever its message shows. */
  revision: z.number(),
};

/** Something that is shown by one message in one channel, which is edited as it goes on. */
const alertSchema = z.discriminatedUnion("kind", [
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
    toldAgain: timestampSchema.exactOptional(),
    isGone: z.boolean().exactOptional(),
  }),
  z.object({
    kind: z.literal("many"),
    ...alertPlace,
    silent: z.number(),
    total: z.number(),
    /** When it was told. */
    toldAt: timestampSchema,
    /** The most limits that any of them has passed, as far as that was told; and the end of a snooze after which it was told again. */
    level: z.number().exactOptional(),
    toldAgain: timestampSchema.exactOptional(),
    /** The channel's own validators, and when each came back or was delisted. */
    members: z.array(
      z.object({
        validator: z.string(),
        backAt: timestampSchema.exactOptional(),
        /** True if it did not come back: the explorer no longer lists it since `backAt`. */
        isGone: z.boolean().exactOptional(),
      }),
    ),
  }),
  z.object({
    kind: z.literal("hold"),
    ...alertPlace,
    newestAt: timestampSchema,
    /** Set if the network's rhythm has changed: how often validators reported before, and report now, in ms. */
    rhythm: z.object({ beforeMs: z.number(), nowMs: z.number().exactOptional() }).exactOptional(),
  }),
]);

/** People's responses to an alert. */
const response = z.object({
  /** Goes up with whatever an alert's message shows of it. */
  revision: z.number(),
  /** The person; null if they had it forgotten. */
  acknowledged: z
    .object({
      by: z.string().nullable(),
      at: timestampSchema,
      /** The person's name in the server, for the button. */
      name: z.string().exactOptional(),
    })
    .exactOptional(),
  /** End of the snooze, epoch ms; null until the validator is back. */
  snoozed: z
    .object({ by: z.string().nullable(), at: timestampSchema, until: timestampSchema.nullable() })
    .exactOptional(),
});

/** State of each subscription to a validator, by subscription. */
export const validatorWatches = defineCollection({
  name: "validator-watches",
  schema: validatorWatch,
  lifetime: "as long as its subscription",
  owners: [{ kind: "subscription" }],
});

/** Alerts and responses are named `<channel>/<alert>`. */
const ofAlert: Owner = { kind: "subject", subjectOf: (id) => id };

/** Alerts, by channel and subject. */
export const alerts = defineCollection({
  name: "alerts",
  schema: alertSchema,
  lifetime: "until 30 days after it is over",
  owners: [
    { kind: "subscription", patternOf: (_, { channelId }) => ({ channelId, feed: VALIDATOR_FEED }) },
    ofAlert,
  ],
});

type Attributed = { readonly by: string | null };

/** People's responses to alerts, by alert. */
export const responses = defineCollection({
  name: "responses",
  schema: response,
  lifetime: "as long as its alert",
  owners: [
    {
      kind: "subscription",
      patternOf: (id) => ({ channelId: id.split("/")[0] ?? "", feed: VALIDATOR_FEED }),
    },
    ofAlert,
    {
      kind: "person",
      mentions: (userId, _, { acknowledged, snoozed }) =>
        acknowledged?.by === userId || snoozed?.by === userId,
      // The alert stays acknowledged or snoozed, but no longer says by whom.
      without(userId, { revision, acknowledged, snoozed }) {
        const anonymous = <T extends Attributed>({ name, ...answer }: T & { readonly name?: string }) =>
          answer.by === userId
            ? { ...answer, by: null }
            : { ...answer, ...(name === undefined ? {} : { name }) };
        return {
          revision: revision + 1,
          ...(acknowledged && { acknowledged: anonymous(acknowledged) }),
          ...(snoozed && { snoozed: anonymous(snoozed) }),
        };
      },
    },
  ],
});

/** The state of a subscription to a validator. */
export type ValidatorWatch = DocumentOf<typeof validatorWatches>;
/** A silence, a group of silences, or a hold, as one message in one channel shows it. */
export type Alert = DocumentOf<typeof alerts>;
/** People's responses to an alert. */
export type AlertResponse = DocumentOf<typeof responses>;

/** True while an alert is snoozed. */
export const isSnoozed = (response: AlertResponse | undefined, now: number): boolean =>
  response?.snoozed !== undefined &&
  (response.snoozed.until === null || (response.snoozed.until > now && response.snoozed.at <= now));

/** Returns the id of an alert and of its responses. */
export const alertId = (channelId: string, subject: string): string => `${channelId}/${subject}`;
