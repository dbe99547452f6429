import { DiscordAPIError, type REST } from "discord.js";
import type { Pacer } from "../discord/pacer.js";
import { editMessage, problemOf, retryAfterOf } from "../discord/post.js";
import type { Log } from "../ops/log.js";
import type { Lease } from "../storage/lease.js";
import { collectionOf, type State } from "../storage/state.js";
import type { Materials } from "./materials.js";
import { announcement, markOf, outcomeKnown } from "./messages.js";
import type { Announced } from "./outbox.js";
import type { KnownRequest } from "./requests.js";

/** An announcement is edited at most this often, in ms, but for its outcome. */
const EVERY_MS = 5 * 60_000;
/** Discord limits edits of messages over an hour old: 30046 means to wait that long. */
const OLD_MESSAGE = 30_046;
const HOUR_MS = 3_600_000;

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

/** Keeps the announcements' tallies up to date: one edit in flight, and only of what changed. */
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
      closed ? { status: request.status, known: outcomeKnown(request.status) } : undefined,
    );
    await pacer.turn("edit");
    if (lease.validUntil() <= now()) return;
    let next: Announced = { ...document, revision: request.revision, editedAt: now() };
    try {
      await editMessage(rest, document.in, document.messageId, payload);
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
    await state.commit([lease.guard, announced.put(id, next)]);
  };

  let touched = true;
  return {
    touch() {
      touched = true;
    },
    async run() {
      if (!touched || !mayEdit()) return;
      touched = false;
      const due: {
        id: string;
        document: Announced;
        request: KnownRequest;
        key: string;
        channelId: string;
      }[] = [];
      for (const [id, document] of await announced.list()) {
        const [key = "", channelId = ""] = id.split("@");
        const request = document.revision === undefined ? undefined : await known(key);
        if (!request || request.revision <= (document.revision ?? 0)) continue;
        // Whatever is not done in this run is looked at again in the next.
        touched = true;
        const final = request.phase === "closed";
        if ((document.notBefore ?? 0) > now() || (!final && now() - (document.editedAt ?? 0) < EVERY_MS))
          continue;
        due.push({ id, document, request, key, channelId });
      }
      // The outcomes first: they are what people look for.
      due.sort((a, b) => Number(b.request.phase === "closed") - Number(a.request.phase === "closed"));
      for (const { id, document, request, key, channelId } of due) {
        if (!mayEdit()) return;
        await edit(id, document, request, key, channelId);
      }
    },
  };
}
