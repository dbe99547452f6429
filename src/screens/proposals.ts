import type { Names } from "../directory/names.js";
import { readPagesOf, type Slice } from "../explorer/paging.js";
import type { VoteRequestListItem } from "../explorer/schema/governance.js";
import type { Explorer, Reading } from "../explorer/service.js";
import { mayStillVote, PHASE_WORDS, standingOf } from "../ledger/vote-phase.js";
import { countSuperValidators, earliest, identityOf, tallyIn } from "../ledger/vote-requests.js";
import { isOver, neededFor, type StatusGroup, statusGroup, statusWords } from "../ledger/vote-rules.js";
import { shortId } from "../text/ids.js";
import { bold, type Markdown, md } from "../text/markdown.js";
import { countedWords } from "../text/numbers.js";
import { capitalized } from "../text/plain.js";
import { yieldIfBusy } from "../util/event-loop.js";
import { present } from "../util/present.js";
import { address, type ParametersOf, parseAddress } from "./addresses.js";
import { extent, MAX_LABEL, orNothing, pageOf, row, rowMenu } from "./parts.js";
import { type Choice, type Menu, type Screen, SIDE_MS } from "./view.js";
import { stateText, tallyWords } from "./vote-parts.js";
import { untilWords } from "./vote-times.js";

/** Maximum wait for the names of a list's rows, in ms. Without its name, a row shows its kind. */
const NAMES_MS = 1_000;

/** The context of a list of requests. */
interface Judging {
  /** Number of super validators, for requests whose tally does not contain it. */
  readonly superValidators: number | undefined;
  readonly names: Names;
  readonly now: number;
}

const judgedStanding = (each: VoteRequestListItem, { superValidators, names, now }: Judging) => {
  const request = { ...each, ...tallyIn(each), ...names.seenOf(identityOf(each)) };
  const neededVotes = neededFor(request, superValidators);
  return { request, needed: neededVotes, standing: standingOf(request, neededVotes, now) };
};

/** Maximum length of a name in a line. */
const MAX_TITLE = 120;

const toLine = (each: VoteRequestListItem, names: Names, judging: Judging) => {
  const { request, needed, standing } = judgedStanding(each, judging);
  return row(
    md`${stateText(each.status, standing.phase)} · ${bold(nameOf(each, names, MAX_TITLE))}`,
    md`-# ${tallyWords(request, needed, judging.now)} · ${untilWords(request, needed, judging.now)}`,
  );
};

const nameOf = (each: VoteRequestListItem, names: Names, most: number): string =>
  names.voteRequest({ ...each, identity: identityOf(each) }, most);

const kindOf = (each: VoteRequestListItem, names: Names) =>
  names.kindOf({ ...each, identity: identityOf(each) });

type ProposalListParameters = ParametersOf<"proposals">;

/** The available lists, by their `status` parameter. */
const LISTS = {
  first: { words: "open first", groups: null },
  open: { words: "open", groups: ["open"] },
  all: { words: "newest first", groups: null },
  accepted: { words: "accepted", groups: ["accepted", "implemented"] },
  rejected: { words: "rejected", groups: ["rejected"] },
  expired: { words: "expired", groups: ["expired"] },
} as const satisfies Readonly<
  Record<ProposalListParameters["status"], { words: string; groups: readonly StatusGroup[] | null }>
>;

/** Names of the kinds of vote requests. */
const KINDS: Readonly<Record<ProposalListParameters["kind"], string>> = {
  any: "all kinds",
  apps: "featured applications",
  configuration: "configuration",
  rewards: "rewards",
  validators: "super validators",
  other: "other kinds",
};

/** Sorts open requests by their next date. Requests that should have been closed come last. */
const byDeadline = (rows: readonly VoteRequestListItem[], judging: Judging) =>
  rows
    .filter((each) => !isOver(each, judging.now))
    .map((each) => ({ each, at: judgedStanding(each, judging).standing.next?.at ?? Number.MAX_SAFE_INTEGER }))
    .sort((a, b) => a.at - b.at)
    .map(({ each }) => each);

/** Returns the groups of a request. One that its votes have decided, and can still change, is also open. */
function groupsOf(each: VoteRequestListItem, judging: Judging): readonly StatusGroup[] {
  if (isOver(each, judging.now)) return [statusGroup(each.status)];
  const { request, standing } = judgedStanding(each, judging);
  const { phase } = standing;
  return present([
    (phase === "expired" || phase === "rejected") && phase,
    mayStillVote(request, standing) && "open",
  ]);
}

/** Returns the rows of a list in its order, and the number of rows whose kind is unknown. */
function chosenOf(
  rows: readonly VoteRequestListItem[],
  { status, kind }: ProposalListParameters,
  judging: Judging,
): { readonly rows: readonly VoteRequestListItem[]; readonly unread: number } {
  const { groups } = LISTS[status];
  const ofStatus = rows.filter((each) => {
    const ownGroups = groups && groupsOf(each, judging);
    return !ownGroups || groups.some((group) => ownGroups.includes(group));
  });
  if (kind === "any") return { rows: ordered(ofStatus, status, judging), unread: 0 };
  const ofKind = ofStatus.filter((each) => kindOf(each, judging.names) === kind);
  const unread = ofStatus.filter((each) => kindOf(each, judging.names) === undefined).length;
  return { rows: ordered(ofKind, status, judging), unread };
}

function ordered(
  ownRows: readonly VoteRequestListItem[],
  status: ProposalListParameters["status"],
  judging: Judging,
): readonly VoteRequestListItem[] {
  if (status === "open") return byDeadline(ownRows, judging);
  // The API does not document the order of its answer. The time of a contract may be that of the last vote.
  const openedAt = (each: VoteRequestListItem) =>
    earliest(each.createdAt, judging.names.seenOf(identityOf(each)).openedAt ?? null) ?? 0;
  const newestFirst = ownRows.toSorted((a, b) => openedAt(b) - openedAt(a));
  return status === "first"
    ? [...byDeadline(ownRows, judging), ...newestFirst.filter((each) => isOver(each, judging.now))]
    : newestFirst;
}

const listChoice = (words: string, typed: Readonly<Record<string, string>>, chosen: boolean): Choice[] => {
  const destination = parseAddress("proposals", typed);
  return destination ? [{ label: capitalized(words), to: destination, chosen }] : [];
};

/** Returns the menus that lead to the other lists. */
const listMenus = ({ status, kind }: ProposalListParameters): Menu[] => [
  {
    placeholder: "Show…",
    choices: Object.entries(LISTS).flatMap(([name, { words }]) =>
      listChoice(words, { status: name, kind }, name === status),
    ),
  },
  {
    placeholder: "Filter by kind…",
    choices: Object.entries(KINDS).flatMap(([name, words]) =>
      listChoice(words, { status, kind: name }, name === kind),
    ),
  },
];

/** Maximum number of pages to read, newest first. Background polling has already read them, so they cost no requests. */
const MAX_PAGES = 10;
const MAX_ROWS = MAX_PAGES * 100;

/** Reads one page of a list. */
async function readList(
  explorer: Explorer,
  parameters: ProposalListParameters,
  judging: Judging,
): Promise<Reading<Slice<VoteRequestListItem>> & { readonly unread: number; readonly searched?: number }> {
  const reading = await readPagesOf(explorer, "voteRequests", (rows) => rows.length >= MAX_ROWS, MAX_PAGES);
  // Many people may ask for the list at once, and each answer judges all of its requests.
  await yieldIfBusy();
  const { rows, unread } = chosenOf(reading.data.slice(0, MAX_ROWS), parameters, judging);
  const isCut = reading.isCut || reading.data.length > MAX_ROWS;
  const searched = isCut ? { searched: Math.min(reading.data.length, MAX_ROWS) } : {};
  const data = { ...pageOf(rows, parameters.page), unreadable: reading.unreadable || undefined };
  return { ...reading, data, unread, ...searched };
}

/** States how many requests are missing from a list of one kind. */
const unreadLines = (unread: number): Markdown[] =>
  unread === 0
    ? []
    : [
        md`-# ${countedWords(unread, "vote request")} ${unread === 1 ? "is" : "are"} not sorted by kind yet: I'm still reading what ${unread === 1 ? "it does" : "they do"}.`,
      ];

/** Lists vote requests: the open ones by deadline first, or only those of one status or kind. */
export const proposals: Screen<"proposals"> = async (parameters, { explorer, names }) => {
  const { status, kind } = parameters;
  const judging = { superValidators: await countSuperValidators(explorer, SIDE_MS), names, now: Date.now() };
  const reading = await readList(explorer, parameters, judging);
  const shownSlice = reading.data;
  await names.read(shownSlice.rows, NAMES_MS);
  await yieldIfBusy();
  const which = kind === "any" ? LISTS[status].words : `${LISTS[status].words}, ${KINDS[kind]}`;
  return {
    title: md`Vote requests: ${which}`,
    body: present([
      ...orNothing(
        shownSlice.rows.map((each) => toLine(each, names, judging)),
        status === "first" && kind === "any" ? "vote requests" : "such vote requests",
      ),
      md``,
      md`-# ${extent(shownSlice, "vote request")}`,
      reading.searched !== undefined &&
        md`-# Only the newest ${countedWords(reading.searched, "vote request")} were searched.`,
      ...unreadLines(reading.unread),
    ]),
    readings: [reading],
    pager: shownSlice,
    menus: [
      rowMenu(shownSlice.rows, "Open a vote request…", (each) => {
        const id = identityOf(each);
        if (id === null) return undefined;
        const words = PHASE_WORDS[judgedStanding(each, judging).standing.phase] ?? statusWords(each.status);
        const hint = `${words} · ${shortId(id)}`;
        return { label: nameOf(each, names, MAX_LABEL), hint, to: address("voteRequest", { id }) };
      }),
      ...listMenus(parameters),
    ],
  };
};
