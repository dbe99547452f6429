import { bulkhead } from "cockatiel";
import { inPieces, yieldIfBusy } from "../util/event-loop.js";
import { MINUTE } from "../util/units.js";
import { type ChoreContext, createChores } from "./chores.js";
import { type Announced, announcements } from "./collections.js";
import { type MessageStep, nextStep } from "./decisions.js";
import { createDueMessages } from "./due-messages.js";
import type { LastingMessages, SubjectState } from "./feed.js";

/**
 * Maximum number of channels served concurrently. More would keep thousands of messages in memory, and
 * Discord allows 50 requests a second.
 */
const MAX_CHANNELS = 50;
/** Maximum time before a waiting message is checked again, in ms. A resumed channel does not wait, also if another process resumes it. */
const RECHECK_MS = MINUTE;
/** Maximum number of messages deleted in one commit. */
const BATCH = 1_000;

interface UpkeepContext extends ChoreContext {
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
  /** True if the subject has ended. The final state is the most important one. */
  readonly isFinal: boolean;
  /** Time when the message was sent, epoch ms. */
  readonly at: number;
  readonly work: () => Promise<void>;
}

/**
 * Creates the upkeep of announcements: it shows their subject's latest revision, and retries steps that
 * Discord refused temporarily.
 */
export function createUpkeep(context: UpkeepContext): Upkeep {
  const { state, lease, feeds, mayEdit, now } = context;
  const announced = state.open(announcements);
  const messages = createDueMessages(announced, now);
  const { edit, retire, followUp } = createChores(context);

  /** Returns the task of a message's next step. `undefined` if there is none. */
  const workOf = (
    { kind }: MessageStep,
    id: string,
    document: Announced,
    lasting: LastingMessages | undefined,
    subject: SubjectState | undefined,
  ): Chore["work"] | undefined => {
    if (kind === "follow-up") return () => followUp(id, document, lasting);
    if (kind === "retire" && lasting) return () => retire(id, document, lasting);
    return kind === "edit" && lasting && subject ? () => edit(id, document, lasting, subject) : undefined;
  };

  const forget = async (ids: readonly string[]) => {
    for await (const piece of inPieces(ids, BATCH))
      await state.commit(piece.map((id) => announced.delete(id)));
  };

  /** Returns the tasks that are due, by channel, and the messages to forget. */
  const readDue = async () => {
    // A message may be read twice (see Collection).
    const chores = new Map<string, Map<string, Chore>>();
    const forgottenIds = new Set<string>();
    for await (const [id, document] of messages.due()) {
      await yieldIfBusy();
      const feed = feeds.get(document.feed);
      if (!feed) continue;
      const { lasting } = feed;
      const { channelId } = document;
      const subject = await lasting?.stateOf(document.subject, channelId);
      const step = nextStep(
        { document, isLasting: lasting !== undefined, subject, mayEdit: mayEdit() },
        now(),
      );
      const isEditable = document.revision !== undefined;
      if (isEditable && step.kind !== "forget" && step.kind !== "retire")
        messages.follow(id, document, subject);
      if (step.kind === "forget") forgottenIds.add(id);
      if (step.kind === "wait") messages.checkAt(id, Math.min(step.until, now() + RECHECK_MS));
      const work = workOf(step, id, document, lasting, subject);
      if (!work) continue;
      // Check the message again in any case, because it may need more steps.
      messages.checkAt(id, 0);
      const isFinal = step.kind === "retire" || (isEditable && subject?.endedAt != null);
      const channelChores = chores.get(channelId) ?? new Map<string, Chore>();
      chores.set(channelId, channelChores.set(id, { isFinal, at: document.at, work }));
    }
    return { chores, forgottenIds };
  };

  /** Does the tasks of one channel one after another. */
  const serve = async (chores: ReadonlyMap<string, Chore>) => {
    // Discord refuses many edits of old messages in a row, and people look for the first message about a subject.
    const byUrgency = (a: Chore, b: Chore) =>
      Number(b.isFinal) - Number(a.isFinal) || (a.isFinal ? a.at - b.at : 0);
    for (const { work } of [...chores.values()].sort(byUrgency)) {
      // Edits that wait for their turn would keep this process from competing for the lease again.
      if (lease.validUntil() <= now()) return;
      await work();
    }
  };

  return {
    touch: messages.touch,
    note(ids) {
      for (const id of ids) messages.checkAt(id, 0);
    },
    async run() {
      const { chores, forgottenIds } = await readDue();
      const slots = bulkhead(MAX_CHANNELS, Number.POSITIVE_INFINITY);
      const runs = [...chores.values()].map((each) => slots.execute(() => serve(each)));
      const results = await Promise.allSettled(runs);
      await forget([...forgottenIds]);
      for (const result of results) if (result.status === "rejected") throw result.reason;
    },
  };
}
