import { randomUUID } from "node:crypto";
import * as z from "zod";
import { type MessagePayload, type Renderer, withoutPictures } from "../discord/message.js";
import type { View } from "../screens/view.js";
import type { State } from "../storage/state.js";
import { md } from "../text/markdown.js";
import { deliveryId, requestedDrills, type Subscription } from "./collections.js";
import type { Feed } from "./feed.js";

/** The event's id of a drill. */
export const drillEventId = (id: string): string => `drill:${id}`;

const event = z.object({
  id: z.string(),
  title: z.string(),
  // Written by this bot as the message that Discord is given.
  payload: z.custom<MessagePayload>((value) => typeof value === "object" && value !== null),
});
type DrillEvent = z.infer<typeof event>;

/**
 * Returns a feed for its drills. A drill's event holds the whole message. It pings like an announcement, but has no subject, so
 * that it is not recorded.
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

/** A view that says of itself that it is a drill. */
const marked = (view: View) => ({
  ...view,
  notification: md`🧪 DRILL: ${view.notification ?? view.title}`,
  body: [
    md`-# This is a drill, to show what an announcement looks like here. Nothing has happened.`,
    ...(view.body ?? []),
  ],
});

/**
 * Requests a drill. The process that sends announcements picks it up within a second or two.
 * @param viewFor returns the message with this mark in one of its links
 */
export async function requestDrill(
  state: State,
  renderer: Renderer,
  { channelId, feed, subject }: Subscription,
  viewFor: (mark: string) => Promise<View>,
  now = Date.now(),
): Promise<void> {
  const id = randomUUID();
  const view = marked(await viewFor(renderer.mark(deliveryId(feed, drillEventId(id), channelId))));
  // The state holds text, and no pictures.
  const payload = { ...withoutPictures(renderer.message(view)), files: [] };
  const drill = {
    feed,
    channelId,
    subject,
    at: now,
    event: { id, title: view.notification.toString(), payload },
  };
  await state.commit([state.open(requestedDrills).put(id, drill)]);
}
