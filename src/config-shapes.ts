import { isIP } from "node:net";
import * as z from "zod";

/** Schemas of settings. Each parses the text of a variable and rejects invalid values. */

/** Returns the schema of a URL with one of these protocols and without a query. */
export const addressOf = (protocols: readonly string[]) =>
  z.string().refine((value) => {
    if (!URL.canParse(value)) return false;
    const url = new URL(value);
    // A URL does not show an empty query.
    const bare = !/[?#]/.test(value);
    // fetch rejects URLs with a password, but Redis needs one.
    const secret = url.username !== "" || url.password !== "";
    const redis = url.protocol.startsWith("redis");
    // The path of a Redis URL is the number of a database.
    const path = !redis || /^\/?\d*$/.test(url.pathname);
    return protocols.includes(url.protocol) && bare && path && (!secret || (redis && isDecodable(url)));
  });

/** An http(s) URL without a user and a password, because fetch rejects those. */
export const httpAddress = z.string().refine((value) => {
  if (!URL.canParse(value)) return false;
  const { protocol, username, password } = new URL(value);
  return /^https?:$/.test(protocol) && username === "" && password === "";
});

/** True if the user and password of a URL can be decoded. A literal % must be written as %25. */
function isDecodable({ username, password }: URL): boolean {
  try {
    decodeURIComponent(username + password);
    return true;
  } catch {
    return false;
  }
}

/** Returns the schema of a whole number within bounds. */
export const wholeNumber = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/)
    .transform(Number)
    .pipe(z.number().min(least).max(most));

/** A Discord id. */
export const snowflake = z.string().regex(/^\d{15,20}$/);

/** URL pattern of a page of the web explorer, with `{id}` for the id. */
export const pattern = z
  .string()
  .refine((value) => {
    if (!value.includes("{id}") || !URL.canParse(value)) return false;
    const url = new URL(value);
    // The id must not be part of the host.
    return /^https?:$/.test(url.protocol) && !url.username && !url.password && !/[{}]|%7b/i.test(url.host);
  })
  .optional();

/** Shards of this process. 0-3/16 means the first four of sixteen. */
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

/** A secret that is valid in an HTTP header: one line of visible ASCII characters. */
export const visible = z.string().regex(/^[\x21-\x7e]+$/);

/** An address of this machine to listen on. */
export const hostOfThisMachine = z
  .string()
  .refine((host) => isIP(host) !== 0 || host === "localhost")
  .default("127.0.0.1");

/** Length of a network's code in links, which is the start of its name. */
const CODE_LENGTH = 2;

/** Returns a network's code in links. */
export const codeOf = (networkId: string): string => networkId.slice(0, CODE_LENGTH);

/** Maximum number of networks. Discord allows 8,000 characters per command, and each subcommand lists all networks. */
const MAX_NETWORKS = 8;

const NETWORK_ID = /^[a-z][a-z0-9]{1,11}$/;

/** Returns the names in a text of network names, well formed or not. */
export const namesIn = (text: string): readonly string[] => text.split(",").map((name) => name.trim());

/** Returns the names in a malformed text of network names that are well formed, the first of each code. */
export const readableIds = (text: string): readonly string[] => {
  const names = namesIn(text).filter((name) => NETWORK_ID.test(name));
  return names.filter((name, at) => names.findIndex((each) => codeOf(each) === codeOf(name)) === at);
};

/**
 * Names of the networks, the default one first. Their variables end in these names. Links distinguish them by the first two
 * characters.
 */
export const networkIds = z
  .string()
  .transform((text) => [...namesIn(text)])
  .refine((names) => names.every((name) => NETWORK_ID.test(name)))
  .refine((names) => new Set(names.map(codeOf)).size === names.length && names.length <= MAX_NETWORKS)
  .optional();

/** Returns the number of letters to change, add or leave out to turn one text into another (Levenshtein distance). */
export function typosBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (const [i, letter] of [...a].entries()) {
    const nextRow = [i + 1];
    for (const [j, other] of [...b].entries())
      nextRow.push(
        Math.min((row[j + 1] ?? 0) + 1, (nextRow[j] ?? 0) + 1, (row[j] ?? 0) + (letter === other ? 0 : 1)),
      );
    row = nextRow;
  }
  return row.at(-1) ?? 0;
}

/** Encodings by byte-order mark. Windows PowerShell 5 writes UTF-16. */
const BY_MARK: Readonly<Record<string, string>> = { fffe: "utf-16le", feff: "utf-16be" };

/** Returns the text of an operator's file without its byte-order mark, which some editors also add to UTF-8. */
export const decodedText = (bytes: Buffer): string =>
  new TextDecoder(BY_MARK[bytes.toString("hex", 0, 2)] ?? "utf-8").decode(bytes);

/** Matches the beginning of a variable in `.env`, with its value. */
const VARIABLE = /^\s*(?:export\s+)?[^\s"'`=#]+\s*=\s*(.*)$/;

/**
 * Returns a problem for each line of `.env` that is no variable, comment or part of a quoted value, and for a quotation mark that is
 * never closed. Node reads the former as a part of the next variable's name, so that both are lost, and the latter as part of the value.
 */
export function brokenLinesIn(text: string): string[] {
  const lines = text.split(/\r?\n/);
  const problems: string[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? "";
    if (/^\s*(?:#|$)/.test(line)) continue;
    const value = VARIABLE.exec(line)?.[1];
    // The line may contain a part of a secret.
    if (value === undefined)
      problems.push(`.env: line ${at + 1} isn't NAME=value. Correct it, or put # in front of it`);
    const [quote = ""] = /^["'`]/.exec(value ?? "") ?? [];
    if (quote === "" || value?.includes(quote, 1)) continue;
    // A quoted value may have several lines, but no variable.
    const end = lines.findIndex((each, index) => index > at && each.includes(quote));
    if (end > at && !lines.slice(at + 1, end + 1).some((each) => VARIABLE.test(each))) at = end;
    else
      problems.push(`.env: line ${at + 1} has a quotation mark that nothing closes. Close it, or remove it`);
  }
  return problems;
}
