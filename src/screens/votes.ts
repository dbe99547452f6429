import type { Names } from "../directory/names.js";
import type { Reading } from "../explorer/service.js";
import { readMissing } from "../ledger/missing-votes.js";
import { readable } from "../ledger/readable.js";
import { mayStillVote, type Standing, standingOf } from "../ledger/vote-phase.js";
import {
  countSuperValidators,
  findVoteRequest,
  findVotes,
  type VoteRequest,
} from "../ledger/vote-requests.js";
import { neededFor, type Tally } from "../ledger/vote-rules.js";
import { type CastVote, type Voter, voterKey, voterName, votersIn } from "../ledger/votes.js";
import { type Markdown, md, timestamp } from "../text/markdown.js";
import { cut } from "../text/plain.js";
import { address } from "./addresses.js";
import { brief, pageOf, partyMenu } from "./parts.js";
import { type Screen, type ScreenContext, SIDE_MS } from "./view.js";
import { RULES_LINK } from "./vote-explained.js";
import { BALLOTS, missingLine, standingText, standingTone, tallyLines } from "./vote-parts.js";

const NO_VOTE = "no vote seen";

/** Returns the lines about missing votes on an open request. */
async function missingLines(
  reading: Reading<VoteRequest>,
  standing: Standing,
  { explorer, names }: ScreenContext,
): Promise<Markdown[]> {
  if (!mayStillVote(reading.data, standing)) return [];
  const former = async (voters: readonly Voter[]) => voters.filter(names.isFormer);
  const missing = await readMissing(explorer, reading, former);
  if (reading.data.pending === 0 && !missing?.voters.length) return [];
  return [md``, missingLine(missing, names)];
}

/** Returns a voter's name, or its party if another voter has the same name. */
function calledOf(vote: CastVote, all: readonly CastVote[]): string | null {
  const name = voterName(vote);
  const isShared = all.some((each) => each.identifier !== vote.identifier && voterName(each) === name);
  return isShared ? voterKey(vote) : name;
}

/** Describes who cast a vote for its super validator. */
function castByWords({ castBy, castByRole, identifier }: CastVote, names: Names): Markdown {
  if (castBy == null || castBy === identifier) return md``;
  const role = castByRole == null ? "" : ` (${brief(readable(castByRole).toLowerCase())})`;
  return md` · cast by ${brief(names.distinct(castBy))}${role}`;
}

/** Explains an empty list of votes. Only a tally of zero says that there are none. */
function noVotesWords({ yes, no }: Tally, isComplete: boolean): string {
  if (!isComplete) return "The explorer's latest votes include none for this request.";
  return yes === 0 && no === 0 ? "Nobody has voted on it yet." : "I couldn't read the votes.";
}

/** Lists the votes on a request. An empty vote is not a No. */
export const votes: Screen<"votes"> = async ({ id, page }, context) => {
  const { explorer, names } = context;
  const [reading, superValidators] = await Promise.all([
    findVoteRequest(explorer, id),
    countSuperValidators(explorer, SIDE_MS),
  ]);
  const request = names.withSeen(reading.data, id);
  const neededVotes = neededFor(request, superValidators);
  const standing = standingOf(request, neededVotes, Date.now());
  const foundVotes = await findVotes(explorer, reading);
  const missingText = await missingLines({ ...reading, data: request }, standing, context);
  const shownVotes = pageOf(foundVotes.data, page);
  const readings: readonly Reading<unknown>[] = [reading, foundVotes];
  return {
    title: md`Votes on ${names.voteRequest(request, 180)}`,
    tone: standingTone(request, standing),
    body: [
      standingText(request, standing),
      ...tallyLines(request, neededVotes, Date.now()),
      md``,
      ...(shownVotes.rows.length > 0
        ? shownVotes.rows.map((vote) => {
            const voteSign = vote.accept === null ? `⚪ ${NO_VOTE}` : BALLOTS[`${vote.accept}`];
            const voter = calledOf(vote, foundVotes.data);
            const castWords = vote.castAt === null ? md`` : md` · ${timestamp(vote.castAt)}`;
            const castBy = castByWords(vote, names);
            const isFormer = votersIn([vote]).some(names.isFormer);
            const formerWords = isFormer ? md` · no longer a super validator` : md``;
            const reason = vote.reason === null ? md`` : md`\n-# ${cut(vote.reason, 150)}`;
            return md`${voteSign} · **${voter === null ? null : brief(names.distinct(voter))}**${castWords}${castBy}${formerWords}${reason}`;
          })
        : [md`${noVotesWords(request, foundVotes.complete)}`]),
      ...missingText,
      ...(foundVotes.complete
        ? []
        : [
            md``,
            md`-# The explorer's latest votes include ${foundVotes.data.filter(({ accept }) => accept !== null).length} of the votes counted above.`,
          ]),
    ],
    readings,
    pager: shownVotes,
    menus: [
      partyMenu(
        shownVotes.rows.map(({ identifier, accountName, company, accept }) => ({
          partyId: identifier,
          accountName: accountName ?? company,
          role: accept === null ? NO_VOTE : `voted ${accept ? "yes" : "no"}`,
        })),
      ),
    ],
    links: [RULES_LINK],
    parent: address("voteRequest", { id: request.identity ?? id }),
  };
};
