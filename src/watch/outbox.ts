import { createHash } from "node:crypto";
import type { REST } from "discord.js";
import type { IdKeys } from "../discord/links.js";
import { postMessage } from "../discord/post.js";
import { ExplorerError } from "../explorer/errors.js";
import { findProposal, type Proposal, toProposal } from "../explorer/proposals.js";
import type { VoteRequestListItem } from "../explorer/schema.js";
import type { Explorer } from "../explorer/service.js";
import type { Log } from "../ops/log.js";
import { estimateNeeded } from "../screens/proposals.js";
import { collectionOf, type State, type Write } from "../storage/state.js";
import { announcement } from "./announcement.js";

/** Something that happened to a vote request. */
export interface GovernanceEvent {
  readonly kind: "opened";
  /** The request's key. */
  readonly key: string;
  /** Its row when that happened. */
  readonly row: VoteRequestListItem;
}

/** One event's message to one channel, recorded before it is sent. */
interface Delivery {
  readonly event: GovernanceEvent;
  readonly channelId: string;
  readonly attempts: number;
  /** Not before this, epoch ms. */
  readonly notBefore: number;
}

/** A message as it was delivered. */
interface Delivered {
  readonly messageId: string;
  readonly at: number;
}

/** Deliveries: written with what they tell of, sent until they have arrived. */
export interface Outbox {
  /** The writes that make an event known and its deliveries due. */
  writesFor(event: GovernanceEvent): Promise<readonly Write[]>;
  /** Sends what is due, soon. */
  wake(): void;
  stop(): Promise<void>;
}

interface Parts {
  readonly state: State;
  readonly rest: REST;
  readonly explorer: Explorer;
  readonly keys: IdKeys;
  readonly channels: () => readonly string[];
  readonly log: Log;
  readonly now?: () => number;
}

/** A message is sent within so many ms or counts as not sent. */
const SEND_MS = 8_000;
const RETRY_MS = { first: 2_000, most: 300_000 };

export function createOutbox({ state, rest, explorer, keys, channels, log, now = Date.now }: Parts): Outbox {
  const outbox = collectionOf<Delivery>(state, "outbox");
  const delivered = collectionOf<Delivered>(state, "delivered");
  const stopping = new AbortController();
  let working: Promise<void> | undefined;
  let again = false;
  let timer: NodeJS.Timeout | undefined;

  const deliver = async (id: string, delivery: Delivery) => {
    const { event, channelId } = delivery;
    try {
      const proposal = await load(event);
      const nonce = createHash("sha256").update(id).digest("base64url").slice(0, 25);
      const message = announcement(proposal, nonce, await estimateNeeded(explorer), keys);
      const messageId = await postMessage(
        rest,
        channelId,
        { ...message, nonce },
        AbortSignal.timeout(SEND_MS),
      );
      await state.commit([outbox.delete(id), delivered.put(id, { messageId, at: now() })]);
      log.info({ delivery: id, channel: channelId, message: messageId }, "Announced");
    } catch (error) {
      const wait = Math.min(RETRY_MS.first * 2 ** delivery.attempts, RETRY_MS.most);
      await state.commit([
        outbox.put(id, { ...delivery, attempts: delivery.attempts + 1, notBefore: now() + wait }),
      ]);
      log.warn(
        { err: error, delivery: id, channel: channelId },
        "An announcement could not be sent; it is tried again",
      );
    }
  };

  const load = async ({ row }: GovernanceEvent): Promise<Proposal> => {
    const id = row.trackingCid ?? row.contractId;
    try {
      if (id !== null) return (await findProposal(explorer, id)).data;
    } catch (error) {
      if (!(error instanceof ExplorerError)) throw error;
    }
    return toProposal(row, null);
  };

  const work = async () => {
    do {
      again = false;
      const due = [...(await outbox.list())].filter(([, { notBefore }]) => notBefore <= now());
      // Side by side: a channel that is slow or forbidden holds up no other.
      await Promise.all(due.map(([id, delivery]) => deliver(id, delivery)));
    } while (again && !stopping.signal.aborted);
    const left = [...(await outbox.list()).values()];
    if (left.length > 0 && !stopping.signal.aborted) {
      const next = Math.min(...left.map(({ notBefore }) => notBefore));
      timer = setTimeout(wake, Math.max(100, next - now()));
    }
  };

  function wake(): void {
    again = true;
    clearTimeout(timer);
    if (stopping.signal.aborted) return;
    working ??= work()
      .catch((error: unknown) => log.error({ err: error }, "The outbox could not be read"))
      .finally(() => {
        working = undefined;
      });
  }

  return {
    async writesFor(event) {
      return channels().map((channelId) => {
        const id = `${event.key}:${event.kind}@${channelId}`;
        return outbox.add(id, { event, channelId, attempts: 0, notBefore: 0 });
      });
    },
    wake,
    async stop() {
      stopping.abort();
      clearTimeout(timer);
      await working;
    },
  };
}
