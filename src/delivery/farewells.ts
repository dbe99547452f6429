import { type Announced, deliveryId, farewells } from "./collections.js";
import type { DeliveryContext } from "./context.js";
import { nextStep } from "./decisions.js";
import { editForGood } from "./edits.js";
import type { LastingMessages } from "./feed.js";

interface FarewellContext
  extends Pick<DeliveryContext, "state" | "lease" | "rest" | "renderer" | "pacer" | "log" | "now"> {
  readonly feeds: ReadonlyMap<string, { readonly lasting?: LastingMessages }>;
}

/**
 * Creates the job that closes the messages of removed subscriptions. If a message's subject ends with the subscription, as an
 * alert does, it is edited once, so that it does not look open forever. Other messages stay unchanged.
 */
export function createFarewells(context: FarewellContext) {
  const { state, renderer, feeds, now } = context;
  const collection = state.open(farewells);

  /** Closes a message. Returns its document if that is not done yet. */
  const close = async (document: Announced): Promise<Announced | undefined> => {
    // A thread that is still to be opened is not opened any more.
    const { todo, ...open } = document;
    const { feed, subject, channelId } = open;
    const lasting = feeds.get(feed)?.lasting;
    if (!lasting) return undefined;
    if (await lasting.stateOf(subject, channelId)) return undefined;
    const step = nextStep({ document: open, isLasting: true, subject: undefined, mayEdit: true }, now());
    if (step.kind === "wait") return document;
    if (step.kind !== "retire") return undefined;
    const mark = renderer.mark(deliveryId(feed, lasting.beginningOf(subject), channelId));
    const payload = await lasting.current(subject, mark, channelId, []);
    return editForGood(context, open, payload);
  };

  return async (): Promise<void> => {
    for (const [id, document] of await collection.list()) {
      const remainingDocument = await close(document);
      if (remainingDocument === document) continue;
      await state.commit([
        collection.expect(id, document),
        remainingDocument ? collection.put(id, remainingDocument) : collection.delete(id),
      ]);
    }
  };
}
