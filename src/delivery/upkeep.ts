import { DiscordAPIError, type REST } from "discord.js";
import { DISCORD, hasCode } from "../discord/errors.js";
import type { MessagePayload, Renderer } from "../discord/message.js";
import type { Pacer } from "../discord/pacer.js";
import { crosspost, editMessage, openThread, setArchived } from "../discord/post.js";
import { problemOf, retryAfterOf } from "../discord/problems.js";
import type { Log } from "../log.js";
import { type Announced, deliveryId } from "../storage/catalogue.js";
import type { Lease, LeasedState } from "../storage/lease.js";
import { ageOf, believed } from "../util/clock.js";
import { DAY, HOUR, MINUTE } from "../util/units.js";
import type { Feed, LastingMessages, SubjectState } from "./feed.js";
import type { Subscriptions } from "./subscriptions.js";

/** A message is edited at most this often, in ms, but for the end of its subject. */
const EVERY_MS = 5 * MINUTE;
/** What follows a message is tried for this long. */
const FOLLOW_UP_MS = DAY;
/** A message is forgotten so many ms after its subject has ended: nothing about it changes any more. */
const KEPT_MS = 30 * DAY;
/** Messages forgotten in one commit. */
const BATCH = 1_000;
/** Nothing waits longer than this, in ms: a moment further ahead is from a clock that was wrong. */
const MAX_WAIT_MS = 2 * HOUR;

interface UpkeepDeps {
  readonly state: LeasedState;
  readonly lease: Lease;
  readonly rest: REST;
  readonly renderer: Renderer;
  readonly pacer: Pacer;
  readonly feeds: ReadonlyMap<string, Feed>;
  readonly subscriptions: Pick<Subscriptions, "recipients">;
  /** Edits give way to new messages. */
  readonly mayEdit: () => boolean;
  readonly log: Log;
  readonly now: () => number;
}

/**
 * Looks after messages that were delivered: their threads, their publishing, and what they show of their subjects. What is due
 * is known: a run in which nothing is due reads nothing.
 */
export interface Upkeep {
  /** The revisions of a feed's subjects went up; without subjects, nobody says of which. */
  touch(feed: string, subjects?: readonly string[]): void;
  /** These messages were recorded (ids in "announced"). */
  note(ids: readonly string[]): void;
  run(): Promise<void>;
}

/** Something to be done about one message. */
interface Chore {
  readonly channelId: string;
  /** The subject is over: its outcome is what people look for. */
  readonly final: boolean;
  readonly work: () => Promise<void>;
}

/** Keeps posted announcements at their subject's latest revision, and retries what Discord refused for now. */
export function createUpkeep(deps: UpkeepDeps): Upkeep {
  const { state, lease, rest, renderer, pacer, feeds, subscriptions, mayEdit, log, now } = deps;
  const { announced } = state;

  /** What is written of a message that could not be edited. */
  const afterFailure = (document: Announced, error: unknown): Announced => {
    const problem = problemOf(error);
    // Discord limits edits of messages over an hour old, and means to wait that long.
    const old = error instanceof DiscordAPIError && error.code === DISCORD.oldMessageEdits;
    // Without a revision it is left as it is from now on.
    const { revision, ...left } = document;
    if (old) return { ...document, notBefore: now() + HOUR };
    if (problem === "refused-for-now")
      return { ...document, notBefore: now() + Math.max(retryAfterOf(error) ?? 0, 5_000) };
    if (problem === "unknown") return { ...document, notBefore: now() + 30_000 };
    return problem === "deleted-by-somebody" ? { ...left, gone: true } : left;
  };

  /** A forum's post may have been archived by itself: it is opened for the edit, and archived again. */
  const editWhereItStands = async (document: Announced, payload: MessagePayload) => {
    try {
      await editMessage(rest, document.in, document.messageId, payload);
    } catch (error) {
      if (!hasCode(error, DISCORD.threadArchived)) throw error;
      await setArchived(rest, document.in, false);
      await editMessage(rest, document.in, document.messageId, payload);
      await setArchived(rest, document.in, true);
    }
  };

  /** A message as it should stand now. */
  const currentOf = async ({ feed, subject, channelId }: Announced, lasting: LastingMessages) => {
    const mark = renderer.mark(deliveryId(feed, lasting.beginningOf(subject), channelId));
    const recipients = await subscriptions.recipients({ channelId, feed, subject: null });
    return lasting.current(subject, mark, channelId, recipients);
  };

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
    let next: Announced = { ...document, revision, editedAt: now() };
    try {
      await editWhereItStands(document, payload);
      if (endedAt !== null && document.threadId) await setArchived(rest, document.threadId, true);
    } catch (error) {
      next = afterFailure(document, error);
      log.debug(
        { err: error, channel: channelId, message: messageId },
        "An announcement could not be edited",
      );
    }
    // Not where it was forgotten meanwhile.
    await state.commit([announced.expect(id, document), announced.put(id, next)]);
  };

  /** Shows for the last time what a message is about. */
  const retire = async (id: string, document: Announced, lasting: LastingMessages) => {
    const { channelId } = document;
    const payload = await currentOf(document, lasting);
    await pacer.turn(channelId, "edit");
    await editWhereItStands(document, payload).catch((err: unknown) =>
      log.debug(
        { err, channel: channelId, message: document.messageId },
        "An announcement could not be edited",
      ),
    );
    await state.commit([announced.expect(id, document), announced.delete(id)]);
  };

  /** Opens the thread under a message, or publishes it: one step, which is done for good or tried again later. */
  const followUp = async (id: string, document: Announced, lasting: LastingMessages | undefined) => {
    const { subject, channelId, messageId } = document;
    const [step, ...left] = document.todo ?? [];
    const { todo, ...done } = document;
    let next: Announced = { ...done, ...(left.length > 0 ? { todo: left } : {}) };
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
        next = { ...next, threadId: messageId };
      }
    } catch (error) {
      const problem = problemOf(error);
      const again =
        (problem === "refused-for-now" || problem === "unknown") && now() - document.at < FOLLOW_UP_MS;
      log.warn(
        { err: error, channel: channelId, message: messageId, step, again },
        "A thread or a crosspost could not be made",
      );
      if (again) next = { ...document, notBefore: now() + (retryAfterOf(error) ?? MINUTE) };
    }
    await state.commit([
      announced.expect(id, document),
      document.news && !next.todo ? announced.delete(id) : announced.put(id, next),
    ]);
  };

  /** Messages to look at, and when: epoch ms. Edits take turns by channel. */
  const waiting = new Map<string, number>();
  /** Messages by their subjects, as far as those have not ended; and the subjects that have. */
  const live = new Map<string, Set<string>>();
  const ended = new Set<string>();
  let looksAtAll = true;
  let lookedAt = 0;

  /** Remembers which messages show a subject, so that a new revision of it finds them. */
  const follow = (id: string, { feed, subject }: Announced, state: SubjectState | undefined) => {
    const name = `${feed}/${subject}`;
    if (state && state.endedAt !== null) {
      live.delete(name);
      ended.add(name);
      return;
    }
    const ids = live.get(name) ?? new Set();
    live.set(name, ids.add(id));
  };

  /** What is to be done about a message: a chore, when to look again (epoch ms), to forget it, or nothing. */
  const choreOf = async (id: string, document: Announced): Promise<Chore | number | "forget" | undefined> => {
    const feed = feeds.get(document.feed);
    if (!feed) return undefined;
    const { lasting } = feed;
    const stands = document.revision !== undefined;
    const state = await lasting?.stateOf(document.subject, document.channelId);
    const endedAt = state?.endedAt ?? null;
    if (endedAt !== null && endedAt < now() - KEPT_MS) return "forget";
    // What nobody knows of any more is shown as over, once, and forgotten. An old message's subject is forgotten by itself, and
    // the message stays as it was last shown.
    if (lasting && !state && !document.todo)
      return stands && ageOf(document.at, now()) < KEPT_MS
        ? { channelId: document.channelId, final: true, work: () => retire(id, document, lasting) }
        : "forget";
    if (stands) follow(id, document, state);
    const subject = stands ? state : undefined;
    const isBehind = subject !== undefined && subject.revision > (document.revision ?? 0);
    if (!document.todo && !isBehind) return undefined;
    const { channelId } = document;
    const final = stands && endedAt !== null;
    const notBefore = believed(document.notBefore ?? 0, now(), MAX_WAIT_MS);
    if (notBefore > now()) return notBefore;
    if (document.todo) return { channelId, final, work: () => followUp(id, document, lasting) };
    const left = final ? 0 : EVERY_MS - ageOf(document.editedAt ?? 0, now());
    if (left > 0) return now() + left;
    if (!lasting || !subject || !mayEdit()) return now();
    return { channelId, final, work: () => edit(id, document, lasting, subject) };
  };

  /** The messages to look at now: all of them, or those that are due. Whatever ends it early, those left are due again. */
  async function* due(): AsyncIterable<readonly [id: string, document: Announced]> {
    let isDone = false;
    if (looksAtAll || ageOf(lookedAt, now()) > DAY) {
      // Before they are read: whatever is recorded or touched meanwhile may not be among them, and must not be forgotten.
      looksAtAll = false;
      waiting.clear();
      live.clear();
      ended.clear();
      try {
        yield* announced.entries();
        lookedAt = now();
        isDone = true;
      } finally {
        if (!isDone) looksAtAll = true;
      }
      return;
    }
    const ids = [...waiting].filter(([, at]) => at <= now()).map(([id]) => id);
    for (const id of ids) waiting.delete(id);
    try {
      for (const id of ids) {
        const document = await announced.get(id);
        if (document) yield [id, document];
      }
      isDone = true;
    } finally {
      if (!isDone) for (const id of ids) waiting.set(id, 0);
    }
  }

  const forget = async (ids: readonly string[]) => {
    for (let from = 0; from < ids.length; from += BATCH)
      await state.commit(ids.slice(from, from + BATCH).map((id) => announced.delete(id)));
  };

  return {
    touch(feed, subjects) {
      if (!subjects) looksAtAll = true;
      for (const subject of subjects ?? []) {
        const name = `${feed}/${subject}`;
        // One that had ended is stated anew: its messages are no longer at hand.
        if (ended.has(name)) looksAtAll = true;
        for (const id of live.get(name) ?? []) waiting.set(id, 0);
      }
    },
    note(ids) {
      for (const id of ids) waiting.set(id, 0);
    },
    async run() {
      /** By channel: side by side, and one after another within each. A message may come twice (see Collection). */
      const chores = new Map<string, Map<string, Chore>>();
      const old = new Set<string>();
      for await (const [id, document] of due()) {
        const chore = await choreOf(id, document);
        if (chore === undefined) continue;
        if (chore === "forget") old.add(id);
        else if (typeof chore === "number") waiting.set(id, chore);
        else {
          // Whatever becomes of it, it is looked at again: it may have more to be done.
          waiting.set(id, 0);
          const own = chores.get(chore.channelId) ?? new Map<string, Chore>();
          chores.set(chore.channelId, own.set(id, chore));
        }
      }
      const finals = (own: ReadonlyMap<string, Chore>) =>
        [...own.values()].sort((a, b) => Number(b.final) - Number(a.final));
      const channels = [...chores.values()].map(async (own) => {
        for (const { work } of finals(own)) await work();
      });
      const ends = await Promise.allSettled([...channels, forget([...old])]);
      const failed = ends.find(({ status }) => status === "rejected");
      if (failed?.status === "rejected") throw failed.reason;
    },
  };
}
