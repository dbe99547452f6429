/** Cleans and shortens untrusted text. */

/** Shown for a missing value. */
export const NOTHING = "—";

// Control characters except tab and newline, format characters (zero-width, bidirectional, tags), variation selectors, and
// fillers that look empty.
const UNSAFE =
  /(?![\t\n])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]|\p{Variation_Selector}|\u115f|\u1160|\u2800|\u3164|\uffa0/gu;
/** Matches combining marks beyond the third on one letter. They would cover the lines around it. */
const STACKED = /(\p{M}{3})\p{M}+/gu;

/** Matches text without special characters, which is the most common case. */
const HARMLESS = /^[\x20-\x7e]*$/;

/** Removes control, invisible and bidirectional characters and excess combining marks, and replaces halves of surrogate pairs. */
export function clean(text: string): string {
  if (HARMLESS.test(text)) return text;
  return text.toWellFormed().replace(/\r\n?/g, "\n").replace(UNSAFE, "").replace(STACKED, "$1");
}

/** Returns a text without the characters at its end that match. A regular expression with `+$` would take quadratic time. */
export function withoutEnding(text: string, character: RegExp): string {
  let end = text.length;
  while (end > 0 && character.test(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** Returns words with a capital first letter. */
export const capitalized = (words: string): string => `${words.charAt(0).toUpperCase()}${words.slice(1)}`;

/** Joins the first names of a list, and counts the others: "Fjord, Onyx and 3 more". @param count number of all names */
export const namesAndMore = (names: readonly string[], count: number): string =>
  `${names.join(", ")}${count > names.length ? ` and ${count - names.length} more` : ""}`;

/** Cuts a text to at most `most` UTF-16 units, without splitting a code point. A text that was cut ends with "…". */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  let keptText = "";
  for (const character of text) {
    if (keptText.length + character.length > most - 1) break;
    keptText += character;
  }
  return `${keptText}…`;
}

/** Like `cut`, for escaped text. It never splits an escape. */
export function cutEscaped(text: string, most: number): string {
  const keptText = cut(text, most);
  if (keptText === text) return text;
  const [, slashes = ""] = /(\\*)…$/.exec(keptText) ?? [];
  return slashes.length % 2 === 0 ? keptText : `${keptText.slice(0, -2)}…`;
}

/** Cleans a text, and puts it on one line, as in the name of a thread. Spaces at its ends become one. */
export const unbroken = (text: string): string => clean(text).replace(/\s+/g, " ");

/**
 * Returns a text that Discord does not format, such as a label: clean, on one line, and never empty.
 * @param most maximum length in UTF-16 units
 */
export const oneLine = (text: string, most: number): string =>
  cut(unbroken(text).trim(), most).trim() || NOTHING;
