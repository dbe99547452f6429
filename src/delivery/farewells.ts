import { ageOf, believed } from "../util/clock.js";
import { DAY } from "../util/units.js";
import { type Announced, deliveryId, farewells } from "./collections.js";
import type { DeliveryContext } from "./context.js";
import { MAX_WAIT_MS } from "./decisions.js";
import { afterFailedEdit, editAnnounced } from "./edits.js";

/** Age of a message after which it is not edited any more, in ms. */
const OLD_MS = 30 * DAY;

/**
 * Creates the job that closes the messages of removed subscriptions. If a message's subject ends with the
 * subscription, as an alert does, it is edited once, so that it does not look open forever. Other messages
 * stay unchanged.
 */
export function createFarewells({ state, rest, renderer, pacer, feeds, log, now }: DeliveryContext) {
  const collection = state.open(farewells);

  /** Edits a message for the last time. Returns its document if that must be tried again. */
  const close = async (document: Announced): Promise<Announced | undefined> => {
    const { feed, subject, channelId, messageId, at } = document;
    const lasting = feeds.get(feed)?.lasting;
    const isOpen = lasting && (await lasting.stateOf(subject, channelId)) === undefined;
    if (!isOpen || ageOf(at, now()) >= OLD_MS) return undefined;
    const mark = renderer.mark(deliveryId(feed, lasting.beginningOf(subject), channelId));
    const payload = await lasting.current(subject, mark, channelId, []);
    await pacer.turn(channelId, "edit");
    try {
      await editAnnounced(rest, document, payload);
      return undefined;
    } catch (err) {
      log.debug({ err, channel: channelId, message: messageId }, "A message could not be closed");
      // Often the bot has lost access to the channel, which is why the subscription was removed.
      const failed = afterFailedEdit(document, err, now());
      return failed.revision === undefined ? undefined : failed;
    }
  };

  return async (): Promise<void> => {
    for (const [id, document] of await collection.list()) {
      if (believed(document.notBefore ?? 0, now(), MAX_WAIT_MS) > now()) continue;
      const again = await close(document);
      await state.commit([again ? collection.put(id, again) : collection.delete(id)]);
    }
  };
}
