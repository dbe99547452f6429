import { ifAnswered } from "../explorer/errors.js";
import { statusGroup } from "../explorer/governance.js";
import type { VoteRequestListItem } from "../explorer/schema.js";
import type { Explorer } from "../explorer/service.js";
import { collectionOf, type State, type Write } from "../storage/state.js";
import type { GovernanceEvent } from "./events.js";
import type { Findings, KnownRequest, KnownRequests } from "./requests.js";

const DAY = 24 * 3_600_000;
/** A closed request's details are forgotten after this long, in ms; its key never. */
const PRUNE_MS = 180 * DAY;

interface Parts {
  /** Asks for nothing but new readings. */
  readonly explorer: Explorer;
  readonly state: State;
  readonly requests: KnownRequests;
  readonly now: () => number;
}

/** What a complete read says by what it lacks, and what has been over for long. */
export function createEndsWatch({ explorer, state, requests, now }: Parts) {
  /** A status by which endpoint 14 says that a request is over; null where it does not. */
  const confirmedStatus = async ({ contractIds, identity }: KnownRequest): Promise<string | null> => {
    for (const id of new Set([contractIds.at(-1) ?? identity, identity])) {
      const status = (await ifAnswered(explorer.voteRequest({ id })))?.data.status ?? null;
      const group = statusGroup(status);
      if (group !== "open" && group !== "other") return status;
    }
    return null;
  };

  return {
    /** Requests that were open and are gone from a complete read: closed once endpoint 14 says so, or a day after the end. */
    async lookForGone(rows: readonly VoteRequestListItem[]): Promise<Findings> {
      const known = await requests.all();
      const present = new Set(rows.flatMap((row) => [row.trackingCid, row.contractId]));
      const learnt = new Map<string, KnownRequest>();
      const events: GovernanceEvent[] = [];
      for (const [key, each] of known) {
        const isThere = present.has(each.identity) || each.contractIds.some((id) => present.has(id));
        if (each.phase !== "open" || isThere) continue;
        const missing = Math.min(each.missing + 1, 2);
        const status = missing < 2 ? null : await confirmedStatus(each);
        const end = Math.max(each.terms.voteBefore ?? 0, each.terms.targetEffectiveAt ?? 0);
        const ended = end > 0 && now() > end + DAY;
        if (missing >= 2 && (status !== null || ended)) {
          learnt.set(key, {
            ...each,
            missing,
            phase: "closed",
            status: status ?? each.status,
            ...(status === null ? { endUnconfirmed: true } : {}),
            closedAt: now(),
            revision: each.revision + 1,
          });
          events.push({ kind: "closed", key, status });
        } else if (missing !== each.missing) learnt.set(key, { ...each, missing });
      }
      return { learnt, events };
    },

    /** What was closed long ago is forgotten but for its key, or an old row would be announced anew. */
    async lookForOld(): Promise<{ readonly findings: Findings; readonly writes: readonly Write[] }> {
      const learnt = new Map<string, KnownRequest>();
      for (const [key, each] of await requests.all()) {
        if (each.closedAt === undefined || now() - each.closedAt < PRUNE_MS) continue;
        const { votes, unconfirmed, closedAt, ...kept } = each;
        const terms = { title: null, action: null, voteBefore: null, targetEffectiveAt: null };
        learnt.set(key, { ...kept, phase: "silent", contractIds: [], reminded: [], terms });
      }
      const findings = { learnt, events: [] };
      if (learnt.size === 0) return { findings, writes: [] };
      const announced = collectionOf<unknown>(state, "announced");
      const old = [...(await announced.list()).keys()].filter((id) => learnt.has(id.split("@")[0] ?? ""));
      return { findings, writes: old.map((id) => announced.delete(id)) };
    },
  };
}
