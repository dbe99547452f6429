import type { Names } from "../../directory/names.js";
import { LIMITS } from "../../discord/limits.js";
import { MENU_SLOTS } from "../../discord/links.js";
import type { VoteRequestListItem } from "../../explorer/schema/governance.js";
import { standingOf } from "../../ledger/vote-phase.js";
import { identityOf, openedAtIn, tallyIn } from "../../ledger/vote-requests.js";
import { isOver, neededFor } from "../../ledger/vote-rules.js";
import { address } from "../../screens/addresses.js";
import { MAX_LABEL } from "../../screens/parts.js";
import type { View } from "../../screens/view.js";
import { shortVote, statusText } from "../../screens/vote-parts.js";
import { dateWords } from "../../screens/vote-times.js";
import { shortId } from "../../text/ids.js";
import { bold, join, type Markdown, md, timestamp } from "../../text/markdown.js";
import { namesAndMore } from "../../text/plain.js";
import { present } from "../../util/present.js";
import { type GovernanceEvent, hasEnded } from "./events.js";
import { announcementLinks, MAX_URGENT_TITLE } from "./message-parts.js";

/** The event of several new requests. */
export type SeveralRequests = GovernanceEvent & { kind: "digest" };

/** Maximum number of rows in a digest. A button opens the full list. */
const MAX_ROWS = 12;
/** Maximum number of names in a digest's notification. */
const MAX_NAMED = 3;

/** Returns the time in which several requests opened. The explorer may list them much later, or not say when they opened. */
function openedWords(openedAt: readonly (number | null)[], since: number | null): Markdown | undefined {
  if (since !== null && openedAt.includes(null)) return undefined;
  const earliest = Math.min(...openedAt.map((each) => each ?? Number.POSITIVE_INFINITY));
  if (Number.isFinite(earliest) && since !== null && earliest < since)
    return md`The first of them opened ${timestamp(earliest, "f")}. The explorer didn't list them before.`;
  return since === null
    ? md`They opened before I could check for the first time.`
    : md`They opened after ${timestamp(since, "f")}, when I last checked.`;
}

const nextDateOf = (row: VoteRequestListItem, now: number) =>
  standingOf({ ...row, ...tallyIn(row) }, neededFor(tallyIn(row), undefined), now).next;
const shortVoteIn = (row: VoteRequestListItem) => shortVote({ ...row, createdAt: openedAtIn(row) });

/** Returns the facts of a row that do not change: its outcome, or the date of its decision. */
function lastingFacts(row: VoteRequestListItem, now: number): readonly Markdown[] {
  if (isOver(row, now)) return [statusText(row.status)];
  const nextDate = nextDateOf(row, now);
  return present([nextDate && dateWords(nextDate), ...shortVoteIn(row)]);
}

/**
 * Announces several new requests in one message, with menus to open each. It is never edited, so it
 * contains nothing that will change.
 * @param isForNew false for channels that want only the outcomes among them
 */
export function digestView(
  { rows: listed, since }: SeveralRequests,
  mark: string,
  { names, isForNew, now }: { readonly names: Names; readonly isForNew: boolean; readonly now: number },
): View {
  const all = isForNew ? listed : listed.filter(hasEnded);
  // The most urgent one must not be among those that the notification only counts.
  const urgency = (row: VoteRequestListItem) =>
    isOver(row, now) ? Number.POSITIVE_INFINITY : (nextDateOf(row, now)?.at ?? Number.MAX_VALUE);
  const rows = all
    .toSorted((a, b) => urgency(a) - urgency(b) || 0)
    .map((row) => ({
      row,
      titled: (most: number) => names.voteRequest({ ...row, identity: identityOf(row) }, most),
      id: identityOf(row),
    }));
  const shownRows = rows.slice(0, MAX_ROWS);
  const endedCount = rows.filter(({ row }) => isOver(row, now)).length;
  const shortRows = rows.filter(({ row }) => !isOver(row, now) && shortVoteIn(row).length > 0);
  const [shortRow] = shortRows;
  const moreShort =
    shortRows.length > 1
      ? md`; ${shortRows.length - 1} more ${shortRows.length === 2 ? "is" : "are"} short`
      : md``;
  const maxTitle = shortRow ? Math.floor(MAX_URGENT_TITLE / MAX_NAMED) : 60;
  const named = rows.slice(0, MAX_NAMED).map(({ titled }) => titled(maxTitle));
  const warnings = shortRow ? shortVoteIn(shortRow.row) : [];
  const told = isForNew ? md`${rows.length} new vote requests` : md`Opened and ended while I wasn't watching`;
  const news = md`🗳️ ${told}: ${namesAndMore(named, rows.length)}`;
  return {
    notification: join(
      [news, ...warnings.map((each) => md`${each} (${shortRow?.titled(40)})${moreShort}`)],
      " · ",
    ),
    body: present([
      isForNew && openedWords(all.map(openedAtIn), since),
      isForNew &&
        endedCount > 0 &&
        md`${endedCount === rows.length ? "All" : endedCount} of them ${endedCount === 1 ? "has" : "have"} ended since.`,
      ...shownRows.map(({ row, titled }) => join([bold(titled(120)), ...lastingFacts(row, now)], " · ")),
      rows.length > shownRows.length &&
        md`…and ${rows.length - shownRows.length} more. Press “All vote requests” to see them.`,
    ]),
    menus: MENU_SLOTS.map((_, at) => ({
      placeholder: at === 0 ? "Open a vote request…" : "More vote requests…",
      choices: rows
        .slice(at * LIMITS.menuOptions, (at + 1) * LIMITS.menuOptions)
        .flatMap(({ titled, id }) =>
          id === null
            ? []
            : [{ label: titled(MAX_LABEL), hint: shortId(id), to: address("voteRequest", { id }) }],
        ),
    })),
    links: announcementLinks(null, mark),
  };
}
