import { createHash } from "node:crypto";
import { type Address, givenParameters, parseAddress } from "../screens/addresses.js";
import { KEY_MARK, packId } from "../screens/ids.js";
import { LIMITS } from "./limits.js";

/**
 * The first character of a custom_id. It keeps two buttons apart that lead to the same page, and tells what the link
 * is to the message it is on.
 */
export const SLOT = { refresh: "r", back: "b", jump: "j" } as const;
/** Slots of a pager's buttons, of menus, and of other links. */
export const PAGER_SLOTS = ["0", "1", "2", "3"] as const;
export const MENU_SLOTS = ["w", "x", "y", "z"] as const;
export const LINK_SLOTS = ["A", "B", "C", "D", "E", "F", "G", "H", "I", "J"] as const;

/** Where ids that do not fit are kept, by a key derived from them. */
export interface IdKeys {
  /** Keeps an id; nothing waits for it. */
  remember(key: string, id: string): void;
  /** The id with that key, if it is known. */
  resolve(key: string): Promise<string | undefined>;
}

/** An id's key: 16 characters that no packed id begins with. */
export function keyOf(id: string): string {
  return KEY_MARK + createHash("sha256").update(id).digest("base64url").slice(0, 16);
}

/** Only what separates is escaped, so an address stays readable and short. */
const escapeValue = (text: string) => text.replace(/[%&=]/g, encodeURIComponent);

/**
 * An address as text, written like a URL: `validators?status=ACTIVE&page=3`. An id that does not fit travels as its key.
 * @param most how many characters it may take
 */
export function encodeAddress(address: Address, keys: IdKeys, most: number): string {
  const known = encoded.get(address);
  if (known !== undefined && known.length <= most) return known;
  const text = encode(address, keys, most);
  encoded.set(address, text);
  return text;
}

/** Addresses of rows that are shown again and again. */
const encoded = new WeakMap<Address, string>();

function encode(address: Address, keys: IdKeys, most: number): string {
  const pairs = givenParameters(address).map(([name, value]) => ({
    name,
    value: name === "id" ? packId(value) : value,
    id: name === "id" ? value : undefined,
  }));
  const write = () => {
    const query = pairs.map(({ name, value }) => `${name}=${escapeValue(value)}`).join("&");
    return query ? `${address.screen}?${query}` : address.screen;
  };
  for (const pair of pairs) {
    if (write().length <= most) break;
    if (pair.id === undefined) continue;
    pair.value = keyOf(pair.id);
    keys.remember(pair.value, pair.id);
  }
  return write();
}

/** An address from its text; undefined where it does not parse, or holds a key that nobody remembers. */
export async function decodeAddress(text: string, keys: IdKeys): Promise<Address | undefined> {
  const [screen = "", query = ""] = text.split(/\?(.*)/s);
  const given: Record<string, string> = {};
  for (const pair of query ? query.split("&") : []) {
    const [name = "", value = ""] = pair.split("=");
    const plain = decode(value);
    if (plain === undefined) return undefined;
    const id = plain.startsWith(KEY_MARK) ? await keys.resolve(plain) : undefined;
    given[name] = id === undefined ? plain : `!${id}`;
  }
  if (Object.values(given).some((value) => value.startsWith(KEY_MARK))) return undefined;
  return parseAddress(screen, given);
}

function decode(value: string): string | undefined {
  try {
    return decodeURIComponent(value);
  } catch {
    return undefined;
  }
}

/** A link's custom_id; a mark stands last in it, as a parameter that no screen has. */
export function customId(slot: string, address: Address, keys: IdKeys, mark = ""): string {
  const room = mark ? mark.length + "&m=".length : 0;
  const text = slot + encodeAddress(address, keys, LIMITS.customId - slot.length - room);
  return mark ? `${text}${text.includes("?") ? "&" : "?"}m=${mark}` : text;
}
