import { LRUCache } from "lru-cache";
import { clean, cut } from "./plain.js";

/** Characters around a pasted id: spaces, quotes, code marks, brackets. */
const AROUND = /^[\s"'`‘’“”«»<>()[\]]+|[\s"'`‘’“”«»<>()[\],;]+$/gu;
/** Matches a label or a list mark before an id. A party's id may contain spaces itself. */
const LABEL = /^(?:[-*•]|\d+\.|.*:[*_]*)\s+(?=\S+$)/;
/** Matches text in Markdown, and the marks at the end of a sentence. */
const MARKED = /^(\*\*|__|~~|\|\||\*|_)(.+)\1$/;
const SENTENCE_END = /[.:!?]+$/;

/** Returns the complete id in a text without the words and marks around it; the text itself if there is none. */
function wholeIdIn(text: string): string {
  const words = text.replace(LABEL, "");
  const candidates = [words, words.split(" ").at(-1) ?? ""].map((each) => {
    let [id, before] = [each, ""];
    while (id !== before) {
      before = id;
      id = id.replace(AROUND, "").replace(SENTENCE_END, "").replace(MARKED, "$2");
    }
    return id;
  });
  const [whole = "", last = ""] = candidates;
  if (isWholeId(whole) && whole.includes("::")) return whole;
  return isWholeId(last) ? last : text;
}

/** Matches a pasted link, plain or in Markdown. Ids contain no links. */
const LINK = /https?:\/\/[^\s<>()"'`]+/i;

/** Matches a link to a message, a channel, a server or a profile in Discord, or an invitation. */
export const DISCORD_LINK = /^https?:\/\/(?:[a-z]+\.)?(?:discord\.(?:com|gg)|discordapp\.com)\//i;

/** Returns the id in a link: its last part that looks like an id, or else its last part. A link to Discord has none. */
function idInLink(link: string): string {
  if (!URL.canParse(link) || DISCORD_LINK.test(link)) return link;
  const { pathname, searchParams, hash } = new URL(link);
  const pathParts = [...pathname.split("/"), ...searchParams.values(), ...hash.split(/[#/=&?]/)]
    .map(decode)
    .filter(Boolean);
  return pathParts.findLast((part) => /::|[0-9a-f]{32}/i.test(part)) ?? pathParts.at(-1) ?? "";
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Extracts an id from pasted text, which may be a link, or have quotes or brackets around it. */
function toId(text: string): string {
  const link = LINK.exec(text);
  const id = link ? idInLink(link[0]) : text;
  return wholeIdIn(clean(id).replace(AROUND, "").replace(/\s+/g, " "));
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
  const safe = readId(packed) === id && !packed.startsWith(KEY_MARK) ? packed : `${WHOLE_MARK}${id}`;
  packedIds.set(id, safe);
  return safe;
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

const PARTY_ID = /^(.*::1220)([0-9a-f]{64})$/s;

/**
 * Shortens an id for one line: a party's hint with both ends of its fingerprint, `hint::1220ab…cdef`, or both ends of any other
 * long id. It is only for reading; the thing's own screen shows the whole id.
 */
export function shortId(id: string): string {
  const [, hint, fingerprint] = PARTY_ID.exec(id) ?? [];
  if (hint !== undefined && fingerprint !== undefined) {
    const name = hint.slice(0, -"::1220".length);
    return `${cut(name, 40)}::1220${fingerprint.slice(0, 2)}…${fingerprint.slice(-4)}`;
  }
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
  return hint === undefined ? shortId(partyId) : cut(hint.slice(0, -"::1220".length), 40);
};

/** True if an id is a party's: `hint::fingerprint`. */
export const isPartyId = (id: string): boolean => /^.+::.+$/.test(id);
