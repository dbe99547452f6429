import type { ExplorerPage } from "../screens/view.js";

/** Maximum length of a link button's URL (Discord: 512 characters). */
const MAX_URL = 512;

/** URL patterns of a web explorer's pages by kind, with `{id}` as a placeholder. `undefined` if none is set. */
type Patterns = Readonly<Record<ExplorerPage["kind"], string | undefined>>;

/** Creates a function that returns the URL of a thing's page in the web explorer. */
export const createPages =
  (patterns: Patterns) =>
  ({ kind, id }: ExplorerPage): string | undefined => {
    const url = patterns[kind]?.replaceAll("{id}", () => encodeURIComponent(id));
    return url !== undefined && url.length <= MAX_URL ? url : undefined;
  };

/**
 * Creates a function that returns how much of a page's URL a text contains, in characters, apart from the id. 0 if it contains no link
 * to a page of the web explorer. The networks' pages may have the same beginning.
 */
export const createLinkMatch = (patterns: Patterns): ((text: string) => number) => {
  const parts = Object.values(patterns).flatMap((pattern) => {
    const [before = "", after = ""] = pattern?.split("{id}") ?? [];
    return before === "" ? [] : [{ before, after }];
  });
  return (text) =>
    Math.max(
      0,
      ...parts.map(({ before, after }) => {
        const position = text.indexOf(before);
        const isThere = position >= 0 && text.slice(position + before.length).includes(after);
        return isThere ? before.length + after.length : 0;
      }),
    );
};
