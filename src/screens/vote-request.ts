import type { Names } from "../directory/names.js";
import type { Reading } from "../explorer/service.js";
import { toUrl } from "../explorer/values.js";
import { readMissing } from "../ledger/missing-votes.js";
import {
  countSuperValidators,
  findVoteRequest,
  findVotes,
  type VoteRequest,
} from "../ledger/vote-requests.js";
import { isOver, neededFor } from "../ledger/vote-rules.js";
import { voterName } from "../ledger/votes.js";
import { code, codeBlock, join, linkTo, type Markdown, md, quote, timestamp } from "../text/markdown.js";
import { cut } from "../text/plain.js";
import { actionFields, actionFile, actionMenu } from "./action-parts.js";
import { address } from "./addresses.js";
import { brief, named, pageOf, partyMenu, watchLink } from "./parts.js";
import type { Field, Screen, ScreenContext } from "./view.js";
import { missingLine, statusText, statusTone, tallyLines, voteFields } from "./vote-parts.js";

/** The reason given, safely shortened, and its link. */
function reasonFields({ reasonBody, reasonUrl }: Pick<VoteRequest, "reasonBody" | "reasonUrl">): Field[] {
  const url = toUrl(reasonUrl);
  const lines = [
    reasonBody !== null && quote(reasonBody, 500),
    url !== null && linkTo(`Read more at ${new URL(url).hostname}`, url),
  ];
  const value = join(lines, "\n");
  return value.toString() ? [{ name: "Reason", value }] : [];
}

const requesterOf = ({
  requesterName,
  requester,
}: Pick<VoteRequest, "requester" | "requesterName">): Markdown =>
  requesterName !== null && requesterName !== requester
    ? named(requesterName, requester)
    : code(requester, 60);

/** What a vote request's fields are made with. */
export interface VoteRequestContext {
  readonly needed: number | undefined;
  readonly names: Names;
  readonly now: number;
  /** Where the rest is found of what is too long. */
  readonly rest: string;
}

/** What is said of a vote request: on its screen, and in its announcement. */
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

/** One vote request. */
export const voteRequest: Screen<"voteRequest"> = async ({ id }, { explorer, names }) => {
  const [reading, superValidators] = await Promise.all([
    findVoteRequest(explorer, id),
    countSuperValidators(explorer),
  ]);
  const request = reading.data;
  const needed = neededFor(request, superValidators);
  const identity = request.identity ?? id;
  if (request.detail === "read") names.learn(identity, request.action);
  const file = await actionFile(request.action, identity, names);
  return {
    title: md`${cut(names.voteRequest(request), 200)}`,
    tone: statusTone(request.status),
    body: [statusText(request.status)],
    fields: [
      ...voteRequestFields(request, {
        needed,
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
      ...(isOver(request, Date.now()) ? [] : [watchLink("governance", identity)]),
    ],
    explorerPage: { kind: "proposal", id: identity },
    parent: address("proposals", {}),
  };
};

/** Who has not voted yet, of a request that is open. */
async function missingLines(
  reading: Reading<VoteRequest>,
  { explorer, names }: ScreenContext,
): Promise<Markdown[]> {
  if (reading.data.pending === 0 || isOver(reading.data, Date.now())) return [];
  return [md``, missingLine(await readMissing(explorer, reading), names)];
}

/** Who voted how on a vote request; a null is not a No. */
export const votes: Screen<"votes"> = async ({ id, page }, context) => {
  const { explorer, names } = context;
  const reading = await findVoteRequest(explorer, id);
  const request = reading.data;
  const found = await findVotes(explorer, reading);
  const missing = await missingLines(reading, context);
  const shown = pageOf(found.data, page);
  const readings: readonly Reading<unknown>[] = [reading, found];
  return {
    title: md`Votes on ${cut(names.voteRequest(request), 180)}`,
    tone: statusTone(request.status),
    body: [
      ...tallyLines(request, neededFor(request, undefined), Date.now()),
      md``,
      ...(shown.rows.length > 0
        ? shown.rows.map((vote) => {
            const sign = vote.accept === null ? "⚪ no vote seen" : vote.accept ? "✅ yes" : "❌ no";
            const voter = voterName(vote);
            const when = vote.castAt === null ? md`` : md` · ${timestamp(vote.castAt)}`;
            const reason = vote.reason === null ? md`` : md`\n-# ${cut(vote.reason, 150)}`;
            return md`${sign} · **${voter === null ? null : brief(names.called(voter))}**${when}${reason}`;
          })
        : [
            md`${found.complete ? "Nobody has voted on it yet." : "The explorer's latest votes include none for this request."}`,
          ]),
      ...missing,
      ...(found.complete
        ? []
        : [
            md``,
            md`-# ${found.data.length} of the votes counted above were found among the newest that the explorer lists.`,
          ]),
    ],
    readings,
    pager: shown,
    menus: [
      partyMenu(
        shown.rows.map(({ identifier, accountName, company, accept }) => ({
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
