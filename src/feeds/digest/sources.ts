import { progress } from "../../delivery/collections.js";
import type { AnswerDeps } from "../../delivery/feed.js";
import { readSamples } from "../../ledger/price-history.js";
import { readRounds } from "../../ledger/rounds.js";
import { countSuperValidators } from "../../ledger/vote-requests.js";
import { lazy } from "../../util/single-flight.js";
import { SECOND } from "../../util/units.js";
import { isUnknown } from "../governance/closings.js";
import { type TrackedVoteRequest, trackedVoteRequests } from "../governance/collections.js";
import { PROGRESS as GOVERNANCE } from "../governance/watch.js";
import { readChronicle } from "./chronicle.js";
import { happenings } from "./collections.js";
import type { VoteFacts } from "./facts.js";

interface SourceDeps extends Pick<AnswerDeps, "state" | "names" | "explorer" | "now"> {
  /** Returns the parties that a server watches. */
  readonly watchedBy: (guildId: string | null) => Promise<ReadonlySet<string>>;
  readonly isSuperValidator: (party: string, name: string | null) => boolean;
  /** Time of the last upgrade that was accepted, epoch ms. */
  readonly upgradeAt?: number | undefined;
}

/** Maximum wait of all digests together for names that have not been read yet, in ms. */
const NAMES_MS = 8 * SECOND;

/** Creates the data sources of digests. Each is read once for all digests that are due together. */
export function createSources({ state, names, explorer, now, ...deps }: SourceDeps) {
  const namesUntil = performance.now() + NAMES_MS;
  return {
    ...deps,
    async readNames(requests: readonly TrackedVoteRequest[]): Promise<void> {
      const rows = requests.map(({ identity, terms, contractIds }) => ({
        title: terms.title,
        trackingCid: identity,
        contractId: contractIds.at(-1) ?? null,
      }));
      await names.read(rows, Math.max(0, namesUntil - performance.now()));
    },
    names,
    now,
    /** Loads the names that announcements used, so that a digest after a restart uses the same ones. */
    summaries: lazy(() => names.load().catch(() => {})),
    /** True if the explorer no longer lists an open vote request and has no details. It may have ended in any way. */
    isUnlisted: (request: TrackedVoteRequest) => isUnknown(explorer, request),
    requests: lazy(async () => [...(await state.open(trackedVoteRequests).list()).values()]),
    /** Time of the last complete read of the vote requests. */
    votesReadAt: lazy(async () => (await state.open(progress).get(GOVERNANCE))?.completeAt),
    chronicle: lazy(() => readChronicle(state)),
    happenings: lazy(async () => [...(await state.open(happenings).list()).values()]),
    samples: lazy(() => readSamples(state)),
    rounds: lazy(() => readRounds(state, now)),
    /** The number of super validators; `undefined` if it cannot be read. */
    superValidators: lazy(() => countSuperValidators(explorer)),
    /** Facts by period. Most digests are due together, with the same one. */
    voteFacts: new Map<string, Promise<VoteFacts>>(),
  };
}

/** The data sources of digests. */
export type Sources = ReturnType<typeof createSources>;
