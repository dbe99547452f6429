import type { REST } from "discord.js";
import type { Renderer } from "../discord/message.js";
import type { Pacer } from "../discord/pacer.js";
import type { Log } from "../log.js";
import type { Lease } from "../storage/lease.js";
import type { State } from "../storage/state.js";
import type { Feed } from "./feed.js";
import type { Janitor } from "./janitor.js";
import type { Subscriptions } from "./subscriptions.js";

/** Dependencies for delivering one network's messages under one lease. */
export interface DeliveryContext {
  /** Its commits throw `LeaseLost` after another process has taken over. */
  readonly state: State;
  readonly lease: Lease;
  /** Client without retries, because deliveries handle failures themselves. */
  readonly rest: REST;
  readonly renderer: Renderer;
  /** Rate limiter for the requests of all networks. */
  readonly pacer: Pacer;
  readonly feeds: ReadonlyMap<string, Feed>;
  readonly subscriptions: Subscriptions;
  readonly janitor: Pick<Janitor, "removeChannels" | "endSubjects">;
  readonly log: Log;
  /** Time of this machine, epoch ms. */
  readonly now: () => number;
  /** Discord's time, epoch ms. */
  readonly discordTime: () => number;
  /** Called with the result of a delivery and its age in ms. */
  readonly onDelivered: (
    feed: string,
    outcome: "delivered" | "given-up" | "paused" | "refused",
    ageMs: number,
  ) => void;
}
