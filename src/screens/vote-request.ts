import type { Names } from "../directory/names.js";
import type { Reading } from "../explorer/service.js";
import { toUrl } from "../explorer/values.js";
import { readMissing } from "../ledger/missing-votes.js";
import { readable } from "../ledger/readable.js";
import { isVotable, type Standing, standingOf } from "../ledger/vote-phase.js";
import {
  countSuperValidators,
  findVoteRequest,
  findVotes,
  type VoteRequest,
} from "../ledger/vote-requests.js";
import { neededFor, type Tally } from "../ledger/vote-rules.js";
import { type CastVote, type Voter, voterKey, voterName } from "../ledger/votes.js";
import { code, codeBlock, join, linkTo, type Markdown, md, quote, timestamp } from "../text/markdown.js";
import { cut } from "../text/plain.js";
import { actionFields, actionFile, actionMenu } from "./action-parts.js";
import { address } from "./addresses.js";
import { brief, namedLine, pageOf, partyMenu } from "./parts.js";
import type { Field, Screen, ScreenContext } from "./view.js";
import { missingLine, shortVote, standingText, standingTone, tallyLines } from "./vote-parts.js";
import { voteFields } from "./vote-times.js";

/** Returns a field with the reason of a request, shortened and escaped, and its link. */
function reasonFields({ reasonBody, reasonUrl }: Pick<VoteRequest, "reasonBody" | "reasonUrl">): Field[] {
  const url = toUrl(reasonUrl);
  const voteLines = [
    reasonBody !== null && quote(reasonBody, 500),
    url !== null && linkTo(`Read more at ${new URL(url).hostname}`, url),
  ];
  const value = join(voteLines, "\n");
  return value.toString() ? [{ name: "Reason", value }] : [];
}

const requesterOf = ({
  requesterName,
  requester,
}: Pick<VoteRequest, "requester" | "requesterName">): Markdown =>
  requesterName !== null && requesterName !== requester
    ? namedLine(requesterName, requester)
    : code(requester, 60);

/** The context of a vote request's fields. */
export interface VoteRequestContext {
  readonly needed: number | undefined;
  readonly names: Names;
  readonly now: number;
  /** A sentence that says where to find the rest of a long value. */
  readonly rest: string;
}

/** Returns the fields of a vote request, for its screen and its announcement. */
export const voteRequestFields = (
  request: VoteRequest,
  { needed, names, now, rest }: VoteRequestContext,
): Field[] => [
  ...voteFields(request, needed, now),
  { name: "Requested by", value: requesterOf(request), inline: true },
  ...(request.detail === "unanswered"
    ? [{ name: "Action", value: md`Its details could not be read right now.`, inline: true }]
    : request.detail === "none" && request.action.words === null
      ? [{ name: "Action", value: md`The explorer gives no details of it.`, inline: true }]
      : actionFields(request.action, names.voteRequest(request), names, rest)),
  ...reasonFields(request),
];

/** Shows a vote request. */
export const voteRequest: Screen<"voteRequest"> = async ({ id }, { explorer, names, watchLinks }) => {
  const [reading, superValidators] = await Promise.all([
    findVoteRequest(explorer, id),
    countSuperValidators(explorer),
  ]);
  const identity = reading.data.identity ?? id;
  const request = { ...reading.data, closed: names.closingOf(identity) };
  const neededVotes = neededFor(request, superValidators);
  const standing = standingOf(request, neededVotes, Date.now());
  if (request.detail === "read") names.learn(identity, request.action);
  const file = await actionFile(request.action, identity, names);
  return {
    title: md`${cut(names.voteRequest(request), 200)}`,
    tone: standingTone(request, standing),
    body: [standingText(request, standing), ...shortVote(request)],
    fields: [
      ...voteRequestFields(request, {
        needed: neededVotes,
        names,
        now: Date.now(),
        rest: "The file below has all of it.",
      }),
      { name: "Vote request id", value: codeBlock(identity) },
    ],
    thumbnail: request.requesterImg,
    files: file ? [file] : [],
    readings: [reading],
    menus: [
      actionMenu(request.action, names, [
        { partyId: request.requester ?? "", accountName: request.requesterName, role: "requested it" },
      ]),
    ],
    links: [
      { label: "Votes", emoji: "🗳️", to: address("votes", { id: identity }) },
      ...(isVotable(standing) ? watchLinks("voteRequest", identity) : []),
    ],
    explorerPage: { kind: "proposal", id: identity },
    parent: address("proposals", {}),
  };
};

/** Returns the lines about missing votes on an open request. */
async function missingLines(
  reading: Reading<VoteRequest>,
  standing: Standing,
  { explorer, names }: ScreenContext,
): Promise<Markdown[]> {
  if (reading.data.pending === 0 || !isVotable(standing)) return [];
  const former = async (voters: readonly Voter[]) => voters.filter(names.isFormer);
  return [md``, missingLine(await readMissing(explorer, reading, former), names)];
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
  return md` · cast by ${brief(names.called(castBy))}${role}`;
}

/** Explains an empty list of votes. Only a tally of zero says that there are none. */
function noVotesWords({ yes, no }: Tally, isComplete: boolean): string {
  if (!isComplete) return "The explorer's latest votes include none for this request.";
  return yes === 0 && no === 0 ? "Nobody has voted on it yet." : "The votes could not be read.";
}

/** Lists the votes on a request. An empty vote is not a No. */
export const votes: Screen<"votes"> = async ({ id, page }, context) => {
  const { explorer, names } = context;
  const [reading, superValidators] = await Promise.all([
    findVoteRequest(explorer, id),
    countSuperValidators(explorer),
  ]);
  const request = reading.data;
  const neededVotes = neededFor(request, superValidators);
  const standing = standingOf(request, neededVotes, Date.now());
  const foundVotes = await findVotes(explorer, reading);
  const missingText = await missingLines(reading, standing, context);
  const shownVotes = pageOf(foundVotes.data, page);
  const readings: readonly Reading<unknown>[] = [reading, foundVotes];
  return {
    title: md`Votes on ${cut(names.voteRequest(request), 180)}`,
    tone: standingTone(request, standing),
    body: [
      standingText(request, standing),
      ...tallyLines(request, neededVotes, Date.now()),
      md``,
      ...(shownVotes.rows.length > 0
        ? shownVotes.rows.map((vote) => {
            const voteSign = vote.accept === null ? "⚪ no vote seen" : vote.accept ? "✅ yes" : "❌ no";
            const voter = calledOf(vote, foundVotes.data);
            const when = vote.castAt === null ? md`` : md` · ${timestamp(vote.castAt)}`;
            const castBy = castByWords(vote, names);
            const reason = vote.reason === null ? md`` : md`\n-# ${cut(vote.reason, 150)}`;
            return md`${voteSign} · **${voter === null ? null : brief(names.called(voter))}**${when}${castBy}${reason}`;
          })
        : [md`${noVotesWords(request, foundVotes.complete)}`]),
      ...missingText,
      ...(foundVotes.complete
        ? []
        : [
            md``,
            md`-# ${foundVotes.data.length} of the votes counted above were found among the newest that the explorer lists.`,
          ]),
    ],
    readings,
    pager: shownVotes,
    menus: [
      partyMenu(
        shownVotes.rows.map(({ identifier, accountName, company, accept }) => ({
          partyId: identifier,
          accountName: accountName ?? company,
          role: accept === null ? "no vote seen" : accept ? "voted yes" : "voted no",
        })),
      ),
    ],
    links: [
      { label: "Vote request", emoji: "📜", to: address("voteRequest", { id: request.identity ?? id }) },
    ],
    parent: address("voteRequest", { id: request.identity ?? id }),
  };
};
