import { LRUCache } from "lru-cache";
import { clean, cut, withoutEnding } from "./plain.js";

/** Quotes, code marks and brackets that may surround a pasted text, by their partner. */
const CLOSING: ReadonlyMap<string, string> = new Map(
  ['""', "''", "``", "‘’", "“”", "„“", "‚‘", "«»", "<>", "()", "[]"].map(([open = "", close = ""]) => [
    open,
    close,
  ]),
);
const OPENING: ReadonlyMap<string, string> = new Map([...CLOSING].map(([open, close]) => [close, open]));
/** Matches what may stand before a pasted id, and a character that may stand after it. */
const BEFORE = /^[\s"'`‘’‚“”„«»<>()[\]]+/u;
const AFTER = /[\s"'`‘’“”«»<>()[\],;.:!?]/u;
const SEPARATOR = /[\s,;]/u;
/** Matches text in Markdown. */
const MARKED = /^(\*\*|__|~~|\|\||\*|_)(.+)\1$/;
/** Maximum number of marks or pairs of brackets around a text. Each is looked for in the whole text. */
const MAX_LAYERS = 6;

/** Applies a change until it has no effect any more, but at most `MAX_LAYERS` times. */
function peeled(text: string, peel: (layer: string) => string): string {
  let rest = text;
  for (let layer = 0; layer < MAX_LAYERS; layer += 1) {
    const inner = peel(rest);
    if (inner === rest) break;
    rest = inner;
  }
  return rest;
}

/**
 * Returns a name without a pair of quotes or brackets around it, and without a single one at an end. A pair inside stays, as in
 * "Acme (EU)".
 */
function withoutPair(text: string): string {
  const rest = withoutEnding(text.trimStart(), SEPARATOR);
  const [first, last, inner] = [rest.charAt(0), rest.charAt(rest.length - 1), rest.slice(1, -1)];
  const [open, close] = [OPENING.get(last), CLOSING.get(first)];
  if (close !== undefined && last === close) {
    const isNested = inner.indexOf(first) < inner.indexOf(close) && inner.includes(first);
    if (isNested || !inner.includes(close)) return inner;
  }
  const isLoneStart = close === undefined ? OPENING.has(first) : !rest.slice(1).includes(close);
  const isLoneEnd = open === undefined ? CLOSING.has(last) : !rest.slice(0, -1).includes(open);
  return rest.slice(isLoneStart ? 1 : 0, isLoneEnd ? -1 : undefined);
}

/** Matches a label or a list mark before an id. A party's id may contain spaces itself. */
const LABEL = /^(?:[-*•]|\d+\.|.*:[*_]*)\s+(?=\S+$)/;

/** Matches the beginning of a code block with its language. Other words may belong to a party's id. */
const FENCE = /^```(?:json|text|txt|ya?ml)\s+/i;

/** Returns the complete id in a text without the words and marks around it. `undefined` if there is none. */
function wholeIdIn(text: string): string | undefined {
  const words = text.replace(FENCE, "").replace(LABEL, "");
  const [whole = "", last = ""] = [words, words.slice(words.lastIndexOf(" ") + 1)].map((each) =>
    peeled(each, (layer) => withoutEnding(layer.replace(BEFORE, ""), AFTER).replace(MARKED, "$2")),
  );
  if (isWholeId(whole)) return whole;
  return isWholeId(last) ? last : undefined;
}

/** Matches a pasted link, plain or in Markdown. Ids contain no links. */
export const LINK = /https?:\/\/[^\s<>()"'`]+/i;

/** Matches a link to a message, a channel, a server or a profile in Discord, or an invitation. */
export const DISCORD_LINK = /^(?:https?:\/\/)?(?:[a-z]+\.)?(?:discord\.(?:com|gg)|discordapp\.com)\//i;

/**
 * Returns the id in a link: the last complete id in its path, or else its last part that looks like an id, or else its last part. A
 * query or a fragment may hold the id of something else, such as a cursor. A link to Discord has no id.
 */
function idInLink(link: string): string {
  if (!URL.canParse(link) || DISCORD_LINK.test(link)) return link;
  const { pathname, searchParams, hash } = new URL(link);
  const pathParts = pathname.split("/").map(decode);
  const allParts = [...pathParts, ...searchParams.values(), ...hash.split(/[#/=&?]/).map(decode)].filter(
    Boolean,
  );
  const isLikeId = (part: string) => /::|[0-9a-f]{32}/i.test(part);
  return pathParts.findLast(isWholeId) ?? allParts.findLast(isLikeId) ?? allParts.at(-1) ?? "";
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Extracts an id or a name from pasted text, which may be a link, or have quotes or brackets around it. */
function toId(text: string): string {
  const link = LINK.exec(text);
  const words = clean(link ? idInLink(link[0]) : text)
    .trim()
    .replace(/\s+/g, " ");
  return wholeIdIn(words) ?? peeled(words, withoutPair);
}

/** First character of an id's key (src/storage/id-keys.ts). No packed id begins with it. */
export const KEY_MARK = "^";
/** First character of an id that is written in full. */
export const WHOLE_MARK = "!";

const FINGERPRINT = /::1220([0-9a-f]{64})$/;
const HEX = /[0-9a-f]{32,}/g;
const toBase64 = (hex: string) => Buffer.from(hex, "hex").toString("base64url");
const toHex = (base64: string) => Buffer.from(base64, "base64url").toString("hex");

/** Cache of packed ids, because a list packs the same ten ids each time it is shown. */
const packedIds = new LRUCache<string, string>({ max: 5_000 });
/** Maximum length of an id in the cache, in UTF-16 units. A person may type thousands of characters that are no id. */
const MAX_CACHED = 300;

/**
 * Shortens an id: a party's fingerprint becomes `*` and 43 characters of base64url, other long hex becomes `~` and base64url. The
 * rest stays unchanged. An id that could not be restored is kept in full, after `!`.
 */
export function packId(id: string): string {
  const knownId = packedIds.get(id);
  if (knownId !== undefined) return knownId;
  const packed = id
    .replace(FINGERPRINT, (_, hex: string) => `*${toBase64(hex)}`)
    .replace(HEX, (hex) => (hex.length % 2 === 0 ? `~${toBase64(hex)}` : hex));
  const parameter = readId(packed) === id && !packed.startsWith(KEY_MARK) ? packed : `${WHOLE_MARK}${id}`;
  if (id.length <= MAX_CACHED) packedIds.set(id, parameter);
  return parameter;
}

/** Returns the id from a packed id, or from pasted text. */
export function readId(text: string): string {
  const id = text.startsWith(WHOLE_MARK) ? text.slice(1) : toId(unpack(text));
  // An id that consists only of dots could traverse a URL path.
  return /^\.+$/.test(id) ? "" : id;
}

/** Matches a prefix that some tools write before hex digits. */
const HEX_PREFIX = /^(?:0x|#)(?=[0-9a-f]{64,})/i;

/** Returns the id from a text that a person typed or pasted, with its hex digits in lower case, as the ledger writes them. */
export const typedId = (text: string): string =>
  readId(text)
    .replace(HEX_PREFIX, "")
    .replace(/[0-9a-f]{64,}/gi, (hex) => hex.toLowerCase());

/** True if a text is a complete id. Names are untrusted and may look similar; a shortened id is not complete. */
export const isWholeId = (text: string): boolean => /::1220[0-9a-f]{64}$|^[0-9a-f]{64,}(:\d+)?$/i.test(text);

function unpack(packed: string): string {
  return packed
    .replace(/\*([\w-]{43})$/, (_, base64: string) => `::1220${toHex(base64)}`)
    .replace(/~([\w-]{22,})/g, (_, base64: string) => toHex(base64));
}

const PARTY_ID = /^(.*)::1220([0-9a-f]{64})$/s;

/**
 * Shortens an id for one line: a party's hint with both ends of its fingerprint, `hint::1220ab…cdef`, or both ends of any other
 * long id. It is only for reading; the thing's own screen shows the whole id.
 */
export function shortId(id: string): string {
  const [, hint] = PARTY_ID.exec(id) ?? [];
  if (hint !== undefined) return `${cut(hint, 40)}::${fingerprint(id)}`;
  return id.length <= 24 ? id : `${cut(id, 11)}${id.slice(-6).toWellFormed()}`;
}

/** Returns the part that distinguishes namesakes: both ends of a party's fingerprint, `1220ab…cdef`, or of any other id. */
export function fingerprint(id: string): string {
  const [, , hex] = PARTY_ID.exec(id) ?? [];
  return hex === undefined ? shortId(id) : `1220${hex.slice(0, 2)}…${hex.slice(-4)}`;
}

/** Returns the self-chosen hint of a party, for a party without a name. */
export const hintOf = (partyId: string): string => {
  const [, hint] = PARTY_ID.exec(partyId) ?? [];
  return hint === undefined ? shortId(partyId) : cut(hint, 40);
};

/** True if an id is a party's: `hint::fingerprint`. */
export const isPartyId = (id: string): boolean => /^.+::.+$/.test(id);
