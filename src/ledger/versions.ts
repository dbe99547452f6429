/** A validator's version and activity; null if they are unknown. */
interface RunningVersion {
  readonly active: boolean | null;
  readonly version?: string | null;
}

/** Versions of the active validators. They are untrusted, so each counts by the number of validators that run it. */
export interface VersionSurvey {
  /** Number of validators by version; null for those without one. */
  readonly counts: ReadonlyMap<string | null, number>;
  readonly active: number;
  /** The most common comparable version; the newest of several with the same count. null if there is none. */
  readonly mostCommon: string | null;
  /** The newest comparable version that is in use. */
  readonly newest: string | null;
}

/** Counts the versions of the active validators. */
export function surveyVersions(validators: readonly RunningVersion[]): VersionSurvey {
  const counts = new Map<string | null, number>();
  let activeCount = 0;
  for (const each of validators) {
    if (!each.active) continue;
    activeCount += 1;
    const version = each.version ?? null;
    counts.set(version, (counts.get(version) ?? 0) + 1);
  }
  const knownVersions = [...counts].flatMap(([version, count]) =>
    version !== null && isVersion(version) ? [[version, count] as const] : [],
  );
  const [mostCommon] = knownVersions.toSorted(([a, many], [b, more]) => more - many || compareVersions(b, a));
  const [newest] = knownVersions.toSorted(([a], [b]) => compareVersions(b, a));
  return { counts, active: activeCount, mostCommon: mostCommon?.[0] ?? null, newest: newest?.[0] ?? null };
}

/** True if more than half of the active validators run the most common version. */
export const isMajority = ({ counts, active, mostCommon }: VersionSurvey): boolean =>
  2 * (counts.get(mostCommon) ?? 0) > active;

/**
 * Matches numbers with points and an optional suffix: `0.6.2`, `v0.6.3.1`, `0.6.3-rc.1`, `0.6.3+build`. The suffix of a snapshot of
 * Canton has 35 characters: `0.7.4-snapshot.20260801.12345.0.v1a2b3c4d`.
 */
const VERSION = /^v?(\d{1,9}(?:\.\d{1,9}){1,4})(?:-([\w.-]{1,36}))?(?:\+[\w.-]{1,24})?$/;

/** True if a text is a version that can be compared with others. */
export const isVersion = (text: string): boolean => VERSION.test(text);

/**
 * Compares versions part by part, as numbers if both parts are numbers. A missing part counts as `missing`: zero in a release,
 * and lower than any other part in a pre-release.
 */
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
 * Compares two versions. The result is below zero if the first is older. Numeric parts are compared as numbers, and there may be
 * more than three. A pre-release is older than its release (semver.org, 11).
 */
export function compareVersions(a: string, b: string): number {
  const [, numbers = "", before = ""] = VERSION.exec(a) ?? [];
  const [, otherNumbers = "", otherBefore = ""] = VERSION.exec(b) ?? [];
  const released = compareParts(numbers.split("."), otherNumbers.split("."), "0");
  if (released !== 0 || before === otherBefore) return released;
  if (before === "" || otherBefore === "") return before === "" ? 1 : -1;
  return compareParts(before.split("."), otherBefore.split("."), "");
}

/** Share of the active validators, and minimum number of them, that must run a version for others to be measured by it. */
const CREDIBLE_SHARE = 0.02;
const CREDIBLE_COUNT = 2;

/**
 * Returns the newest version that enough active validators run, because a single one may claim any version. null if there is
 * none.
 */
export function newestCredible({ counts, active, mostCommon }: VersionSurvey): string | null {
  const leastCount = Math.max(CREDIBLE_COUNT, CREDIBLE_SHARE * active);
  const credible = [...counts].flatMap(([version, count]) =>
    version !== null && isVersion(version) && count >= leastCount ? [version] : [],
  );
  return credible.toSorted(compareVersions).at(-1) ?? mostCommon;
}

/** Numbers of active validators that run a version or a newer one, an older one, and one that cannot be compared. */
export interface Readiness {
  readonly ready: number;
  readonly behind: number;
  readonly unknown: number;
}

/** Counts the active validators by whether they run a version or a newer one. */
export function readinessFor(version: string, { counts }: VersionSurvey): Readiness {
  const readiness = { ready: 0, behind: 0, unknown: 0 };
  for (const [each, count] of counts) {
    if (each === null || !isVersion(each)) readiness.unknown += count;
    else if (compareVersions(each, version) < 0) readiness.behind += count;
    else readiness.ready += count;
  }
  return readiness;
}

/** Returns the number of running versions between this one and another; `undefined` if they cannot be compared. */
export function versionsBehind(
  version: string | null,
  other: string | null,
  { counts }: VersionSurvey,
): number | undefined {
  if (version === null || other === null || !isVersion(version) || !isVersion(other)) return undefined;
  const between = [...counts.keys()]
    .filter((each) => each !== null)
    .filter(
      (each) => isVersion(each) && compareVersions(each, version) > 0 && compareVersions(each, other) <= 0,
    )
    .toSorted(compareVersions);
  // "v0.6.3" and "0.6.3" are one version.
  const isFirst = (each: string, place: number) => compareVersions(between[place - 1] ?? "", each) !== 0;
  return between.filter(isFirst).length;
}
