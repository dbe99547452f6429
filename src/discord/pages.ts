import type { ExplorerPage } from "../screens/view.js";

/** Maximum length of a link button's URL (Discord: 512 characters). */
const MAX_URL = 512;

/**
 * Creates a function that returns the URL of a thing's page in the web explorer.
 * @param patterns by kind, with `{id}` as a placeholder; `undefined` if none is set
 */
export const createPages =
  (patterns: Readonly<Record<ExplorerPage["kind"], string | undefined>>) =>
  ({ kind, id }: ExplorerPage): string | undefined => {
    const url = patterns[kind]?.replaceAll("{id}", () => encodeURIComponent(id));
    return url !== undefined && url.length <= MAX_URL ? url : undefined;
  };
