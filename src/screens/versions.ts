import type { Bar } from "../charts/draw.js";
import { compareVersions, countVersions, newestVersion } from "../ledger/versions.js";
import { bold, code, md } from "../text/markdown.js";
import { cut } from "../text/plain.js";
import { address } from "./addresses.js";
import type { Screen } from "./view.js";

/** Versions with a line of their own; the rest are counted together. */
const MAX_VERSIONS = 10;

/** The versions that most run, the newest first. */
function mostRun(counts: ReadonlyMap<string | null, number>): (readonly [string | null, number])[] {
  const most = [...counts].toSorted((a, b) => b[1] - a[1]).slice(0, MAX_VERSIONS);
  return most.toSorted(([a], [b]) => (a === null ? 1 : b === null ? -1 : compareVersions(b, a)));
}

/** A label that the charts' font has every character of: versions are typed in by strangers. */
const toLabel = (version: string | null): string =>
  version === null ? "not known" : cut(version.replace(/[^\x20-\x7e]/g, "?"), 24);

/** What the active validators run. */
export const versions: Screen<"versions"> = async (_, { directory, charts }) => {
  const readAt = directory.readAt("validator");
  const all = countVersions(directory.entries("validator"));
  const active = [...all.values()].reduce((sum, count) => sum + count, 0);
  const counts = mostRun(all);
  const links = [{ label: "Validators", emoji: "🖥️", to: address("validators", {}) }];
  const title = md`What active validators run`;
  if (readAt === undefined || counts.length === 0) {
    const body = [
      readAt === undefined
        ? md`The list of validators is still being read. Please try again in a minute; \`/validator list\` works meanwhile.`
        : md`The explorer names no active validator at the moment.`,
    ];
    return { title, tone: "neutral", body, readings: [], links, parent: address("network", {}) };
  }
  const newest = newestVersion(all);
  const counted = counts.reduce((sum, [, count]) => sum + count, 0);
  const bars: Bar[] = counts.map(([version, count]) => ({
    label: toLabel(version),
    count,
    tone: version === null ? "muted" : version === newest ? "newest" : "usual",
  }));
  if (counted < active) bars.push({ label: "others", count: active - counted, tone: "muted" });
  const content = await charts.bars(`versions ${readAt}`, bars);
  const share = (count: number) => `${Math.round((count / active) * 100)}%`;
  return {
    title,
    tone: "neutral",
    body: [
      ...counts.map(
        ([version, count]) =>
          md`${version === null ? "version not known" : code(version, 40)} · ${bold(count.toLocaleString("en-US"))} · ${share(count)}${version !== null && version === newest ? md` · newest` : md``}`,
      ),
      ...(counted < active ? [md`others · ${bold((active - counted).toLocaleString("en-US"))}`] : []),
    ],
    picture: content && {
      name: "versions.png",
      content,
      description: `Active validators by version: ${bars.map(({ label, count }) => `${label} ${count}`).join(", ")}`,
    },
    readings: [{ data: null, fetchedAt: readAt, stale: false }],
    links,
    parent: address("network", {}),
  };
};
