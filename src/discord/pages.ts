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

/** Creates a function that returns true if a text contains a link to a page of the web explorer. */
export const createLinksTo = (patterns: Patterns): ((text: string) => boolean) => {
  const beginnings = Object.values(patterns).flatMap((pattern) => pattern?.split("{id}", 1) ?? []);
  return (text) => beginnings.some((beginning) => text.includes(beginning));
};
