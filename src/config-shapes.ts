import { isIP } from "node:net";
import * as z from "zod";

/** Shapes of settings: each takes a variable's text, and refuses what it cannot mean. */

/** An address with one of these protocols, and no query. */
export const addressOf = (protocols: readonly string[]) =>
  z.string().refine((value) => {
    if (!URL.canParse(value)) return false;
    const url = new URL(value);
    const bare = url.search === "" && url.hash === "";
    // fetch refuses an address with a password in it; Redis needs one.
    const secret = url.username !== "" || url.password !== "";
    const redis = url.protocol.startsWith("redis");
    // A Redis' path is the number of a database.
    const path = !redis || /^\/?\d*$/.test(url.pathname);
    return protocols.includes(url.protocol) && bare && path && (!secret || (redis && isDecodable(url)));
  });

/** Any http(s) address without a user and a password, which fetch refuses. */
export const httpAddress = z.string().refine((value) => {
  if (!URL.canParse(value)) return false;
  const { protocol, username, password } = new URL(value);
  return /^https?:$/.test(protocol) && username === "" && password === "";
});

/** True if the user and password of an address can be decoded. A literal % must be written as %25. */
function isDecodable({ username, password }: URL): boolean {
  try {
    decodeURIComponent(username + password);
    return true;
  } catch {
    return false;
  }
}

/** A whole number within bounds. */
export const wholeNumber = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/)
    .transform(Number)
    .pipe(z.number().min(least).max(most));

/** An id of Discord's. */
export const snowflake = z.string().regex(/^\d{15,20}$/);

/** The web explorer's page of one thing, by a pattern with its id in it. */
export const pattern = z
  .string()
  .refine((value) => {
    if (!value.includes("{id}") || !URL.canParse(value)) return false;
    const url = new URL(value);
    // The id is no part of the host.
    return /^https?:$/.test(url.protocol) && !url.username && !url.password && !/[{}]|%7b/i.test(url.host);
  })
  .optional();

/** The shards of this process: 0-3/16 is the first four of sixteen. */
export const shards = z
  .string()
  .regex(/^(auto|\d{1,5}(-\d{1,5})?\/[1-9]\d{0,4})$/)
  .default("auto")
  .transform((text) => {
    const [, first, last, count] = /^(\d+)(?:-(\d+))?\/(\d+)$/.exec(text) ?? [];
    if (first === undefined) return "auto";
    const [from, to] = [Number(first), Number(last ?? first)];
    return {
      ids: Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index),
      count: Number(count),
    };
  })
  .refine((given) => given === "auto" || (given.ids.length > 0 && given.ids.every((id) => id < given.count)));

/** A secret: one line without spaces, as a header takes it. */
export const visible = z.string().regex(/^[\x21-\x7e]+$/);

/** An address of this machine that a port may be opened on. */
export const hostOfThisMachine = z
  .string()
  .refine((host) => isIP(host) !== 0 || host === "localhost")
  .default("127.0.0.1");

/** Number of characters of a network's name that links use. */
const CODE_LENGTH = 2;

/** Returns a network's code in links. */
export const codeOf = (networkId: string): string => networkId.slice(0, CODE_LENGTH);

/** The most networks of one bot: a command has 8,000 characters, and names them in each of its subcommands (Discord). */
const MAX_NETWORKS = 8;

/** The networks by the names that their variables end in, the default one first. Their first two characters tell them apart. */
export const networkIds = z
  .string()
  .transform((text) => text.split(",").map((name) => name.trim()))
  .refine((names) => names.every((name) => /^[a-z][a-z0-9]{1,11}$/.test(name)))
  .refine((names) => new Set(names.map(codeOf)).size === names.length && names.length <= MAX_NETWORKS)
  .optional();
