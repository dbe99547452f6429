import { LRUCache } from "lru-cache";
import type { IdKeys } from "../discord/links.js";
import { ExplorerError } from "../explorer/errors.js";
import { findProposal, toProposal } from "../explorer/proposals.js";
import type { Explorer } from "../explorer/service.js";
import { estimateNeeded } from "../screens/proposals.js";
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

/** Reads a request's detail, and does with what is known where the explorer does not answer. */
export function createMaterials({ explorer, keys, known }: Parts): Materials {
  const kept = new LRUCache<string, Promise<{ material: Material; revision: number }>>({
    max: 100,
    ttl: KEPT_MS,
  });

  const load = async (key: string, event: Exclude<GovernanceEvent, { kind: "digest" }>) => {
    const request = await known(key);
    const proposal = await (async () => {
      try {
        if (request) return (await findProposal(explorer, request.identity)).data;
      } catch (error) {
        if (!(error instanceof ExplorerError)) throw error;
      }
      return event.kind === "opened" ? toProposal(event.row, null) : undefined;
    })();
    const fallback = request ? fromKnown(request) : toProposal(null, null);
    // The title stands in the list alone, which the request may have left.
    const title = request?.terms.title ?? proposal?.title ?? fallback.title;
    const material = {
      proposal: { ...(proposal ?? fallback), title },
      needed: await estimateNeeded(explorer),
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
