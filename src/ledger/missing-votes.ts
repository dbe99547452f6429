import { ifAnswered } from "../explorer/errors.js";
import { readPages } from "../explorer/paging.js";
import type { Explorer, Reading } from "../explorer/service.js";
import { isPartyId } from "../text/ids.js";
import { findVotes, type VoteRequest } from "./vote-requests.js";
import { notVoted, type Voter, votersIn } from "./votes.js";

/** Pages of votes that are looked through at the most for who the super validators are. */
const MAX_PAGES = 10;

/** Returns the super validators that have voted recently. */
export const readVoters = async (
  explorer: Explorer,
  wanted: number,
): Promise<readonly Voter[] | undefined> => {
  const votesRead = await ifAnswered(
    readPages(
      "votes",
      (page) => explorer.votes(page),
      (rows) => votersIn(rows).length >= wanted,
      MAX_PAGES,
    ),
  );
  return votesRead && votersIn(votesRead.data);
};

/**
 * Returns the super validators that have not voted on a request. null if that is uncertain: its votes could not be read
 * completely, their number differs from the tally, or not every super validator is known.
 */
export async function readMissing(
  explorer: Explorer,
  reading: Reading<VoteRequest>,
): Promise<readonly Voter[] | null> {
  const { yes, no, pending } = reading.data;
  if (yes === null || no === null || pending === null) return null;
  const foundVotes = await ifAnswered(findVotes(explorer, reading));
  const castVotes = foundVotes?.data.filter(({ accept }) => accept !== null) ?? [];
  if (!foundVotes?.complete || foundVotes.problem || votersIn(castVotes).length !== yes + no) return null;
  if (pending === 0) return [];
  const allVoters = await readVoters(explorer, yes + no + pending);
  return allVoters ? notVoted(castVotes, allVoters, pending) : null;
}

/**
 * True if none of these super validators has been offboarded. They are known only by their votes, so an offboarded one appears as
 * missing while its votes are listed.
 */
export async function areStillVoters(explorer: Explorer, voters: readonly Voter[]): Promise<boolean> {
  const parties = voters.flatMap(({ aliases }) => aliases.find(isPartyId) ?? []);
  const details = await Promise.all(
    parties.map((party) => ifAnswered(explorer.validator({ validatorId: party }))),
  );
  return details.every((detail) => detail?.data.isSv !== false);
}
