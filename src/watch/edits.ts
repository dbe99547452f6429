import { DiscordAPIError, type REST } from "discord.js";
import { hasCode } from "../discord/errors.js";
import type { MessagePayload } from "../discord/message.js";
import type { Pacer } from "../discord/pacer.js";
import { crosspost, editMessage, openThread, problemOf, retryAfterOf, setArchived } from "../discord/post.js";
import type { Log } from "../ops/log.js";
import type { Lease } from "../storage/lease.js";
import { collectionOf, type State } from "../storage/state.js";
import type { Announced } from "./deliveries.js";
import type { Materials } from "./materials.js";
import { announcement, markOf, outcomeKnown } from "./messages.js";
import type { KnownRequest } from "./requests.js";

/** An announcement is edited at most this often, in ms, but for its outcome. */
const EVERY_MS = 5 * 60_000;
/** Discord limits edits of messages over an hour old: 30046 means to wait that long. */
const OLD_MESSAGE = 30_046;
const HOUR_MS = 3_600_000;
/** What follows a message is tried for this long. */
const DAY_MS = 24 * HOUR_MS;
const THREAD_ARCHIVED = 50_083;

interface Parts {
  readonly state: State;
  readonly lease: Lease;
  readonly rest: REST;
  readonly pacer: Pacer;
  readonly materials: Materials;
  readonly known: (key: string) => Promise<KnownRequest | undefined>;
  /** Edits give way to new messages. */
  readonly mayEdit: () => boolean;
  readonly log: Log;
  readonly now?: () => number;
}

/** Looks after messages that were delivered: their threads, their publishing, and the announcements' tallies. */
export interface Edits {
  /** A request's revision went up. */
  touch(): void;
  run(): Promise<void>;
}

export function createEdits({
  state,
  lease,
  rest,
  pacer,
  materials,
  known,
  mayEdit,
  log,
  now = Date.now,
}: Parts): Edits {
  const announced = collectionOf<Announced>(state, "announced");

  const edit = async (
    id: string,
    document: Announced,
    request: KnownRequest,
    key: string,
    channelId: string,
  ) => {
    const closed = request.phase === "closed";
    const { material } = await materials.of({ kind: "closed", key, status: request.status });
    const payload = announcement(
      material,
      markOf(`${key}:opened@${channelId}`),
      closed
        ? { status: request.status, known: !request.endUnconfirmed && outcomeKnown(request.status) }
        : undefined,
    );
    await pacer.turn("edit");
    if (lease.validUntil() <= now()) return;
    let next: Announced = { ...document, revision: request.revision, editedAt: now() };
    try {
      await editWhereItStands(document, payload);
      if (closed && document.threadId) await setArchived(rest, document.threadId, true);
    } catch (error) {
      const problem = problemOf(error);
      const old = error instanceof DiscordAPIError && error.code === OLD_MESSAGE;
      // Without a revision it is left as it is from now on.
      const { revision, ...left } = document;
      if (old || problem === "refused-for-now") {
        next = {
          ...document,
          notBefore: now() + (old ? HOUR_MS : Math.max(retryAfterOf(error) ?? 0, 5_000)),
        };
      } else if (problem === "unknown") next = { ...document, notBefore: now() + 30_000 };
      else if (problem === "deleted-by-somebody") next = { ...left, gone: true };
      else next = left;
      log.debug(
        { err: error, channel: channelId, message: document.messageId },
        "An announcement could not be edited",
      );
    }
    // Not where it was forgotten meanwhile.
    await state.commit([lease.guard, announced.expect(id, document), announced.put(id, next)]);
  };

  /** A forum's post may have been archived by itself: it is opened for the edit, and archived again. */
  const editWhereItStands = async (document: Announced, payload: MessagePayload) => {
    try {
      await editMessage(rest, document.in, document.messageId, payload);
    } catch (error) {
      if (!hasCode(error, THREAD_ARCHIVED)) throw error;
      await setArchived(rest, document.in, false);
      await editMessage(rest, document.in, document.messageId, payload);
      await setArchived(rest, document.in, true);
    }
  };

  /** Opens the thread under a message, or publishes it: one step, which is done for good or tried again later. */
  const follow = async (id: string, document: Announced, key: string, channelId: string) => {
    const [step, ...left] = document.todo ?? [];
    const { todo, ...done } = document;
    let next: Announced = { ...done, ...(left.length > 0 ? { todo: left } : {}) };
    await pacer.turn("edit");
    try {
      if (step === "thread") {
        const { material } = await materials.of({ kind: "closed", key, status: null });
        await openThread(rest, channelId, document.messageId, material.proposal.title ?? "Vote request");
        next = { ...next, threadId: document.messageId };
      } else await crosspost(rest, channelId, document.messageId);
    } catch (error) {
      const problem = problemOf(error);
      const again = (problem === "refused-for-now" || problem === "unknown") && now() - document.at < DAY_MS;
      log.warn(
        { err: error, channel: channelId, message: document.messageId, step, again },
        "A thread or a crosspost could not be made",
      );
      if (again) next = { ...document, notBefore: now() + (retryAfterOf(error) ?? 60_000) };
    }
    const isNews = id.includes("#");
    await state.commit([
      lease.guard,
      announced.expect(id, document),
      isNews && !next.todo ? announced.delete(id) : announced.put(id, next),
    ]);
    touched = true;
  };

  let touched = true;
  return {
    touch() {
      touched = true;
    },
    async run() {
      if (!touched) return;
      touched = false;
      /** What is to be done, by channel: side by side, and one after another within each. */
      const due = new Map<string, { final: boolean; work: () => Promise<void> }[]>();
      for (const [id, document] of await announced.list()) {
        const [key = "", channelId = ""] = id.replace(/#.*/, "").split("@");
        const request = document.revision === undefined ? undefined : await known(key);
        const behind = request !== undefined && request.revision > (document.revision ?? 0);
        if (!document.todo && !behind) continue;
        // Whatever is not done in this run is looked at again in the next.
        touched = true;
        if ((document.notBefore ?? 0) > now()) continue;
        const final = request?.phase === "closed";
        const own = due.get(channelId) ?? [];
        due.set(channelId, own);
        if (document.todo) own.push({ final, work: () => follow(id, document, key, channelId) });
        else if (request && mayEdit() && (final || now() - (document.editedAt ?? 0) >= EVERY_MS)) {
          own.push({ final, work: () => edit(id, document, request, key, channelId) });
        }
      }
      await Promise.all(
        [...due.values()].map(async (own) => {
          // The outcomes first: they are what people look for.
          for (const { work } of own.sort((a, b) => Number(b.final) - Number(a.final))) await work();
        }),
      );
    },
  };
}
