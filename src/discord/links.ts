import { type Address, addressAt, givenParameters, wireIn } from "../screens/addresses.js";
import { type IdKeys, keyOf } from "../storage/id-keys.js";
import { KEY_MARK, packId, WHOLE_MARK } from "../text/ids.js";
import { present } from "../util/present.js";
import { LIMITS } from "./limits.js";

/**
 * First character of a custom_id. It says what the link does on its message, and keeps custom_ids unique if two buttons lead to
 * the same page.
 */
export const SLOT = { refresh: "r", back: "b", jump: "j" } as const;
/** Slots of a pager's buttons, of menus, and of other links. */
export const PAGER_SLOTS = ["0", "1", "2", "3"] as const;
export const MENU_SLOTS = ["w", "x", "y", "z"] as const;
export const LINK_SLOTS = ["A", "B", "C", "D", "E", "F", "G", "H", "I", "J"] as const;

/** Converts addresses to text and back. */
export interface Links {
  /**
   * Returns an address as text, written like a URL: `validators?status=ACTIVE&page=3`. An id that does not fit is replaced by its
   * key.
   * @param max maximum length in characters
   */
  encode(address: Address, max: number): string;
  /** Parses an address of any network. Returns `undefined` if it is invalid or contains an unknown key. */
  decode(text: string): Promise<Address | undefined>;
  /** Like `decode`, for text that is already parsed. */
  resolve(parts: LinkParts): Promise<Address | undefined>;
  /** Returns a link's custom_id. A mark comes last, as a parameter that screens ignore. */
  customId(slot: string, address: Address, mark?: string): string;
  /** Returns an id as the value of an autocomplete choice: packed as in an address, or its key if it does not fit. */
  choiceValue(id: string): string;
  /** Returns the id of a choice's value, or `undefined` if its key is unknown. */
  readChoice(value: string): Promise<string | undefined>;
  /** Creates links with ids that the explorer does not know. Their keys are kept only in memory. */
  readonly unkept: Pick<Links, "encode" | "customId">;
}

/** Escapes only separators, so that an address stays short and readable. */
const escapeValue = (text: string) => text.replace(/[%&=]/g, encodeURIComponent);
/** Escapes an id that is written before the query. */
const escapePlaced = (text: string) => text.replace(/[%&=?]/g, encodeURIComponent);

function unescapeValue(value: string): string | undefined {
  try {
    return decodeURIComponent(value);
  } catch {
    return undefined;
  }
}

/** The parsed text of a link. */
export interface LinkParts {
  /** The code of the link's network; `undefined` for the oldest one. */
  readonly network: string | undefined;
  readonly wire: string;
  /** The id in front of the query, still escaped. */
  readonly id: string | undefined;
  readonly query: string;
}

/**
 * Parses the text of a link. If it begins with a network code, the id comes before the query, without a name:
 * `te~validator/<id>?page=2`. It is therefore no longer than a link without a code: `validator?id=<id>&page=2`.
 */
export function partsOf(text: string): LinkParts {
  const [, network, named] = /^([a-z][a-z\d])~(.*)$/s.exec(text) ?? [];
  const [place = "", query = ""] = (named ?? text).split(/\?(.*)/s);
  const [wire = "", id] = network === undefined ? [place] : place.split(/\/(.*)/s);
  return { network, wire, id, query };
}

/**
 * Creates links. Long ids are replaced by keys of this store.
 * @param network returns the code of the links' network, or `undefined` for the oldest one
 */
export function createLinks(keys: IdKeys, network: () => string | undefined = () => undefined): Links {
  const unkept = { ...keys, remember: keys.hold };
  return { ...linksBy(keys, network), unkept: linksBy(unkept, network) };
}

function linksBy(keys: IdKeys, network: () => string | undefined): Omit<Links, "unkept"> {
  /** Cache of encoded addresses, for rows that are shown repeatedly. */
  const encoded = new WeakMap<Address, string>();

  const packed = (id: string, fits: (text: string) => boolean): string => {
    const text = packId(id);
    if (fits(text)) return text;
    const key = keyOf(id);
    keys.remember(key, id);
    return key;
  };

  const write = (address: Address, max: number): string => {
    const code = network();
    const givenPairs = givenParameters(address);
    const joinParts = (idText?: string) => {
      const isPlaced = code !== undefined && idText !== undefined;
      const query = givenPairs
        .filter(([name]) => name !== "id" || !isPlaced)
        .map(([name, value]) => `${name}=${escapeValue(name === "id" ? (idText ?? value) : value)}`)
        .join("&");
      const wire = `${code === undefined ? "" : `${code}~`}${wireIn(address)}`;
      const placeText = isPlaced ? `${wire}/${escapePlaced(idText)}` : wire;
      return query ? `${placeText}?${query}` : placeText;
    };
    const id = givenPairs.find(([name]) => name === "id")?.[1];
    return id === undefined ? joinParts() : joinParts(packed(id, (text) => joinParts(text).length <= max));
  };

  const encode = (address: Address, max: number): string => {
    const knownText = encoded.get(address);
    if (knownText !== undefined && knownText.length <= max) return knownText;
    const text = write(address, max);
    encoded.set(address, text);
    return text;
  };

  const readChoice = async (value: string): Promise<string | undefined> => {
    if (!value.startsWith(KEY_MARK)) return value;
    const id = await keys.resolve(value);
    return id === undefined ? undefined : `${WHOLE_MARK}${id}`;
  };

  const resolve = async ({ wire, id, query }: LinkParts): Promise<Address | undefined> => {
    const givenParameters: Record<string, string> = {};
    for (const pair of present([id !== undefined && `id=${id}`, ...(query ? query.split("&") : [])])) {
      const [name = "", value = ""] = pair.split("=");
      const plain = unescapeValue(value);
      const readValue = plain === undefined ? undefined : await readChoice(plain);
      if (readValue === undefined) return undefined;
      givenParameters[name] = readValue;
    }
    return addressAt(wire, givenParameters);
  };

  return {
    encode,
    decode: (text) => resolve(partsOf(text)),
    resolve,
    customId(slot, address, mark = "") {
      const room = mark ? mark.length + "&m=".length : 0;
      const text = slot + encode(address, LIMITS.customId - slot.length - room);
      return mark ? `${text}${text.includes("?") ? "&" : "?"}m=${mark}` : text;
    },
    choiceValue: (id) => packed(id, (text) => text.length <= LIMITS.choiceText),
    readChoice,
  };
}
