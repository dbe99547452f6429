import { ifAnswered } from "../explorer/errors.js";
import { readPagesOf } from "../explorer/paging.js";
import type { Vote } from "../explorer/schema/governance.js";
import type { Explorer, Reading } from "../explorer/service.js";
import { isPartyId } from "../text/ids.js";
import { findVotes, type VoteRequest } from "./vote-requests.js";
import { type MissingVotes, notVoted, type Voter, votersIn } from "./votes.js";

/** Maximum number of pages of votes that are searched for super validators. */
const MAX_PAGES = 10;

/** Returns the voters that are no longer super validators. */
export type FormerVoters = (voters: readonly Voter[]) => Promise<readonly Voter[]>;

/**
 * Returns `wanted` super validators that have voted recently, the former ones that were found with them, and if these are all votes
 * there are. `undefined` if some votes cannot be read.
 * @param formerCount number of former ones that are known so far. As many more are read, because their successors may have voted
 *   only on older pages
 */
async function readCurrent(
  explorer: Explorer,
  wanted: number,
  formerAmong: FormerVoters,
  formerCount = 0,
): Promise<
  | { readonly voters: readonly Voter[]; readonly isWhole: boolean; readonly former: readonly Voter[] }
  | undefined
> {
  const isEnough = (rows: readonly Vote[]) => votersIn(rows).length >= wanted + formerCount;
  const reading = await ifAnswered(readPagesOf(explorer, "votes", isEnough, MAX_PAGES));
  if (!reading || reading.problem) return undefined;
  const voters = votersIn(reading.data);
  const former = await formerAmong(voters);
  return former.length > formerCount
    ? readCurrent(explorer, wanted, formerAmong, former.length)
    : { voters, isWhole: reading.complete, former };
}

/**
 * Returns the super validators that have not voted on a request. null if that is uncertain: its votes could not be read
 * completely, their number differs from the tally, or there are more missing voters than the tally says. Offboarded super
 * validators are left out.
 */
export async function readMissing(
  explorer: Explorer,
  reading: Reading<VoteRequest>,
  formerAmong: FormerVoters,
): Promise<MissingVotes | null> {
  const { yes, no, pending } = reading.data;
  if (yes === null || no === null || pending === null) return null;
  const foundVotes = await ifAnswered(findVotes(explorer, reading));
  const castVotes = foundVotes?.data.filter(({ accept }) => accept !== null) ?? [];
  const voted = votersIn(castVotes);
  if (!foundVotes?.complete || foundVotes.problem || voted.length !== yes + no) return null;
  // The vote of a former super validator may be in the tally. Then a current one's vote is missing, although none is pending.
  if (pending === 0 && (await formerAmong(voted)).length === 0) return { voters: [], unknown: 0, voted };
  const known = await readCurrent(explorer, yes + no + pending, formerAmong);
  if (!known) return null;
  const missing = notVoted(castVotes, known.voters, pending, known.former);
  return missing && { ...missing, isLately: !known.isWhole };
}

/**
 * Returns the voters that are no longer super validators according to the explorer.
 * @param wasFormer what was known before. It counts if the explorer has no detail of a voter, such as after it has been unlisted
 */
export async function readFormer(
  explorer: Explorer,
  voters: readonly Voter[],
  wasFormer: (voter: Voter) => boolean,
): Promise<readonly Voter[]> {
  const checks = voters.map(async (voter) => {
    const party = voter.aliases.find(isPartyId);
    const detail =
      party === undefined ? undefined : await ifAnswered(explorer.validator({ validatorId: party }));
    const isFormer = detail?.data.isSv == null ? wasFormer(voter) : !detail.data.isSv;
    return isFormer ? [voter] : [];
  });
  return (await Promise.all(checks)).flat();
}
