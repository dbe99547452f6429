/** What a validator runs, and whether it is active; null where that is not known. */
interface RunningVersion {
  readonly active: boolean | null;
  readonly version?: string | null;
}

/** What the active validators run. Versions are typed in by strangers: each is as good as the number that run it. */
export interface VersionSurvey {
  /** How many run each; null for those that do not say. */
  readonly counts: ReadonlyMap<string | null, number>;
  readonly active: number;
  /** What most run, of versions that can be compared; of several with one number the newest. Null where nobody says. */
  readonly mostCommon: string | null;
  /** The newest that anybody runs. */
  readonly newest: string | null;
}

/** Counts what the active validators run. */
export function surveyVersions(validators: readonly RunningVersion[]): VersionSurvey {
  const counts = new Map<string | null, number>();
  let active = 0;
  for (const each of validators) {
    if (!each.active) continue;
    active += 1;
    const version = each.version ?? null;
    counts.set(version, (counts.get(version) ?? 0) + 1);
  }
  const known = [...counts].flatMap(([version, count]) =>
    version !== null && isVersion(version) ? [[version, count] as const] : [],
  );
  const [mostCommon] = known.toSorted(([a, many], [b, more]) => more - many || compareVersions(b, a));
  const [newest] = known.toSorted(([a], [b]) => compareVersions(b, a));
  return { counts, active, mostCommon: mostCommon?.[0] ?? null, newest: newest?.[0] ?? null };
}

/** Numbers with points between them, and what stands behind them: `0.6.2`, `v0.6.3.1`, `0.6.3-rc.1`, `0.6.3+build`. */
const VERSION = /^v?(\d{1,9}(?:\.\d{1,9}){1,4})(?:-([\w.-]{1,24}))?(?:\+[\w.-]{1,24})?$/;

/** Whether a text is a version that can be compared with others. */
export const isVersion = (text: string): boolean => VERSION.test(text);

/** Part by part, as numbers where both are; a missing part of a release is a zero, and comes before any of a pre-release. */
function compareParts(a: readonly string[], b: readonly string[], missing: string): number {
  for (let place = 0; place < Math.max(a.length, b.length); place += 1) {
    const [left, right] = [a[place] ?? missing, b[place] ?? missing];
    if (left === right) continue;
    const [x, y] = [Number(left || Number.NaN), Number(right || Number.NaN)];
    if (!Number.isNaN(x) && !Number.isNaN(y)) {
      if (x !== y) return x - y;
    } else return left < right ? -1 : 1;
  }
  return 0;
}

/**
 * Below zero where the first is older: by numbers and not by letters, four of them and more; a pre-release is before its
 * release (semver.org, 11).
 */
export function compareVersions(a: string, b: string): number {
  const [, numbers = "", before = ""] = VERSION.exec(a) ?? [];
  const [, otherNumbers = "", otherBefore = ""] = VERSION.exec(b) ?? [];
  const released = compareParts(numbers.split("."), otherNumbers.split("."), "0");
  if (released !== 0 || before === otherBefore) return released;
  if (before === "" || otherBefore === "") return before === "" ? 1 : -1;
  return compareParts(before.split("."), otherBefore.split("."), "");
}

/** How many versions that anybody runs are later than this one, up to another; undefined where they cannot be compared. */
export function versionsBehind(
  version: string | null,
  other: string | null,
  { counts }: VersionSurvey,
): number | undefined {
  if (version === null || other === null || !isVersion(version) || !isVersion(other)) return undefined;
  return [...counts.keys()].filter(
    (each) =>
      each !== null &&
      isVersion(each) &&
      compareVersions(each, version) > 0 &&
      compareVersions(each, other) <= 0,
  ).length;
}
