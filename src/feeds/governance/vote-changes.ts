import type { Vote } from "../../explorer/schema/governance.js";
import type { TrackedVoteRequest } from "../../storage/catalogue.js";
import type { GovernanceEvent } from "./events.js";

type VoteEvent = Extract<GovernanceEvent, { kind: "vote" }>;

/** What a read of the votes changes of one request. */
interface VoteChanges {
  readonly changes: Pick<TrackedVoteRequest, "votes" | "voteSequence" | "unconfirmedVotes" | "needsDetail">;
  readonly events: readonly VoteEvent[];
}

const voterOf = ({ accountName, company, identifier }: Vote): string | null =>
  accountName ?? company ?? identifier;

/** Whether it is the Yes that is cast with the request itself. */
const isOwn = (requester: string | null, { accept, identifier, accountName, company }: Vote): boolean =>
  accept === true && requester !== null && [identifier, accountName, company].includes(requester);

/**
 * Compares the votes on a request as read with those known. A vote that is cast is announced at once, a changed one once
 * two reads agree; of a request whose votes were not known before, nothing is.
 */
export function compareVotes(key: string, request: TrackedVoteRequest, rows: readonly Vote[]): VoteChanges {
  const votes: Record<string, boolean | null> = { ...request.votes };
  const unconfirmedVotes: Record<string, boolean> = {};
  const events: VoteEvent[] = [];
  let voteSequence = request.voteSequence;
  for (const row of rows) {
    const { trackingCid, identifier, accept } = row;
    if (trackingCid !== request.identity || identifier === null || accept === null) continue;
    const before = votes[identifier] ?? null;
    if (before === accept) continue;
    if (before !== null && request.unconfirmedVotes?.[identifier] !== accept) {
      unconfirmedVotes[identifier] = accept;
      continue;
    }
    votes[identifier] = accept;
    if (request.votes === undefined || (before === null && isOwn(request.requester, row))) continue;
    voteSequence += 1;
    const voter = voterOf(row) ?? identifier;
    events.push({ kind: "vote", key, sequence: voteSequence, voter, from: before, to: accept });
  }
  const isUnsure = Object.keys(unconfirmedVotes).length > 0;
  return {
    changes: { votes, voteSequence, unconfirmedVotes, ...(isUnsure ? { needsDetail: true } : {}) },
    events,
  };
}

/**
 * Super validators that have voted before and not on this request; null where they are not as many as its tally counts, so
 * that not all of them are known.
 */
export function absentFrom(request: TrackedVoteRequest, rows: readonly Vote[]): readonly string[] | null {
  const voters = new Map(
    rows.flatMap((row) =>
      row.identifier === null ? [] : [[row.identifier, voterOf(row) ?? row.identifier] as const],
    ),
  );
  const voted = new Set(
    rows
      .filter((row) => row.trackingCid === request.identity && row.accept !== null)
      .map((row) => row.identifier),
  );
  const absent = [...voters].filter(([id]) => !voted.has(id)).map(([, name]) => name);
  return absent.length === request.pending ? absent : null;
}
