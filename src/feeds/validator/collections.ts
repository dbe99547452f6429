import * as z from "zod";
import { subscriptionId } from "../../delivery/collections.js";
import { type DocumentOf, defineCollection, type Owner } from "../../storage/collection.js";
import { timestampSchema } from "../../storage/timestamp.js";
import { ageOf } from "../../util/clock.js";
import { defined } from "../../util/present.js";
import { DAY } from "../../util/units.js";

/** The name of this feed. */
export const VALIDATOR_FEED = "validator";

/** The state of a subscription to a validator. */
const validatorWatch = z.object({
  /** A last report that was too old in one reading. The next reading must confirm it. */
  unconfirmed: timestampSchema.exactOptional(),
  /** The last report before the open alert. */
  alert: timestampSchema.exactOptional(),
  /** The version that most validators run and this one does not, and the time since when. */
  behind: z.object({ target: z.string(), since: timestampSchema }).exactOptional(),
  /** The version that was announced last. */
  toldVersion: z.string().exactOptional(),
  /**
   * The last warning before an upgrade of the network: the time of the upgrade, the days before it, and when the vote that set the time
   * took effect. Warnings of earlier versions lack the latter.
   */
  toldUpgrade: z
    .object({ at: timestampSchema, days: z.number(), decidedAt: timestampSchema.exactOptional() })
    .exactOptional(),
  traffic: z
    .object({
      readAt: timestampSchema,
      /** The threshold in percent that was announced last, and one that a reading must confirm. */
      told: z.number().exactOptional(),
      unconfirmed: z.number().exactOptional(),
      /** Increases with each announced threshold. */
      sequence: z.number(),
    })
    .exactOptional(),
  /** Time when the explorer first said that there is no such validator. */
  missingSince: timestampSchema.exactOptional(),
  /** Time when the explorer stopped listing it, epoch ms. It is not read until it is listed again. */
  goneAt: timestampSchema.exactOptional(),
});

const alertPlace = {
  channelId: z.string(),
  /** Subject of the alert's messages. */
  subject: z.string(),
  since: timestampSchema,
  endedAt: timestampSchema.exactOptional(),
  /** Increases with every change that its message shows. */
  revision: z.number(),
};

/** State of an alert. Each channel has one message for it, which is edited when it changes. */
const alertSchema = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("silent"),
    ...alertPlace,
    validator: z.string(),
    /** Time without a report after which the validator was silent, in ms: two missed reports, or the option `after` if it is longer. */
    after: z.number(),
    /** Number of time limits that the silence has passed, from 1. */
    level: z.number(),
    /** Subject of the group alert that reports this silence. */
    within: z.string().exactOptional(),
    /** End of the snooze after which the alert was repeated. */
    toldAgain: timestampSchema.exactOptional(),
    isGone: z.boolean().exactOptional(),
    /** True if it may have come back before `endedAt`: the explorer could not be read, or the subscription was paused. */
    isBackEarlier: z.boolean().exactOptional(),
  }),
  z.object({
    kind: z.literal("many"),
    ...alertPlace,
    silent: z.number(),
    total: z.number(),
    /** Time when the alert was sent. */
    toldAt: timestampSchema,
    /** Highest level of a member that was announced, and the end of the snooze after which the alert was repeated. */
    level: z.number().exactOptional(),
    toldAgain: timestampSchema.exactOptional(),
    /** True if the channel watches one of them with all super validators. */
    isOfAll: z.boolean().exactOptional(),
    /** Members that the channel watches, and the time when each came back or was delisted. */
    members: z.array(
      z.object({
        validator: z.string(),
        backAt: timestampSchema.exactOptional(),
        /** The role that its alert pings. */
        roleId: z.string().exactOptional(),
        /** True if it did not come back. The explorer stopped listing it at `backAt`. */
        isGone: z.boolean().exactOptional(),
      }),
    ),
  }),
  z.object({
    kind: z.literal("hold"),
    ...alertPlace,
    newestAt: timestampSchema,
    /** If it had ended and began again: when, and for how long it had lasted before, in ms. */
    resumedAt: timestampSchema.exactOptional(),
    earlierMs: z.number().exactOptional(),
    /** Set if the network's rhythm has changed. Reporting intervals before and after the change, in ms. */
    rhythm: z.object({ beforeMs: z.number(), nowMs: z.number().exactOptional() }).exactOptional(),
    /** Set if the network stands still. `isUnsure` once the rounds cannot be read any more, `isLate` if it may have ended before. */
    standstill: z
      .object({
        round: z.number(),
        isUnsure: z.boolean().exactOptional(),
        isLate: z.boolean().exactOptional(),
      })
      .exactOptional(),
    /** True if alerts stayed on hold for another reason when this hold ended. */
    isStillHeld: z.boolean().exactOptional(),
  }),
]);

/** People's responses to an alert. */
const response = z.object({
  /** Increases with every change that an alert's message shows. */
  revision: z.number(),
  /** The person who acknowledged the alert, null if they deleted their data. */
  acknowledged: z
    .object({
      by: z.string().nullable(),
      at: timestampSchema,
      /** The person's display name in the server, for the button. */
      name: z.string().exactOptional(),
    })
    .exactOptional(),
  /** The snooze. `until` is its end in epoch ms, or null if it lasts until the validator is back. */
  snoozed: z
    .object({ by: z.string().nullable(), at: timestampSchema, until: timestampSchema.nullable() })
    .exactOptional(),
});

/** State of each watched validator, by channel and validator. */
export const validatorWatches = defineCollection({
  name: "validator-watches",
  schema: validatorWatch,
  lifetime: "as long as its channel watches the validator",
  // A group's members have documents of their own. The poll deletes those that are no longer watched.
  owners: [
    {
      kind: "subscription",
      patternOf: (id) => ({ channelId: id.split("/")[1] ?? "", feed: VALIDATOR_FEED }),
    },
  ],
});

/** Returns the id of the state of a watched validator. */
export const watchId = (channelId: string, party: string): string =>
  subscriptionId(channelId, VALIDATOR_FEED, party);

/** Ids of alerts and responses are `<channel>/<alert>`. */
const ofAlert: Owner = { kind: "subject" };

/**
 * Time after its end for which an alert is still listed, in ms. A hold that begins again within an hour is the same one, and the clock
 * may have been hours ahead.
 */
const SETTLED_MS = DAY;

/** Alerts, by channel and subject. */
export const alerts = defineCollection({
  name: "alerts",
  schema: alertSchema,
  lifetime: "until 30 days after it is over",
  // A bot with many subscriptions has hundreds of thousands of ended alerts. The end of an unsure standstill is still to be told.
  isListed: (alert) =>
    alert.endedAt === undefined ||
    ageOf(alert.endedAt, Date.now()) < SETTLED_MS ||
    (alert.kind === "hold" && alert.standstill?.isUnsure === true),
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
      // The alert stays acknowledged or snoozed, without the person's name.
      without(userId, { revision, acknowledged, snoozed }) {
        const anonymous = <T extends Attributed>({ name, ...answer }: T & { readonly name?: string }) =>
          answer.by === userId ? { ...answer, by: null } : { ...answer, ...defined({ name }) };
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
/** A silence, a group of silences or a hold, shown by one message in one channel. */
export type Alert = DocumentOf<typeof alerts>;
/** The silence of one validator. */
export type SilentAlert = Extract<Alert, { kind: "silent" }>;
/** A group of validators that went silent together. */
export type GroupAlert = Extract<Alert, { kind: "many" }>;
/** A time in which alerts are held. */
export type HoldAlert = Extract<Alert, { kind: "hold" }>;
/** People's responses to an alert. */
export type AlertResponse = DocumentOf<typeof responses>;

/** True while an alert is snoozed. */
export const isSnoozed = (response: AlertResponse | undefined, now: number): boolean =>
  response?.snoozed !== undefined &&
  (response.snoozed.until === null || (response.snoozed.until > now && response.snoozed.at <= now));

/** Returns the id of an alert and of its responses. */
export const alertId = (channelId: string, subject: string): string => `${channelId}/${subject}`;

/** Returns the subject in the id of an alert. */
export const subjectIn = (id: string): string => id.slice(id.indexOf("/") + 1);

/** Returns for how long a hold has lasted, without its breaks, in ms. */
export const heldMs = ({ since, endedAt, resumedAt, earlierMs = 0 }: HoldAlert, now: number): number =>
  earlierMs + (endedAt ?? now) - (resumedAt ?? since);
