import { ErrorCode, hasCode } from "../discord/errors.js";
import { crosspost, openThread, setArchived } from "../discord/post.js";
import { isTemporary, problemOf, retryAfterOf } from "../discord/problems.js";
import { DAY, MINUTE } from "../util/units.js";
import { type Announced, announcements, deliveryId } from "./collections.js";
import type { DeliveryContext } from "./context.js";
import { afterFailedEdit, editAnnounced, editForGood } from "./edits.js";
import type { LastingMessages, SubjectState } from "./feed.js";
import type { Subscriptions } from "./subscriptions.js";

/** Time for which follow-up steps are retried, in ms. */
const FOLLOW_UP_MS = DAY;

/** Dependencies of the upkeep of delivered messages. */
export interface ChoreContext
  extends Omit<DeliveryContext, "subscriptions" | "janitor" | "discordTime" | "onDelivered"> {
  readonly subscriptions: Pick<Subscriptions, "recipients" | "health" | "unchanged" | "healthWrite">;
}

type FollowUp = NonNullable<Announced["todo"]>[number];

/** Codes of errors that concern the channel, and not only one message: a permission, or a channel that is no announcement channel. */
const REFUSALS = [
  ErrorCode.MissingPermissions,
  ErrorCode.MissingAccess,
  ErrorCode.CannotExecuteActionOnThisChannelType,
] as const;

/** Describes a follow-up step that Discord refuses for good, for the channel's last error. */
const REFUSED_STEPS: Readonly<Record<FollowUp, string>> = {
  thread: "the bot can't open threads there. Grant it Create Public Threads",
  publish: "the bot can't publish its messages there",
};

/** Creates what can be done with a delivered message: edit it, edit it for the last time, or complete it. */
export function createChores(context: ChoreContext) {
  const { state, lease, rest, renderer, pacer, subscriptions, log, now } = context;
  const announced = state.open(announcements);

  /** Returns the current content of a message. */
  const currentOf = async ({ feed, subject, channelId }: Announced, lasting: LastingMessages) => {
    const mark = renderer.mark(deliveryId(feed, lasting.beginningOf(subject), channelId));
    const recipients = await subscriptions.recipients({ channelId, feed, subject: null });
    return lasting.current(subject, mark, channelId, recipients);
  };

  /** Archives a thread, unless it is gone or the bot may not. */
  const archive = (threadId: string) =>
    setArchived(rest, threadId, true).catch((error: unknown) => {
      if (isTemporary(problemOf(error))) throw error;
    });

  const edit = async (
    id: string,
    document: Announced,
    feed: LastingMessages,
    { revision, endedAt }: SubjectState,
  ) => {
    const { channelId, messageId } = document;
    const payload = await currentOf(document, feed);
    await pacer.turn(channelId, "edit");
    if (lease.validUntil() <= now()) return;
    const isOver = endedAt !== null;
    // A subject that had ended may be open again.
    const { isOver: _, ...shown } = document;
    let nextDocument: Announced = { ...shown, revision, editedAt: now(), ...(isOver && { isOver }) };
    try {
      await editAnnounced(rest, document, payload);
      if (isOver && document.threadId) await archive(document.threadId);
    } catch (error) {
      nextDocument = afterFailedEdit(document, error, now());
      log.debug(
        { err: error, channel: channelId, message: messageId },
        "An announcement could not be edited",
      );
    }
    // Skip if the document was changed or deleted meanwhile.
    await state.commit([announced.expect(id, document), announced.put(id, nextDocument)]);
  };

  /** Edits a message for the last time, because its subject is unknown now. */
  const retire = async (id: string, document: Announced, lasting: LastingMessages) => {
    const payload = await currentOf(document, lasting);
    const retryDocument = await editForGood(context, document, payload);
    await state.commit([
      announced.expect(id, document),
      retryDocument ? announced.put(id, retryDocument) : announced.delete(id),
    ]);
  };

  /** Records a refused step as the channel's last error, unless its subscription was removed meanwhile. */
  const noteRefusal = async ({ channelId, feed }: Announced, step: FollowUp) => {
    const [recipient] = await subscriptions.recipients({ channelId, feed, subject: null });
    const unchanged = recipient && (await subscriptions.unchanged(recipient));
    if (!unchanged) return;
    const health = await subscriptions.health(channelId);
    // The reason of a pause is more important.
    if (health.paused) return;
    const noted = { ...health, error: REFUSED_STEPS[step], erroredAt: now() };
    await state.commit([unchanged, subscriptions.healthWrite(channelId, noted)]);
  };

  /** Opens a thread under a message, and publishes the message. Each step is completed or retried later, and delays no other. */
  const followUp = async (id: string, document: Announced, lasting: LastingMessages | undefined) => {
    const { subject, channelId, messageId } = document;
    const { todo = [], todoNotBefore, ...done } = document;
    let nextDocument: Announced = done;
    const remainingSteps: { readonly step: FollowUp; readonly waitMs: number }[] = [];
    for (const step of todo) {
      await pacer.turn(channelId, "edit");
      try {
        if (step === "publish") await crosspost(rest, channelId, messageId);
        else if (lasting) {
          const title = renderer.title(await lasting.titleOf(subject, channelId));
          await openThread(rest, channelId, messageId, title);
          nextDocument = { ...nextDocument, threadId: messageId };
        }
      } catch (error) {
        const willRetry = isTemporary(problemOf(error)) && now() - document.at < FOLLOW_UP_MS;
        log.warn(
          { err: error, channel: channelId, message: messageId, step, again: willRetry },
          "A thread or a crosspost could not be created",
        );
        if (willRetry) remainingSteps.push({ step, waitMs: retryAfterOf(error) || MINUTE });
        else if (hasCode(error, ...REFUSALS)) await noteRefusal(document, step);
      }
    }
    if (remainingSteps.length > 0) {
      const waitMs = Math.min(...remainingSteps.map((each) => each.waitMs));
      nextDocument = {
        ...nextDocument,
        todo: remainingSteps.map(({ step }) => step),
        todoNotBefore: now() + waitMs,
      };
    }
    await state.commit([
      announced.expect(id, document),
      document.news && !nextDocument.todo ? announced.delete(id) : announced.put(id, nextDocument),
    ]);
  };

  return { edit, retire, followUp };
}
