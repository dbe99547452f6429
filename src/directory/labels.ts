import { fingerprint, shortId } from "../text/ids.js";
import { cut } from "../text/plain.js";
import { MINUTE } from "../util/units.js";
import type { NamedEntry } from "./collections.js";
import type { Match } from "./directory.js";

/** True if two entries were opened by the same requester in the same minute. */
export const areTwins = (a: NamedEntry, b: NamedEntry): boolean =>
  a.requester === b.requester &&
  Math.floor((a.openedAt ?? 0) / MINUTE) === Math.floor((b.openedAt ?? 0) / MINUTE);

/**
 * Returns an entry's label with its name first, at most `max` UTF-16 units long.
 * @param isAmbiguous true if another entry's label would be the same
 * @param hasTwin true if it was also opened by the same requester in the same minute
 */
export function entryLabel(
  { id, name, note, requester, openedAt }: NamedEntry,
  max: number,
  isAmbiguous = false,
  hasTwin = false,
): string {
  const opened =
    openedAt === undefined
      ? undefined
      : `opened ${new Date(openedAt).toISOString().slice(0, 16).replace("T", " ")}`;
  // The requester comes first, because the end may be cut off.
  const marks = isAmbiguous ? [requester && cut(requester, 30), hasTwin ? shortId(id) : opened] : [];
  const aside = cut([...marks, note ?? fingerprint(id)].filter(Boolean).join(", "), 60);
  return name === null ? cut(shortId(id), max) : `${cut(name, max - aside.length - 3)} · ${aside}`;
}

/** Removes parties that also match as something more specific, such as a validator. */
export function oncePerThing(matches: readonly Match[]): readonly Match[] {
  const particular = new Set(matches.filter(({ kind }) => kind !== "party").map(({ entry }) => entry.id));
  return matches.filter(({ kind, entry }) => kind !== "party" || !particular.has(entry.id));
}
