import type { REST } from "discord.js";
import { DISCORD, hasCode } from "../discord/errors.js";
import type { MessagePayload } from "../discord/message.js";
import { editMessage, pingsIn, readText, setArchived } from "../discord/post.js";
import { type Announced, deliveryId, farewells } from "./collections.js";
import type { DeliveryContext } from "./context.js";

/** Edits a delivered message. An archived post in a forum is opened for the edit, then archived again. */
export async function editAnnounced(rest: REST, document: Announced, payload: MessagePayload): Promise<void> {
  const { in: placeId, messageId } = document;
  // Earlier versions did not record the mentions.
  const pings = document.pings ?? pingsIn(await readText(rest, placeId, messageId));
  try {
    await editMessage(rest, placeId, messageId, payload, pings);
  } catch (error) {
    if (!hasCode(error, DISCORD.threadArchived)) throw error;
    await setArchived(rest, placeId, false);
    await editMessage(rest, placeId, messageId, payload, pings);
    await setArchived(rest, placeId, true);
  }
}

/**
 * Creates the job that closes the messages of removed subscriptions. If a message's subject ends with the
 * subscription, as an alert does, it is edited once, so that it does not look open forever. Other messages
 * stay unchanged.
 */
export function createFarewells({ state, rest, renderer, pacer, feeds, log }: DeliveryContext) {
  const collection = state.open(farewells);
  return async (): Promise<void> => {
    for (const [id, document] of await collection.list()) {
      const { feed, subject, channelId, messageId } = document;
      const lasting = feeds.get(feed)?.lasting;
      if (lasting && (await lasting.stateOf(subject, channelId)) === undefined) {
        const mark = renderer.mark(deliveryId(feed, lasting.beginningOf(subject), channelId));
        const payload = await lasting.current(subject, mark, channelId, []);
        await pacer.turn(channelId, "edit");
        // Try only once. The bot may have lost access to the channel, which is often why the subscription was
        // removed.
        await editAnnounced(rest, document, payload).catch((err: unknown) =>
          log.debug({ err, channel: channelId, message: messageId }, "A message could not be closed"),
        );
      }
      await state.commit([collection.delete(id)]);
    }
  };
}
