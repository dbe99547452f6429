import type { GovernanceEvent } from "./events.js";

/** One event's message to one channel, recorded before it is sent. */
export interface Delivery {
  readonly event: GovernanceEvent;
  readonly channelId: string;
  /** When it was recorded, epoch ms; deliveries to a channel keep the order of it. */
  readonly at: number;
  readonly order: number;
  readonly attempts: number;
  /** Not before this, epoch ms. */
  readonly notBefore: number;
  /** Somebody is sending it until the deadline, or was: from then on, whether it arrived must be looked up. */
  readonly claim?: { readonly epoch: number; readonly at: number; readonly deadline: number };
}

/** An announcement as it stands in a channel. */
export interface Announced {
  readonly messageId: string;
  /** The channel it stands in: the subscribed one, or the forum's post. */
  readonly in: string;
  readonly at: number;
  /** The channel of later news: its thread, or the forum's post. */
  readonly threadId?: string;
  /** What of the request it shows; undefined where it is never edited: a digest, or one that somebody deleted. */
  readonly revision?: number;
  /** Deleted by somebody: later news stands alone. */
  readonly gone?: boolean;
  readonly editedAt?: number;
  readonly notBefore?: number;
  /** What is still to be done about it, after it was sent. */
  readonly todo?: readonly ("thread" | "publish")[];
}

/** News is kept only while something is to be done about it. */
export const newsId = (key: string, channelId: string, event: string): string =>
  `${key}@${channelId}#${event}`;

export const announcedId = (key: string, channelId: string): string => `${key}@${channelId}`;

/** The channel in either of the two ids. */
export const channelOf = (id: string): string => id.replace(/^.*@/, "").replace(/#.*$/, "");

/** Whether an event begins something that later news refers to. */
export const opens = (
  event: GovernanceEvent,
): event is Extract<GovernanceEvent, { kind: "opened" | "digest" }> =>
  event.kind === "opened" || event.kind === "digest";

/** Another process does the background work now, or this one is stopping: nothing more is written or sent. */
export class TakenOver extends Error {}
