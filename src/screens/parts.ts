import { code, idCode, type Markdown, md, timestamp } from "../discord/text.js";
import { REACHABLE_ROWS, ROWS_PER_SCREEN, type Slice } from "../explorer/paging.js";
import type { PartyRef } from "../explorer/schema.js";
import type { Choice, Menu } from "./view.js";

/** A thing with its name before its short id, or the id alone. */
export const named = (name: string | null, id: string | null): Markdown =>
  name === null ? idCode(id) : md`${name} ${idCode(id)}`;

export const partyName = (party: PartyRef): Markdown => named(party.accountName, party.partyId);

/** Active or not, by sign and word; null is neither. */
export function activity(active: boolean | null): Markdown {
  return active === null ? md`⚪ not known` : active ? md`🟢 active` : md`🔴 inactive`;
}

/** Below a list: how much of it there is, and how much can be reached. */
export function extent(slice: Slice<unknown>, things: string): Markdown {
  if (slice.total === null || slice.reachable === null) return md`Page ${slice.page} of these ${things}`;
  const total = slice.total.toLocaleString("en-US");
  if (slice.reachable >= slice.total) return md`${total} ${things}`;
  const most = Math.min(slice.reachable, REACHABLE_ROWS).toLocaleString("en-US");
  return md`First ${most} of ${total} ${things}: the explorer lists no more`;
}

/** A menu that opens a row's own screen. */
export function rowMenu<T>(
  rows: readonly T[],
  placeholder: string,
  toChoice: (row: T) => Choice | undefined,
): Menu {
  return { placeholder, choices: rows.flatMap((row) => toChoice(row) ?? []) };
}

/** What a list shows where there is nothing. */
export const orNothing = (lines: readonly Markdown[], things: string): readonly Markdown[] =>
  lines.length > 0 ? lines : [md`The explorer lists no ${things}.`];

/** A row's first line, and a second one below it. */
export const row = (first: Markdown, second: Markdown): Markdown => md`${first}\n${second}`;

/** A version as its own text, in a span. */
export const version = (text: string | null): Markdown =>
  text === null ? md`version unknown` : code(text, 40);

export const seen = (at: number | null): Markdown =>
  at === null ? md`never seen` : md`seen ${timestamp(at)}`;

/** One screen's rows of a list that is there as a whole; a page past its end is the last. */
export function pageOf<T>(rows: readonly T[], page: number): Slice<T> {
  const pages = Math.max(1, Math.ceil(rows.length / ROWS_PER_SCREEN));
  const at = Math.min(page, pages);
  const shown = rows.slice((at - 1) * ROWS_PER_SCREEN, at * ROWS_PER_SCREEN);
  return { page: at, pages, rows: shown, total: rows.length, reachable: rows.length };
}
