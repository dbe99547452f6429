import type { Names } from "../directory/names.js";
import { REACHABLE_ROWS, ROWS_PER_SCREEN, type Slice } from "../explorer/paging.js";
import type { PartyRef } from "../explorer/schema/fields.js";
import type { Reading } from "../explorer/service.js";
import { leavesOf, toRecord, toText } from "../explorer/values.js";
import type { Interval } from "../ledger/network-rhythm.js";
import { readable } from "../ledger/readable.js";
import { roughly } from "../text/durations.js";
import { fingerprint, isPartyId, shortId } from "../text/ids.js";
import {
  code,
  codeBlock,
  idCode,
  join,
  type Markdown,
  md,
  timestamp,
  timestampWithAge,
} from "../text/markdown.js";
import { countedWords, grouped } from "../text/numbers.js";
import { capitalized, cut } from "../text/plain.js";
import { pastTime } from "../util/clock.js";
import { type Address, address } from "./addresses.js";
import { jsonFile } from "./json-file.js";
import type { Attachment, Choice, Field, Menu, View } from "./view.js";

/** Maximum length of a label in a menu (Discord: 100 characters). */
export const MAX_LABEL = 100;

/** Shortens untrusted text for a row, to leave room for the other rows. */
export const brief = (text: string): string => cut(text, 60);

/** Formats a thing as its name and short fingerprint, or as its id if it has no name. */
export function namedLine(name: string | null, id: string | null): Markdown {
  if (name === null) return idCode(id);
  return id === null ? md`${brief(name)}` : md`${brief(name)} ${code(fingerprint(id))}`;
}

type NamedParty = Omit<PartyRef, "imageUrl">;

const partyName = (party: NamedParty): Markdown => namedLine(party.accountName, party.partyId);

/** Formats activity as a sign and a word. null means unknown. */
export function activity(active: boolean | null): Markdown {
  if (active === null) return md`⚪ not known`;
  return active ? md`🟢 active` : md`🔴 inactive`;
}

/** Signs of a validator's reporting state. */
export const STANDING_SIGNS = { reporting: "🟢", late: "🟡", silent: "🔴", unknown: "⚪" } as const;

/** Signs and words of a validator's reporting state. */
export const STANDINGS = {
  reporting: md`🟢 active`,
  late: md`🟡 late`,
  silent: md`🔴 inactive`,
  unknown: md`⚪ unknown`,
} as const;

/** Returns the line below a list: its size, how much of it can be reached, and if some of it could not be read. */
export function extent(slice: Slice<unknown>, one: string, several = `${one}s`): Markdown {
  const { unreadable = 0 } = slice;
  const size = sizeWords(slice, one, several);
  return unreadable === 0
    ? size
    : md`${size}. I can't read ${countedWords(unreadable, "row")} of the explorer's answer`;
}

function sizeWords(slice: Slice<unknown>, one: string, several: string): Markdown {
  if (slice.total === null || slice.reachable === null) return md`Page ${slice.page} of these ${several}`;
  const total = countedWords(slice.total, one, several);
  // Rows that cannot be read are listed, too.
  if (slice.reachable + (slice.unreadable ?? 0) >= slice.total) return md`${total}`;
  return md`First ${grouped(Math.min(slice.reachable, REACHABLE_ROWS))} of ${total}: the explorer doesn't list more`;
}

/** Maximum number of choices to create for a menu. Discord shows 25, and duplicates are removed later. */
const MAX_CHOICES = 50;

/** Returns a menu with a choice for each row. It stops at the maximum, because an untrusted list may have thousands of rows. */
export function rowMenu<T>(
  rows: readonly T[],
  placeholder: string,
  toChoice: (row: T) => Choice | undefined,
): Menu {
  const choices: Choice[] = [];
  for (const row of rows) {
    const choice = toChoice(row);
    if (choice) choices.push(choice);
    if (choices.length === MAX_CHOICES) break;
  }
  return { placeholder, choices };
}

/** Returns the lines of a list, or a line for an empty list. */
export const orNothing = (lines: readonly Markdown[], things: string): readonly Markdown[] =>
  lines.length > 0 ? lines : [md`No ${things} found.`];

/** Joins the two lines of a row. */
export const row = (first: Markdown, second: Markdown): Markdown => md`${first}\n${second}`;

/** Formats a version as code. */
export const version = (text: string | null): Markdown =>
  text === null ? md`version unknown` : code(text, 40);

/** Formats the time of something that has happened, relative to now. A time in the future is unknown. */
export const happenedAt = (at: number | null, style: "R" | "f" = "R"): Markdown =>
  timestamp(pastTime(at, Date.now()), style);

/** The same as a date with its distance from now. */
export const happenedOn = (at: number | null): Markdown => timestampWithAge(pastTime(at, Date.now()));

/** Describes when a validator last reported, as a relative time. A time in the future is unknown. */
export function seenWords(reportedAt: number | null, now = Date.now()): Markdown {
  const reportAt = pastTime(reportedAt, now);
  return reportAt === null ? md`last report unknown` : md`last report ${timestamp(reportAt)}`;
}

/** Describes a reporting interval as the end of a sentence. */
export const rhythmWords = ({ ms, isOwn }: Interval): Markdown =>
  isOwn ? md`reports about every ${roughly(ms)}` : md`most validators report about every ${roughly(ms)}`;

/** Returns one page of a list that is completely loaded. A page past the end becomes the last page. */
export function pageOf<T>(rows: readonly T[], page: number, size = ROWS_PER_SCREEN): Slice<T> {
  const pages = Math.max(1, Math.ceil(rows.length / size));
  const pageNumber = Math.min(page, pages);
  const shownRows = rows.slice((pageNumber - 1) * size, pageNumber * size);
  return { page: pageNumber, pages, rows: shownRows, total: rows.length, reachable: rows.length };
}

/** Returns the readable part of a template id: the end of its name. */
export const entityOf = (templateId: string | null): string | null =>
  brief(templateId?.split(":").at(-1)?.trim() ?? "") || null;

type ScreenOrder = "DESC" | "ASC";
const ORDERS = { DESC: "newest first", ASC: "oldest first" } as const;

interface AgedList<T> {
  /** Name of one thing in the list: "transfer". */
  readonly thing: string;
  readonly order: ScreenOrder;
  readonly toRow: (each: T) => Markdown;
  readonly menus: readonly Menu[];
  /** Returns the address of this list in the given order. */
  readonly turned: (order: ScreenOrder) => Address;
}

/** Renders one page of a list by age. */
export function agedList<T>(
  reading: Reading<Slice<T>>,
  { thing, order, toRow, menus, turned }: AgedList<T>,
): View {
  const thingsName = `${capitalized(thing)}s`;
  const { data } = reading;
  return {
    title: md`${thingsName}, ${ORDERS[order]}`,
    body: [...orNothing(data.rows.map(toRow), `${thing}s`), md``, md`-# ${extent(data, thing)}`],
    readings: [reading],
    pager: data,
    menus: [
      ...menus,
      {
        placeholder: "Sort…",
        choices: (["DESC", "ASC"] as const).map((each) => ({
          label: `${thingsName}, ${ORDERS[each]}`,
          to: turned(each),
          chosen: each === order,
        })),
      },
    ],
    links: [{ label: "Network", emoji: "🌐", to: address("network", {}) }],
  };
}

/** Returns a menu that opens parties, with the role of each. */
export function partyMenu(parties: readonly (Partial<PartyRef> & { readonly role?: string })[]): Menu {
  return rowMenu(parties, "Open a party…", ({ partyId = null, accountName, role }) => {
    if (partyId === null || !isPartyId(partyId)) return undefined;
    const shortened = shortId(partyId);
    const hint = [role, accountName ? fingerprint(partyId) : null].filter(Boolean).join(" · ");
    return {
      label: accountName ?? shortened,
      hint: hint || undefined,
      to: address("party", { id: partyId }),
    };
  });
}

/** Returns the parties in JSON with the field of each. */
export const partiesIn = (value: unknown, names: Pick<Names, "party">) =>
  [...leavesOf(value)].flatMap(([path, partyId]) => {
    if (!/::1220[0-9a-f]{64}$/.test(partyId)) return [];
    const role = pathWords(path.split(".").findLast((part) => !/^\d+$/.test(part)) ?? path);
    return [{ partyId, accountName: names.party(partyId), role }];
  });

/** Limits for ids in one field: their number, and the characters that are searched. */
const MAX_IDS = 200;
const MAX_IDS_TEXT = MAX_IDS * 200;

/** Matches separators of ids in text. A space separates them only after a hash, because a party's hint may contain spaces. */
const BETWEEN_IDS = /[,;[\]"\t\r\n]+|(?<=[0-9a-f]{16}(?::\d+)?) +/;

/** Returns the first ids in a field, which may be a list, or text with separators. */
export function idsIn(value: unknown): string[] {
  if (Array.isArray(value))
    return value.slice(0, MAX_IDS).flatMap((each) => toText(toRecord(each)?.partyId ?? each) ?? []);
  if (typeof value !== "string") return [];
  return value
    .slice(0, MAX_IDS_TEXT)
    .split(BETWEEN_IDS)
    .map((id) => id.trim())
    .filter(Boolean)
    .slice(0, MAX_IDS);
}

/** Converts a path in JSON to words: `transfer.newOwner` → "transfer · new owner". */
const pathWords = (path: string): string =>
  path
    .split(".")
    .map((name) => readable(name).toLowerCase())
    .join(" · ");

/** Maximum number of characters of JSON in a field. */
const MAX_JSON = 900;

/** Returns JSON as readable lines, other text as it is, and null for an empty value. */
export function jsonText(value: unknown): string | null {
  const leaves = [...leavesOf(value)].map(([path, leaf]) => `${pathWords(path)}: ${leaf}`);
  if (leaves.length > 0) return leaves.join("\n");
  return typeof value === "object" ? null : toText(value);
}

/** Returns a field with JSON as lines; none for an empty value. */
export function jsonFields(name: string, value: unknown): Field[] {
  const text = jsonText(value);
  return text === null ? [] : [{ name, value: codeBlock(text, MAX_JSON) }];
}

/**
 * Returns a file with JSON values that are too long for the message; none if everything fits.
 * @param source the object that the values belong to
 */
export async function restFile(
  name: string,
  values: Readonly<Record<string, unknown>>,
  source: object,
): Promise<readonly Attachment[]> {
  const isCut = Object.values(values).some((value) => (jsonText(value)?.length ?? 0) > MAX_JSON);
  const file = isCut ? await jsonFile(name, values, source) : undefined;
  return file ? [file] : [];
}

/** Number of parties that a list names. */
const MAX_PARTIES = 5;

/** Lists up to five parties, one a line, and counts the others. */
export function partyLines(parties: readonly NamedParty[]): Markdown {
  if (parties.length === 0) return md`unknown`;
  const moreCount = parties.length - MAX_PARTIES;
  const moreWords = parties.length === MAX_IDS ? md`and many more` : md`and ${moreCount} more`;
  return join([...parties.slice(0, MAX_PARTIES).map(partyName), moreCount > 0 && moreWords], "\n");
}

/** Returns a field with parties, see partyLines; none if there are no parties. */
export const partiesField = (name: string, parties: readonly NamedParty[]): Field[] =>
  parties.length === 0 ? [] : [{ name, value: partyLines(parties), inline: true }];

/** Returns the parties with these ids. */
export const partiesOf = (ids: readonly string[], names: Names): readonly NamedParty[] =>
  ids.map((partyId) => ({ partyId, accountName: names.party(partyId) }));
