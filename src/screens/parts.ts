import type { Names } from "../directory/names.js";
import { REACHABLE_ROWS, ROWS_PER_SCREEN, type Slice } from "../explorer/paging.js";
import type { PartyRef } from "../explorer/schema/fields.js";
import type { Reading } from "../explorer/service.js";
import { leavesOf, toText } from "../explorer/values.js";
import { readable } from "../ledger/readable.js";
import { fingerprint, isPartyId, shortId } from "../text/ids.js";
import {
  code,
  codeBlock,
  counted,
  grouped,
  idCode,
  join,
  type Markdown,
  md,
  timestamp,
} from "../text/markdown.js";
import { cut } from "../text/plain.js";
import { type Address, address } from "./addresses.js";
import { jsonFile } from "./json-file.js";
import type { Attachment, Choice, Field, Link, Menu, View } from "./view.js";

/** A stranger's word in a row: as much of it as leaves room for the other rows. */
export const brief = (text: string): string => cut(text, 60);

/** A thing with its name and the ends of its fingerprint, or its id alone. */
export const named = (name: string | null, id: string | null): Markdown =>
  name === null ? idCode(id) : id === null ? md`${brief(name)}` : md`${brief(name)} ${code(fingerprint(id))}`;

export const partyName = (party: PartyRef): Markdown => named(party.accountName, party.partyId);

/** Active or not, by sign and word; null is neither. */
export function activity(active: boolean | null): Markdown {
  return active === null ? md`⚪ not known` : active ? md`🟢 active` : md`🔴 inactive`;
}

/** Below a list: how much of it there is, and how much can be reached. */
export function extent(slice: Slice<unknown>, one: string, several = `${one}s`): Markdown {
  if (slice.total === null || slice.reachable === null) return md`Page ${slice.page} of these ${several}`;
  const total = counted(slice.total, one, several);
  if (slice.reachable >= slice.total) return md`${total}`;
  return md`First ${grouped(Math.min(slice.reachable, REACHABLE_ROWS))} of ${total}: the explorer lists no more`;
}

/** Choices that a menu is made of at the most: it shows 25 of them (Discord), each once. */
const MAX_CHOICES = 50;

/** A menu that opens a row's own screen. A stranger's list may hold thousands: no more of it is worked on than is shown. */
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

/** What a list shows where there is nothing. */
export const orNothing = (lines: readonly Markdown[], things: string): readonly Markdown[] =>
  lines.length > 0 ? lines : [md`The explorer lists no ${things}.`];

/** A row's first line, and a second one below it. */
export const row = (first: Markdown, second: Markdown): Markdown => md`${first}\n${second}`;

/** A version as its own text, in a span. */
export const version = (text: string | null): Markdown =>
  text === null ? md`version unknown` : code(text, 40);

/** When something was last seen, as Discord's relative time. */
export const seen = (at: number | null): Markdown =>
  at === null ? md`last seen not known` : md`seen ${timestamp(at)}`;

/** One screen's rows of a list that is there as a whole; a page past its end is the last. */
export function pageOf<T>(rows: readonly T[], page: number): Slice<T> {
  const pages = Math.max(1, Math.ceil(rows.length / ROWS_PER_SCREEN));
  const at = Math.min(page, pages);
  const shown = rows.slice((at - 1) * ROWS_PER_SCREEN, at * ROWS_PER_SCREEN);
  return { page: at, pages, rows: shown, total: rows.length, reachable: rows.length };
}

/** What a template id is to people: the last part of its name. */
export const entityOf = (templateId: string | null): string | null =>
  brief(templateId?.split(":").at(-1)?.trim() ?? "") || null;

type Order = "DESC" | "ASC";
const ORDERS = { DESC: "newest first", ASC: "oldest first" } as const;

interface AgedList<T> {
  /** What is listed, one of it: "transfer". */
  readonly thing: string;
  readonly order: Order;
  readonly toRow: (each: T) => Markdown;
  readonly menus: readonly Menu[];
  /** The same list with the other end first. */
  readonly turned: (order: Order) => Address;
}

/** A list by age, one page of it. */
export function agedList<T>(
  reading: Reading<Slice<T>>,
  { thing, order, toRow, menus, turned }: AgedList<T>,
): View {
  const things = `${thing.charAt(0).toUpperCase()}${thing.slice(1)}s`;
  const { data } = reading;
  return {
    title: md`${things}, ${ORDERS[order]}`,
    tone: "neutral",
    body: [...orNothing(data.rows.map(toRow), `${thing}s`), md``, md`-# ${extent(data, thing)}`],
    readings: [reading],
    pager: data,
    menus: [
      ...menus,
      {
        placeholder: "Sort…",
        choices: (["DESC", "ASC"] as const).map((each) => ({
          label: `${things}, ${ORDERS[each]}`,
          to: turned(each),
          chosen: each === order,
        })),
      },
    ],
    links: [{ label: "Network", emoji: "🌐", to: address("network", {}) }],
  };
}

/** A menu that opens parties, each once, with the part it plays. */
export function partyMenu(parties: readonly (Partial<PartyRef> & { readonly role?: string })[]): Menu {
  return rowMenu(parties, "Open a party…", ({ partyId = null, accountName, role }) => {
    if (partyId === null || !isPartyId(partyId)) return undefined;
    const short = shortId(partyId);
    const hint = [role, accountName ? fingerprint(partyId) : null].filter(Boolean).join(" · ");
    return { label: accountName ?? short, hint: hint || undefined, to: address("party", { id: partyId }) };
  });
}

/** A button that asks whether the person wants to be told of something in private. */
export const watchLink = (feed: string, id: string): Link => ({
  label: "Watch",
  emoji: "🔔",
  to: address("offerWatch", { feed, id }),
});

/** The parties that JSON names, each by the field it stands in. */
export const partiesIn = (value: unknown): { partyId: string; role: string }[] =>
  [...leavesOf(value)].flatMap(([path, leaf]) =>
    /::1220[0-9a-f]{64}$/.test(leaf)
      ? [{ partyId: leaf, role: pathWords(path.split(".").findLast((part) => !/^\d+$/.test(part)) ?? path) }]
      : [],
  );

/** Of what a field holds, so many ids are looked at, in so many characters. */
const MAX_IDS = 200;
const MAX_IDS_TEXT = MAX_IDS * 200;

/** The first ids that a field holds, which may be JSON, or text with separators. */
export function idsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.slice(0, MAX_IDS).flatMap((each) => toText(each) ?? []);
  if (typeof value !== "string") return [];
  return value
    .slice(0, MAX_IDS_TEXT)
    .split(/[,;\s[\]"]+/)
    .filter(Boolean)
    .slice(0, MAX_IDS);
}

/** A path into JSON in words: `transfer.newOwner` → "transfer · new owner". */
const pathWords = (path: string): string =>
  path
    .split(".")
    .map((name) => readable(name).toLowerCase())
    .join(" · ");

/** Characters of JSON that a field has room for. */
const MAX_JSON = 900;

/** What JSON says, as lines to be read; what is no JSON as its text; null where nothing is said. */
function jsonText(value: unknown): string | null {
  const leaves = [...leavesOf(value)].map(([path, leaf]) => `${pathWords(path)}: ${leaf}`);
  return leaves.length > 0 ? leaves.join("\n") : typeof value === "object" ? null : toText(value);
}

/** JSON as lines to be read and copied; nothing where nothing is said. */
export function jsonFields(name: string, value: unknown): Field[] {
  const text = jsonText(value);
  return text === null ? [] : [{ name, value: codeBlock(text, MAX_JSON) }];
}

/**
 * The whole of what JSON fields have no room for, each under its name, as a file; nothing where they have room for all.
 * @param source what the values are of
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

/** A field with a party, or with as many as there is room for. */
export function partiesField(name: string, ids: readonly string[], names: Names): Field[] {
  if (ids.length === 0) return [];
  const shown = ids.slice(0, 4).map((id) => named(names.party(id), id));
  const left = ids.length - shown.length;
  const more = left > 0 ? [ids.length === MAX_IDS ? md`and many more` : md`and ${left} more`] : [];
  return [{ name, value: join([...shown, ...more], "\n"), inline: true }];
}
