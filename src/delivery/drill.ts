import { randomUUID } from "node:crypto";
import * as z from "zod";
import { type MessagePayload, type Renderer, withoutPictures } from "../discord/message.js";
import type { View } from "../screens/view.js";
import { deliveryId, type Subscription } from "../storage/catalogue.js";
import type { State } from "../storage/state.js";
import { md } from "../text/markdown.js";
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
 * A feed as far as its drills go: messages as they stand in their events. They begin something, and so they ping as the feed's
 * own do; they have no subject, and so nothing is kept of them.
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
const marked = (view: View): View => ({
  ...view,
  title: md`🧪 DRILL: ${view.title}`,
  notification: md`🧪 DRILL: ${view.notification ?? view.title}`,
  body: [
    md`-# This is a drill, to show what an announcement looks like here. Nothing has happened.`,
    ...(view.body ?? []),
  ],
});

/**
 * Has a drill sent to whoever is told by a subscription: by whichever process sends its announcements, within a second or two.
 * @param viewFor the message, with the mark that one of its links carries
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
  const drill = { feed, channelId, subject, at: now, event: { id, title: view.title.toString(), payload } };
  await state.commit([state.drills.put(id, drill)]);
}
