import * as z from "zod";
import { type MessagePayload, type Renderer, withoutPictures } from "../discord/message.js";
import type { View } from "../screens/view.js";
import type { State } from "../storage/state.js";
import { md, withoutEscapes } from "../text/markdown.js";
import { ageOf } from "../util/clock.js";
import { digest } from "../util/digest.js";
import { MINUTE } from "../util/units.js";
import { type Delivery, deliveryId, requestedDrills } from "./collections.js";
import type { Feed } from "./feed.js";
import type { SubscriptionKey } from "./subscriptions.js";

/** Returns the event id of a drill. */
export const drillEventId = (id: string): string => `drill:${id}`;

const event = z.object({
  id: z.string(),
  title: z.string(),
  // The payload was written by this bot.
  payload: z.custom<MessagePayload>((value) => typeof value === "object" && value !== null),
});
type DrillEvent = z.infer<typeof event>;

/**
 * Returns a feed for the drills of another feed. The event of a drill contains the whole message. A drill
 * pings like an announcement, but has no subject, so the sent message is not recorded.
 */
export const drillOf = ({ definition }: Feed): Feed<DrillEvent> => ({
  definition,
  readEvent: (json) => event.safeParse(json).data,
  idOf: ({ id }) => drillEventId(id),
  topicOf: () => "",
  subjectsOf: () => [],
  begins: () => true,
  wants: () => true,
  render: async ({ payload, title }) => ({ payload, title, revision: 0 }),
});

/** Maximum age of a drill, in ms. A test hours later would look like news. */
const MAX_DRILL_MS = 10 * MINUTE;

/** True for a drill that is too old to be sent. @param now epoch ms */
export const isLateDrill = ({ drill, at }: Pick<Delivery, "drill" | "at">, now: number): boolean =>
  drill === true && ageOf(at, now) > MAX_DRILL_MS;

/** Marks a view as a drill. */
const marked = (view: View) => ({
  ...view,
  notification: md`🧪 TEST: ${view.notification ?? view.title}`,
  body: [
    md`-# This is a test to show what announcements look like here. Nothing has happened.`,
    ...(view.body ?? []),
  ],
});

/**
 * Requests a drill. The process that sends announcements picks it up within a second or two.
 * @param requestId id of the person's interaction. Two processes that handle it during an upgrade request one drill
 * @param viewFor returns the message with the mark in one of its links
 */
export async function requestDrill(
  state: State,
  renderer: Renderer,
  { channelId, feed, subject }: SubscriptionKey,
  requestId: string,
  viewFor: (mark: string) => Promise<View>,
  now = Date.now(),
): Promise<void> {
  const id = digest(JSON.stringify([requestId, channelId, feed, subject]));
  const view = marked(await viewFor(renderer.mark(deliveryId(feed, drillEventId(id), channelId))));
  // Pictures can't be stored in the state.
  const payload = { ...withoutPictures(renderer.message(view)), files: [] };
  const drill = {
    feed,
    channelId,
    subject,
    at: now,
    event: { id, title: withoutEscapes(view.notification), payload },
  };
  await state.commit([state.open(requestedDrills).put(id, drill)]);
}
