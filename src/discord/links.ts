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
  /** An address from its text, of whichever network; undefined where it does not parse, or holds a key that nobody remembers. */
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
/** The same for an id that stands before the query. */
const escapePlaced = (text: string) => text.replace(/[%&=?]/g, encodeURIComponent);

function unescapeValue(value: string): string | undefined {
  try {
    return decodeURIComponent(value);
  } catch {
    return undefined;
  }
}

/** An address's text in its parts. */
interface Parts {
  /** What stands for the network that it is of; undefined where it names none. */
  readonly network: string | undefined;
  readonly wire: string;
  /** An id that stands before the query, as it is written. */
  readonly id: string | undefined;
  readonly query: string;
}

/**
 * An address that names its network is written `te~validator/<id>?page=2`: its id needs no name, and so it is no longer than one
 * that names none, `validator?id=<id>&page=2`.
 */
function partsOf(text: string): Parts {
  const [, network, named] = /^([a-z][a-z\d])~(.*)$/s.exec(text) ?? [];
  const [place = "", query = ""] = (named ?? text).split(/\?(.*)/s);
  const [wire = "", id] = network === undefined ? [place] : place.split(/\/(.*)/s);
  return { network, wire, id, query };
}

/** What stands for the network that a link is of; undefined where it names none. */
export const networkIn = (text: string): string | undefined => partsOf(text).network;

/** The screen or the action that a link is for, as far as its name tells, and its query. */
export function placeIn(text: string) {
  const { wire, query } = partsOf(text);
  return { place: placeAt(wire), query };
}

/**
 * Links whose long ids travel as keys of this store.
 * @param network what stands for their network; undefined where they name none
 */
export function createLinks(keys: IdKeys, network: () => string | undefined = () => undefined): Links {
  const unkept = { ...keys, remember: keys.hold };
  return { ...linksBy(keys, network), unkept: linksBy(unkept, network) };
}

function linksBy(keys: IdKeys, network: () => string | undefined): Omit<Links, "unkept"> {
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
    const code = network();
    const given = givenParameters(address);
    const join = (idText?: string) => {
      const isPlaced = code !== undefined && idText !== undefined;
      const query = given
        .filter(([name]) => name !== "id" || !isPlaced)
        .map(([name, value]) => `${name}=${escapeValue(name === "id" ? (idText ?? value) : value)}`)
        .join("&");
      const wire = `${code === undefined ? "" : `${code}~`}${wireOf(address.screen)}`;
      const place = isPlaced ? `${wire}/${escapePlaced(idText)}` : wire;
      return query ? `${place}?${query}` : place;
    };
    const id = given.find(([name]) => name === "id")?.[1];
    return id === undefined ? join() : join(packed(id, (text) => join(text).length <= max));
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
      const { wire, id, query } = partsOf(text);
      const place = placeAt(wire);
      if (!place) return undefined;
      const given: Record<string, string> = {};
      for (const pair of [...(id === undefined ? [] : [`id=${id}`]), ...(query ? query.split("&") : [])]) {
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
