import { LRUCache } from "lru-cache";
import type { IdKeys } from "../discord/links.js";
import { ifAnswered } from "../explorer/errors.js";
import { findProposal, type Proposal, toProposal } from "../explorer/proposals.js";
import type { Explorer } from "../explorer/service.js";
import { estimateNeeded } from "../screens/proposals.js";
import { within } from "../within.js";
import type { GovernanceEvent } from "./events.js";
import { fromKnown, type Material } from "./messages.js";
import type { KnownRequest } from "./requests.js";

/** What messages are made of, read once for all the channels that hear of an event. */
export interface Materials {
  of(event: Exclude<GovernanceEvent, { kind: "digest" }>): Promise<{ material: Material; revision: number }>;
}

interface Parts {
  readonly explorer: Explorer;
  readonly keys: IdKeys;
  readonly known: (key: string) => Promise<KnownRequest | undefined>;
}

const KEPT_MS = 20_000;
/** An announcement does not wait longer than this for its detail, in ms: what the list told does. */
const DETAIL_MS = 8_000;

/** Reads a request's detail, and does with what is known where the explorer does not answer. */
export function createMaterials({ explorer, keys, known }: Parts): Materials {
  const kept = new LRUCache<string, Promise<{ material: Material; revision: number }>>({
    max: 100,
    ttl: KEPT_MS,
  });

  const load = async (key: string, event: Exclude<GovernanceEvent, { kind: "digest" }>) => {
    const request = await known(key);
    const found = request && ifAnswered(findProposal(explorer, request.identity));
    // The list's row does where the detail cannot be had.
    const proposal =
      (found && (await within(found, DETAIL_MS, () => undefined))?.data) ??
      (event.kind === "opened" ? toProposal(event.row, null) : undefined);
    const fallback = request ? fromKnown(request) : toProposal(null, null);
    const material = {
      proposal: request ? asKnown(proposal ?? fallback, request) : (proposal ?? fallback),
      needed: await within(estimateNeeded(explorer), DETAIL_MS, () => undefined),
      keys,
    };
    return { material, revision: request?.revision ?? 0 };
  };

  return {
    async of(event) {
      const revision = (await known(event.key))?.revision ?? 0;
      const id = `${event.key}:${event.kind}:${revision}`;
      const held = kept.get(id) ?? load(event.key, event);
      kept.set(id, held);
      held.catch(() => kept.delete(id));
      return held;
    },
  };
}

/** A proposal as the watch knows it: its tally and title are newer than a detail from the cache. */
function asKnown(proposal: Proposal, { terms, status, yes, no, pending }: KnownRequest): Proposal {
  const { title, voteBefore, targetEffectiveAt } = terms;
  return {
    ...proposal,
    title: title ?? proposal.title,
    status,
    yes,
    no,
    pending,
    voteBefore,
    targetEffectiveAt,
  };
}
