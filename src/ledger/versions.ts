/** What a validator runs, and whether it is active; null where that is not known. */
interface RunningVersion {
  readonly active: boolean | null;
  readonly version?: string | null;
}

/** How many active validators run each version; null for those that do not say. */
export function countVersions(validators: readonly RunningVersion[]): Map<string | null, number> {
  const counts = new Map<string | null, number>();
  for (const { active, version = null } of validators) {
    if (active) counts.set(version, (counts.get(version) ?? 0) + 1);
  }
  return counts;
}

/**
 * The newest version that is more than one operator's word: versions are typed in by strangers, so one counts once at
 * least two of the active validators, and one in twenty of them, run it or a later one. Null where none does.
 */
export function newestVersion(counts: ReadonlyMap<string | null, number>): string | null {
  const known = [...counts].flatMap(([version, count]) =>
    version !== null && isVersion(version) ? [[version, count] as const] : [],
  );
  const all = known.reduce((sum, [, count]) => sum + count, 0);
  let running = 0;
  for (const [version, count] of known.sort(([a], [b]) => compareVersions(b, a))) {
    running += count;
    if (running >= Math.max(2, Math.ceil(all / 20))) return version;
  }
  return null;
}

const VERSION = /^v?(\d{1,6})\.(\d{1,6})(?:\.(\d{1,6}))?/;
const isVersion = (text: string): boolean => VERSION.test(text);
const partsOf = (text: string) => (VERSION.exec(text) ?? []).slice(1).map((part) => Number(part ?? 0));

/** Below zero where the first is older; by numbers, not by letters: 0.4.9 is before 0.4.16. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [partsOf(a), partsOf(b)];
  const index = left.findIndex((part, place) => part !== (right[place] ?? 0));
  return index < 0 ? 0 : (left[index] ?? 0) - (right[index] ?? 0);
}

/** Whether a version is older than the newest; undefined where either cannot be compared. */
export function isBehind(version: string | null, newest: string | null): boolean | undefined {
  if (version === null || newest === null || !isVersion(version)) return undefined;
  return compareVersions(version, newest) < 0;
}
