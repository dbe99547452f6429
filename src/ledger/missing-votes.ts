import { ifAnswered } from "../explorer/errors.js";
import { readPages } from "../explorer/paging.js";
import type { Explorer, Reading } from "../explorer/service.js";
import { isPartyId } from "../text/ids.js";
import { findVotes, type VoteRequest } from "./vote-requests.js";
import { notVoted, type Voter, votersIn } from "./votes.js";

/** Pages of votes that are looked through at the most for who the super validators are. */
const MAX_PAGES = 10;

/** The super validators that have voted lately, as far as that shows so many of them. */
export const readVoters = async (
  explorer: Explorer,
  wanted: number,
): Promise<readonly Voter[] | undefined> => {
  const read = await ifAnswered(
    readPages(
      "votes",
      (page) => explorer.votes(page),
      (rows) => votersIn(rows).length >= wanted,
      MAX_PAGES,
    ),
  );
  return read && votersIn(read.data);
};

/**
 * Who has not voted on a request. Null where that is not sure: its votes could not be read to the end, they are not as many as
 * its tally counts, or not every super validator is known.
 */
export async function readMissing(
  explorer: Explorer,
  reading: Reading<VoteRequest>,
): Promise<readonly Voter[] | null> {
  const { yes, no, pending } = reading.data;
  if (yes === null || no === null || pending === null) return null;
  const found = await ifAnswered(findVotes(explorer, reading));
  const cast = found?.data.filter(({ accept }) => accept !== null) ?? [];
  if (!found?.complete || found.problem || votersIn(cast).length !== yes + no) return null;
  if (pending === 0) return [];
  const all = await readVoters(explorer, yes + no + pending);
  return all ? notVoted(cast, all, pending) : null;
}

/**
 * Whether none of these is said to be no super validator any more. Who the super validators are is known by their votes alone:
 * one that was offboarded stands among those for as long as its votes are listed, in the place of one that has not voted yet.
 */
export async function areStillVoters(explorer: Explorer, voters: readonly Voter[]): Promise<boolean> {
  const parties = voters.flatMap(({ aliases }) => aliases.find(isPartyId) ?? []);
  const details = await Promise.all(
    parties.map((party) => ifAnswered(explorer.validator({ validatorId: party }))),
  );
  return details.every((detail) => detail?.data.isSv !== false);
}
