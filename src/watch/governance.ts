import { ExplorerError } from "../explorer/errors.js";
import { readPages } from "../explorer/proposals.js";
import type { VoteRequestListItem } from "../explorer/schema.js";
import type { Explorer } from "../explorer/service.js";
import type { Log } from "../ops/log.js";
import { collectionOf, type State, type Write } from "../storage/state.js";
import type { Outbox } from "./outbox.js";
import { type KnownRequest, requestKey, toKnown } from "./requests.js";

interface Progress {
  /** When the list was last read whole, epoch ms; the first time makes what is there known, silently. */
  readonly completeAt: number;
}

const PROGRESS = "governance";

interface Parts {
  /** Asks for nothing but new readings. */
  readonly explorer: Explorer;
  readonly state: State;
  readonly outbox: Outbox;
  readonly log: Log;
  readonly now?: () => number;
}

/** Compares each read of the vote requests with what is known, and hands what is new to the outbox. */
export interface GovernanceWatch {
  poll(): Promise<void>;
}

export function createGovernanceWatch({
  explorer,
  state,
  outbox,
  log,
  now = Date.now,
}: Parts): GovernanceWatch {
  const requests = collectionOf<KnownRequest>(state, "requests");
  const progress = collectionOf<Progress>(state, "progress");
  let known: Map<string, KnownRequest> | undefined;

  /** Takes rows in: what is known, what it means and what is to be told of it are written together. */
  const take = async (rows: readonly VoteRequestListItem[], baseline: boolean, extra: readonly Write[]) => {
    known ??= await requests.list();
    const writes: Write[] = [...extra];
    const learnt = new Map<string, KnownRequest>();
    for (const row of rows) {
      const next = toKnown(row, now());
      if (!next) continue;
      const key = requestKey(next.identity);
      const before = known.get(key);
      if (before && JSON.stringify(before) === JSON.stringify(next)) continue;
      learnt.set(key, next);
      writes.push(requests.put(key, next));
      if (!before && next.open && !baseline)
        writes.push(...(await outbox.writesFor({ kind: "opened", key, row })));
    }
    if (writes.length === 0) return;
    await state.commit(writes);
    for (const [key, each] of learnt) known.set(key, each);
    outbox.wake();
  };

  return {
    async poll() {
      try {
        const before = await progress.get(PROGRESS);
        if (before) {
          // What opens is on the first page: it is told before the rest is read.
          const first = await explorer.voteRequests({ page: 0, size: 100 });
          await take(first.data.content, false, []);
        }
        const all = await readPages(
          (page) => explorer.voteRequests(page),
          (row) => row.contractId,
          () => false,
        );
        // A partial or empty answer is no news, and no baseline.
        if (!all.complete || all.data.length === 0) return;
        await take(all.data, !before, [progress.put(PROGRESS, { completeAt: now() })]);
      } catch (error) {
        if (!(error instanceof ExplorerError)) throw error;
        log.debug({ err: error }, "The vote requests could not be read; trying again at the next poll");
      }
    },
  };
}
