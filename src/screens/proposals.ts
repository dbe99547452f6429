import type { Names } from "../directory/names.js";
import { openUndocumentedSlice, readPages, type Slice } from "../explorer/paging.js";
import type { VoteRequestListItem } from "../explorer/schema/governance.js";
import type { Explorer, Reading } from "../explorer/service.js";
import { toUrl } from "../explorer/values.js";
import { readMissing } from "../ledger/missing-votes.js";
import { motionKindOf } from "../ledger/motion-kinds.js";
import {
  countSuperValidators,
  findVoteRequest,
  findVotes,
  identityOf,
  tallyIn,
  type VoteRequest,
} from "../ledger/vote-requests.js";
import {
  isOpen,
  isOver,
  neededFor,
  type StatusGroup,
  statusGroup,
  votableUntil,
} from "../ledger/vote-rules.js";
import { voterName } from "../ledger/votes.js";
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
import { address, type ParametersOf, parseAddress } from "./addresses.js";
import { brief, extent, named, orNothing, pageOf, partyMenu, row, rowMenu, watchLink } from "./parts.js";
import type { Field, Menu, Screen, ScreenContext } from "./view.js";
import {
  missingLine,
  statusText,
  statusTone,
  tallyLines,
  tallyWords,
  untilWords,
  voteFields,
} from "./vote-parts.js";

/** The names of a list's rows are not waited for any longer than this, in ms: their kinds will do. */
const NAMES_MS = 1_000;

const toLine = (each: VoteRequestListItem, names: Names, now: number) => {
  const tally = { ...each, ...tallyIn(each) };
  return row(
    md`${statusText(each.status)} · ${bold(cut(nameOf(each, names), 120))}`,
    md`-# ${tallyWords(tally, now)} · ${untilWords(each, now)}`,
  );
};

const nameOf = (each: VoteRequestListItem, names: Names): string =>
  names.voteRequest({ ...each, identity: identityOf(each) });

type ListParameters = ParametersOf<"proposals">;

/** The lists that there are, by the status that they take. */
const LISTS = {
  first: { words: "the open ones first", groups: null },
  open: { words: "open", groups: ["open"] },
  all: { words: "newest first", groups: null },
  accepted: { words: "accepted", groups: ["accepted", "implemented"] },
  rejected: { words: "rejected", groups: ["rejected"] },
  expired: { words: "expired", groups: ["expired"] },
} as const satisfies Readonly<
  Record<ListParameters["status"], { words: string; groups: readonly StatusGroup[] | null }>
>;

/** What the kinds of vote requests are called. */
const KINDS: Readonly<Record<ListParameters["kind"], string>> = {
  any: "all kinds",
  apps: "featured applications",
  configuration: "configuration",
  rewards: "rewards",
  validators: "super validators",
  other: "other kinds",
};

/** The open ones, those that end first at the top. */
const byDeadline = (rows: readonly VoteRequestListItem[], now: number) =>
  rows
    .filter((each) => isOpen(each, now))
    .sort(
      (a, b) => (votableUntil(a) ?? Number.MAX_SAFE_INTEGER) - (votableUntil(b) ?? Number.MAX_SAFE_INTEGER),
    );

/** The rows of a list, in its order. */
function chosenOf(
  rows: readonly VoteRequestListItem[],
  { status, kind }: ListParameters,
  now: number,
): readonly VoteRequestListItem[] {
  const { groups } = LISTS[status];
  const isChosen = (each: VoteRequestListItem) =>
    !groups || groups.some((group) => group === (isOpen(each, now) ? "open" : statusGroup(each.status)));
  const own = rows.filter((each) => isChosen(each) && (kind === "any" || motionKindOf(each.title) === kind));
  if (status === "open") return byDeadline(own, now);
  return status === "first" ? [...byDeadline(own, now), ...own.filter((each) => !isOpen(each, now))] : own;
}

/** Menus of the other lists. */
const listMenus = (shown: ListParameters): Menu[] => [
  {
    placeholder: "Show…",
    choices: Object.entries(LISTS).flatMap(([name, { words }]) => {
      const to = parseAddress("proposals", { status: name, kind: shown.kind });
      return to ? [{ label: `Vote requests: ${words}`, to, chosen: name === shown.status }] : [];
    }),
  },
  {
    placeholder: "Of which kind…",
    choices: Object.entries(KINDS).flatMap(([name, words]) => {
      const to = parseAddress("proposals", { status: shown.status, kind: name });
      return to
        ? [{ label: `Only: ${words}`.replace("Only: all", "All"), to, chosen: name === shown.kind }]
        : [];
    }),
  },
];

/** Pages that are looked through at the most, the newest first: the watch has read them, so that they cost no request. */
const MAX_PAGES = 10;
const MAX_ROWS = MAX_PAGES * 100;

/** One screen of a list. */
async function readList(
  explorer: Explorer,
  parameters: ListParameters,
  now: number,
): Promise<Reading<Slice<VoteRequestListItem>>> {
  const { status, kind, page } = parameters;
  const load = (at: { page: number; size: number }) => explorer.voteRequests(at);
  if (status === "all" && kind === "any") return openUndocumentedSlice("voteRequests", load, page);
  const reading = await readPages("voteRequests", load, (rows) => rows.length >= MAX_ROWS, MAX_PAGES);
  return { ...reading, data: pageOf(chosenOf(reading.data.slice(0, MAX_ROWS), parameters, now), page) };
}

/** The vote requests: the open ones by their deadlines, or those of a status or a kind. */
export const proposals: Screen<"proposals"> = async (parameters, { explorer, names }) => {
  const { status, kind } = parameters;
  const now = Date.now();
  const reading = await readList(explorer, parameters, now);
  const shown = reading.data;
  await names.read(shown.rows, NAMES_MS);
  const which = kind === "any" ? LISTS[status].words : `${LISTS[status].words}, ${KINDS[kind]}`;
  return {
    title: md`Vote requests: ${which}`,
    tone: "neutral",
    body: [
      ...orNothing(
        shown.rows.map((each) => toLine(each, names, now)),
        status === "first" && kind === "any" ? "vote requests" : "such vote requests",
      ),
      md``,
      md`-# ${extent(shown, "vote request")}`,
    ],
    readings: [reading],
    pager: shown,
    menus: [
      rowMenu(shown.rows, "Open a vote request…", (each) => {
        const id = identityOf(each);
        if (id === null) return undefined;
        const hint = `${each.status ?? "status not known"} · ${shortId(id)}`;
        return { label: nameOf(each, names), hint, to: address("voteRequest", { id }) };
      }),
      ...listMenus(parameters),
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
