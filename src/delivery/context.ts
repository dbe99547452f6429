import type { REST } from "discord.js";
import type { Renderer } from "../discord/message.js";
import type { Pacer } from "../discord/pacer.js";
import type { Log } from "../log.js";
import type { Lease, LeasedState } from "../storage/lease.js";
import type { Feed } from "./feed.js";
import type { Janitor } from "./janitor.js";
import type { Subscriptions } from "./subscriptions.js";

/** Called with the result of a delivery and its age in ms. */
export type OnDelivered = (feed: string, outcome: "delivered" | "given-up" | "paused", ageMs: number) => void;

/** The parts that deliver one network's messages, under one lease. */
export interface DeliveryContext {
  readonly state: LeasedState;
  readonly lease: Lease;
  /** Sends each request once, because deliveries decide about failures. */
  readonly rest: REST;
  readonly renderer: Renderer;
  /** Spaces the requests of all networks. */
  readonly pacer: Pacer;
  readonly feeds: ReadonlyMap<string, Feed>;
  readonly subscriptions: Subscriptions;
  readonly janitor: Pick<Janitor, "removeChannel" | "endSubjects">;
  readonly log: Log;
  /** This machine's time, epoch ms. */
  readonly now: () => number;
  /** Discord's time, epoch ms. */
  readonly discordTime: () => number;
  readonly onDelivered: OnDelivered;
}
