import { type Address, givenParameters, parseAddress, placeAt, wireOf } from "../screens/addresses.js";
import { type IdKeys, keyOf } from "../storage/id-keys.js";
import { KEY_MARK, packId, WHOLE_MARK } from "../text/ids.js";
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

/** Addresses as text, and back. */
export interface Links {
  /**
   * An address as text, written like a URL: `validators?status=ACTIVE&page=3`. An id that does not fit travels as its key.
   * @param max how many characters it may take
   */
  encode(address: Address, max: number): string;
  /** An address from its text; undefined where it does not parse, or holds a key that nobody remembers. */
  decode(text: string): Promise<Address | undefined>;
  /** A link's custom_id; a mark stands last in it, as a parameter that no screen has. */
  customId(slot: string, address: Address, mark?: string): string;
  /** An id as a choice's value: packed as in an address, or its key where it does not fit. */
  choiceValue(id: string): string;
  /** An id from a choice's value; undefined for a key that nobody remembers. */
  readChoice(value: string): Promise<string | undefined>;
  /** The same for ids that the explorer knows nothing of: their keys are not kept. */
  readonly unkept: Pick<Links, "encode" | "customId">;
}

/** Only what separates is escaped, so an address stays readable and short. */
const escapeValue = (text: string) => text.replace(/[%&=]/g, encodeURIComponent);

function unescapeValue(value: string): string | undefined {
  try {
    return decodeURIComponent(value);
  } catch {
    return undefined;
  }
}

/** Links whose long ids travel as keys of this store. */
export function createLinks(keys: IdKeys): Links {
  const unkept = { ...keys, remember: keys.hold };
  return { ...linksBy(keys), unkept: linksBy(unkept) };
}

function linksBy(keys: IdKeys): Omit<Links, "unkept"> {
  /** Addresses of rows that are shown again and again. */
  const encoded = new WeakMap<Address, string>();

  const packed = (id: string, fits: (text: string) => boolean): string => {
    const text = packId(id);
    if (fits(text)) return text;
    const key = keyOf(id);
    keys.remember(key, id);
    return key;
  };

  const write = (address: Address, max: number): string => {
    const wire = wireOf(address.screen);
    const join = (pairs: readonly (readonly [string, string])[]) => {
      const query = pairs.map(([name, value]) => `${name}=${escapeValue(value)}`).join("&");
      return query ? `${wire}?${query}` : wire;
    };
    const given = givenParameters(address);
    const withId = (text: string) =>
      given.map(([name, value]) => [name, name === "id" ? text : value] as const);
    const id = given.find(([name]) => name === "id")?.[1];
    if (id === undefined) return join(given);
    return join(withId(packed(id, (text) => join(withId(text)).length <= max)));
  };

  const encode = (address: Address, max: number): string => {
    const known = encoded.get(address);
    if (known !== undefined && known.length <= max) return known;
    const text = write(address, max);
    encoded.set(address, text);
    return text;
  };

  const readChoice = async (value: string): Promise<string | undefined> => {
    if (!value.startsWith(KEY_MARK)) return value;
    const id = await keys.resolve(value);
    return id === undefined ? undefined : `${WHOLE_MARK}${id}`;
  };

  return {
    encode,
    async decode(text) {
      const [wire = "", query = ""] = text.split(/\?(.*)/s);
      const place = placeAt(wire);
      if (!place) return undefined;
      const given: Record<string, string> = {};
      for (const pair of query ? query.split("&") : []) {
        const [name = "", value = ""] = pair.split("=");
        const plain = unescapeValue(value);
        const read = plain === undefined ? undefined : await readChoice(plain);
        if (read === undefined) return undefined;
        given[name] = read;
      }
      return parseAddress(place, given);
    },
    customId(slot, address, mark = "") {
      const room = mark ? mark.length + "&m=".length : 0;
      const text = slot + encode(address, LIMITS.customId - slot.length - room);
      return mark ? `${text}${text.includes("?") ? "&" : "?"}m=${mark}` : text;
    },
    choiceValue: (id) => packed(id, (text) => text.length <= LIMITS.choiceText),
    readChoice,
  };
}
