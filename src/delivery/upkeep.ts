import { crosspost, openThread, setArchived } from "../discord/post.js";
import { isTemporary, problemOf, retryAfterOf } from "../discord/problems.js";
import { ageOf } from "../util/clock.js";
import { inPieces, yieldIfBusy } from "../util/event-loop.js";
import { DAY, MINUTE } from "../util/units.js";
import { type Announced, announcements, deliveryId } from "./collections.js";
import type { DeliveryContext } from "./context.js";
import { nextStep } from "./decisions.js";
import { afterFailedEdit, editAnnounced, editForGood } from "./edits.js";
import type { LastingMessages, SubjectState } from "./feed.js";
import type { Subscriptions } from "./subscriptions.js";

/** Time for which follow-up steps are retried, in ms. */
const FOLLOW_UP_MS = DAY;
/**
 * Maximum number of channels served concurrently. More would keep thousands of messages in memory, and
 * Discord allows 50 requests a second.
 */
const MAX_CHANNELS = 50;
/** Maximum number of messages deleted in one commit. */
const BATCH = 1_000;

interface UpkeepContext
  extends Omit<DeliveryContext, "subscriptions" | "janitor" | "discordTime" | "onDelivered"> {
  readonly subscriptions: Pick<Subscriptions, "recipients">;
  /** Returns false while new messages are being sent, which take precedence over edits. */
  readonly mayEdit: () => boolean;
}

/**
 * Maintains delivered messages: threads, publishing and edits. It keeps track of due work, so that a run
 * without work reads nothing.
 */
export interface Upkeep {
  /** Marks subjects of a feed as changed, or all of them if none are given. */
  touch(feed: string, subjects?: readonly string[]): void;
  /** Adds recorded messages (ids in "announced"). */
  note(ids: readonly string[]): void;
  run(): Promise<void>;
}

/** A task for one message. */
interface Chore {
  readonly channelId: string;
  /** True if the subject has ended. The final state is the most important one. */
  readonly isFinal: boolean;
  readonly work: () => Promise<void>;
}

/**
 * Creates the upkeep of announcements: it shows their subject's latest revision, and retries steps that
 * Discord refused temporarily.
 */
export function createUpkeep(context: UpkeepContext): Upkeep {
  const { state, lease, rest, renderer, pacer, feeds, subscriptions, mayEdit, log, now } = context;
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
    const again = await editForGood(context, document, payload);
    await state.commit([
      announced.expect(id, document),
      again ? announced.put(id, again) : announced.delete(id),
    ]);
  };

  /** Opens a thread under a message, or publishes the message. The step is completed, or retried later. */
  const followUp = async (id: string, document: Announced, lasting: LastingMessages | undefined) => {
    const { subject, channelId, messageId } = document;
    const [step, ...left] = document.todo ?? [];
    const { todo, todoNotBefore, ...done } = document;
    let nextDocument: Announced = { ...done, ...(left.length > 0 ? { todo: left } : {}) };
    await pacer.turn(channelId, "edit");
    try {
      if (step === "publish") await crosspost(rest, channelId, messageId);
      else if (lasting) {
        await openThread(
          rest,
          channelId,
          messageId,
          renderer.title(await lasting.titleOf(subject, channelId)),
        );
        nextDocument = { ...nextDocument, threadId: messageId };
      }
    } catch (error) {
      const willRetry = isTemporary(problemOf(error)) && now() - document.at < FOLLOW_UP_MS;
      log.warn(
        { err: error, channel: channelId, message: messageId, step, again: willRetry },
        "A thread or a crosspost could not be created",
      );
      if (willRetry) nextDocument = { ...document, todoNotBefore: now() + (retryAfterOf(error) || MINUTE) };
    }
    await state.commit([
      announced.expect(id, document),
      document.news && !nextDocument.todo ? announced.delete(id) : announced.put(id, nextDocument),
    ]);
  };

  /** Times at which messages are checked next (epoch ms), by message. Edits take turns by channel. */
  const dueTimes = new Map<string, number>();
  /** Messages by open subject, and the subjects that have ended. */
  const idsBySubject = new Map<string, Set<string>>();
  const endedSubjects = new Set<string>();
  /** Subjects that have changed since the last run. One may have thousands of messages, and change with each of many commits. */
  const changedSubjects = new Set<string>();
  let needsFullScan = true;
  let fullScanAt = 0;

  const checkSoon = (name: string) => {
    for (const id of idsBySubject.get(name) ?? []) dueTimes.set(id, 0);
  };

  /** Indexes a message by its subject, so that a new revision finds it. */
  const follow = (id: string, { feed, subject }: Announced, state: SubjectState | undefined) => {
    const name = `${feed}/${subject}`;
    if (state && state.endedAt !== null) {
      if (changedSubjects.has(name)) checkSoon(name);
      idsBySubject.delete(name);
      endedSubjects.add(name);
      return;
    }
    const ids = idsBySubject.get(name) ?? new Set();
    idsBySubject.set(name, ids.add(id));
  };

  /**
   * Returns the next step for a message: a task, the time of the next check (epoch ms), "forget", or
   * `undefined`.
   */
  const choreOf = async (id: string, document: Announced): Promise<Chore | number | "forget" | undefined> => {
    const feed = feeds.get(document.feed);
    if (!feed) return undefined;
    const { lasting } = feed;
    const { channelId, subject } = document;
    const subjectState = await lasting?.stateOf(subject, channelId);
    const message = { document, isLasting: lasting !== undefined, subject: subjectState, mayEdit: mayEdit() };
    const upkeepStep = nextStep(message, now());
    const isEditable = document.revision !== undefined;
    if (isEditable && upkeepStep.kind !== "forget" && upkeepStep.kind !== "retire")
      follow(id, document, subjectState);
    const isFinal = isEditable && subjectState?.endedAt != null;
    switch (upkeepStep.kind) {
      case "none":
        return undefined;
      case "forget":
        return "forget";
      case "wait":
        return upkeepStep.until;
      case "follow-up":
        return { channelId, isFinal, work: () => followUp(id, document, lasting) };
      case "retire":
        return lasting && { channelId, isFinal: true, work: () => retire(id, document, lasting) };
      case "edit":
        return (
          lasting &&
          subjectState && { channelId, isFinal, work: () => edit(id, document, lasting, subjectState) }
        );
    }
  };

  /**
   * Yields the messages to check now: all of them, or those that are due. If the loop ends early, the rest is
   * due again.
   */
  async function* due(): AsyncIterable<readonly [id: string, document: Announced]> {
    let isDone = false;
    if (needsFullScan || ageOf(fullScanAt, now()) > DAY) {
      // Reset this before reading, because messages that are recorded or changed meanwhile may be missing
      // from the result.
      needsFullScan = false;
      changedSubjects.clear();
      dueTimes.clear();
      idsBySubject.clear();
      endedSubjects.clear();
      try {
        yield* announced.entries();
        fullScanAt = now();
        isDone = true;
      } finally {
        if (!isDone) needsFullScan = true;
      }
      return;
    }
    for (const name of changedSubjects) checkSoon(name);
    changedSubjects.clear();
    const ids = [...dueTimes].filter(([, at]) => at <= now()).map(([id]) => id);
    for (const id of ids) dueTimes.delete(id);
    try {
      for (const id of ids) {
        const document = await announced.get(id);
        if (document) yield [id, document];
      }
      isDone = true;
    } finally {
      if (!isDone) for (const id of ids) dueTimes.set(id, 0);
    }
  }

  const forget = async (ids: readonly string[]) => {
    for await (const piece of inPieces(ids, BATCH))
      await state.commit(piece.map((id) => announced.delete(id)));
  };

  return {
    touch(feed, subjects) {
      if (!subjects) needsFullScan = true;
      for (const subject of subjects ?? []) {
        const name = `${feed}/${subject}`;
        // An ended subject has changed, but its messages are no longer indexed.
        if (endedSubjects.has(name)) needsFullScan = true;
        changedSubjects.add(name);
      }
    },
    note(ids) {
      for (const id of ids) dueTimes.set(id, 0);
    },
    async run() {
      /**
       * Tasks by channel: channels run concurrently, tasks in a channel one after another. A message may be
       * read twice (see Collection).
       */
      const chores = new Map<string, Map<string, Chore>>();
      const forgottenIds = new Set<string>();
      for await (const [id, document] of due()) {
        await yieldIfBusy();
        const chore = await choreOf(id, document);
        if (chore === undefined) continue;
        if (chore === "forget") forgottenIds.add(id);
        else if (typeof chore === "number") dueTimes.set(id, chore);
        else {
          // Check the message again in any case, because it may need more steps.
          dueTimes.set(id, 0);
          const channelChores = chores.get(chore.channelId) ?? new Map<string, Chore>();
          chores.set(chore.channelId, channelChores.set(id, chore));
        }
      }
      const finalFirst = (own: ReadonlyMap<string, Chore>) =>
        [...own.values()].sort((a, b) => Number(b.isFinal) - Number(a.isFinal));
      const channels = [...chores.values()];
      const failures: unknown[] = [];
      const serve = async () => {
        for (let channelChores = channels.shift(); channelChores; channelChores = channels.shift())
          try {
            for (const { work } of finalFirst(channelChores)) {
              // Edits that wait for their turn would keep this process from competing for the lease again.
              if (lease.validUntil() <= now()) return;
              await work();
            }
          } catch (error) {
            failures.push(error);
          }
      };
      await Promise.all(Array.from({ length: Math.min(MAX_CHANNELS, channels.length) }, serve));
      await forget([...forgottenIds]);
      if (failures.length > 0) throw failures[0];
    },
  };
}
