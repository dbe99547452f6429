import type { Names } from "../directory/names.js";
import { ifAnswered } from "../explorer/errors.js";
import { openUndocumentedSlice, ROWS_PER_REQUEST } from "../explorer/paging.js";
import type { Vote, VoteRequestListItem } from "../explorer/schema/governance.js";
import type { Reading } from "../explorer/service.js";
import { toUrl } from "../explorer/values.js";
import {
  countSuperValidators,
  findVoteRequest,
  findVotes,
  identityOf,
  type VoteRequest,
} from "../ledger/vote-requests.js";
import { isOver, neededFor } from "../ledger/vote-rules.js";
import { notVoted, voterName } from "../ledger/votes.js";
import { shortId } from "../text/ids.js";
import {
  bold,
  code,
  codeBlock,
  join,
  linkTo,
  type Markdown,
  md,
  quote,
  timestamp,
} from "../text/markdown.js";
import { cut } from "../text/plain.js";
import { actionFields, actionFile, actionMenu } from "./action-parts.js";
import { address } from "./addresses.js";
import { brief, extent, named, orNothing, pageOf, partyMenu, row, rowMenu, watchLink } from "./parts.js";
import type { Field, Screen, ScreenContext } from "./view.js";
import { statusText, statusTone, tallyLines, tallyWords, untilWords, voteFields } from "./vote-parts.js";

/** The names of a list's rows are not waited for any longer than this, in ms: their kinds will do. */
const NAMES_MS = 1_000;

const toLine = (each: VoteRequestListItem, names: Names, now: number) => {
  const tally = { ...each, yes: each.yesCount, no: each.noCount, pending: each.abstainCount };
  return row(
    md`${statusText(each.status)} · ${bold(cut(nameOf(each, names), 120))}`,
    md`-# ${tallyWords(tally, now)} · ${untilWords(each, now)}`,
  );
};

const nameOf = (each: VoteRequestListItem, names: Names): string =>
  names.voteRequest({ ...each, identity: identityOf(each) });

/** The vote requests, as the explorer lists them. */
export const proposals: Screen<"proposals"> = async ({ page }, { explorer, names }) => {
  const reading = await openUndocumentedSlice("voteRequests", (at) => explorer.voteRequests(at), page);
  const now = Date.now();
  await names.read(reading.data.rows, NAMES_MS);
  return {
    title: md`Vote requests`,
    tone: "neutral",
    body: [
      ...orNothing(
        reading.data.rows.map((each) => toLine(each, names, now)),
        "vote requests",
      ),
      md``,
      md`-# ${extent(reading.data, "vote request")}`,
    ],
    readings: [reading],
    pager: reading.data,
    menus: [
      rowMenu(reading.data.rows, "Open a vote request…", (each) => {
        const id = identityOf(each);
        if (id === null) return undefined;
        const hint = `${each.status ?? "status not known"} · ${shortId(id)}`;
        return { label: nameOf(each, names), hint, to: address("voteRequest", { id }) };
      }),
    ],
  };
};

/** The reason given, safely shortened, and its link. */
export function reasonFields({
  reasonBody,
  reasonUrl,
}: Pick<VoteRequest, "reasonBody" | "reasonUrl">): Field[] {
  const url = toUrl(reasonUrl);
  const lines = [
    reasonBody !== null && quote(reasonBody, 500),
    url !== null && linkTo(`Read more at ${new URL(url).hostname}`, url),
  ];
  const value = join(lines, "\n");
  return value.toString() ? [{ name: "Reason", value }] : [];
}

export const requesterOf = ({
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

/** Who has not voted yet, of an open request whose votes are all known. */
async function missingLines(
  request: VoteRequest,
  { data, complete }: { readonly data: readonly Vote[]; readonly complete: boolean },
  { explorer, names }: ScreenContext,
): Promise<Markdown[]> {
  if (!complete || !request.pending || isOver(request, Date.now())) return [];
  const others = await ifAnswered(explorer.votes({ page: 0, size: ROWS_PER_REQUEST }));
  const missing = others ? notVoted(data, others.data.content, request.pending) : null;
  return [
    md``,
    missing === null
      ? md`-# Who has not voted yet is not known.`
      : md`⬛ **Not voted yet:** ${cut(missing.map(names.called).join(", "), 700)}`,
  ];
}

/** Who voted how on a vote request; a null is not a No. */
export const votes: Screen<"votes"> = async ({ id, page }, context) => {
  const { explorer, names } = context;
  const reading = await findVoteRequest(explorer, id);
  const request = reading.data;
  const found = await findVotes(explorer, reading);
  const missing = await missingLines(request, found, context);
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
