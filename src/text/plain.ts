/** Plain text from strangers: made harmless, and cut. */

// Control characters but tab and newline, formatting ones (zero-width, bidirectional, tags), and fillers that look empty.
const UNSAFE =
  /(?![\t\n])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]|\p{Variation_Selector}|\u115f|\u1160|\u2800|\u3164|\uffa0/gu;
/** Marks beyond the third on one letter, which would cover the lines around it. */
const STACKED = /(\p{M}{3})\p{M}+/gu;

/** Matches text without special characters, which is the most common case. */
const HARMLESS = /^[\x20-\x7e]*$/;

/** Text without control, invisible and bidirectional characters, and without halves of surrogate pairs. */
export function clean(text: string): string {
  if (HARMLESS.test(text)) return text;
  return text.toWellFormed().replace(/\r\n?/g, "\n").replace(UNSAFE, "").replace(STACKED, "$1");
}

/** A text's beginning, at most `most` UTF-16 units long and never half a code point, its end "…" if it was cut. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  let keptText = "";
  for (const character of text) {
    if (keptText.length + character.length > most - 1) break;
    keptText += character;
  }
  return `${keptText}…`;
}

/** The same for escaped text, of which no escape is cut in two. */
export function cutEscaped(text: string, most: number): string {
  const keptText = cut(text, most);
  if (keptText === text) return text;
  const [, slashes = ""] = /(\\*)…$/.exec(keptText) ?? [];
  return slashes.length % 2 === 0 ? keptText : `${keptText.slice(0, -2)}…`;
}
