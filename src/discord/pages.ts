import type { ExplorerPage } from "../screens/view.js";

/** The longest address that a button takes (Discord: 512 characters). */
const MAX_URL = 512;

/**
 * Returns the addresses of the web explorer's pages.
 * @param patterns by kind, with `{id}` as a placeholder; `undefined` if none is set
 */
export const createPages =
  (patterns: Readonly<Record<ExplorerPage["kind"], string | undefined>>) =>
  ({ kind, id }: ExplorerPage): string | undefined => {
    const url = patterns[kind]?.replaceAll("{id}", () => encodeURIComponent(id));
    return url !== undefined && url.length <= MAX_URL ? url : undefined;
  };
