import type { Names } from "../directory/names.js";
import { openUndocumentedSlice, readPages, type Slice } from "../explorer/paging.js";
import type { VoteRequestListItem } from "../explorer/schema/governance.js";
import type { Explorer, Reading } from "../explorer/service.js";
import { motionKindOf } from "../ledger/motion-kinds.js";
import { identityOf, tallyIn } from "../ledger/vote-requests.js";
import { isOpen, type StatusGroup, statusGroup, votableUntil } from "../ledger/vote-rules.js";
import { shortId } from "../text/ids.js";
import { bold, md } from "../text/markdown.js";
import { cut } from "../text/plain.js";
import { address, type ParametersOf, parseAddress } from "./addresses.js";
import { extent, orNothing, pageOf, row, rowMenu } from "./parts.js";
import type { Menu, Screen } from "./view.js";
import { statusText, tallyWords, untilWords } from "./vote-parts.js";

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
