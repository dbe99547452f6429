import type { Bar } from "../charts/draw.js";
import { compareVersions, type VersionSurvey, versionsBehind } from "../ledger/versions.js";
import { bold, code, join, type Markdown, md } from "../text/markdown.js";
import { countedWords, grouped, share } from "../text/numbers.js";
import { cut } from "../text/plain.js";
import { present } from "../util/present.js";
import { address } from "./addresses.js";
import { checkReadable, directoryReading } from "./directory-reading.js";
import { rowMenu } from "./parts.js";
import { versionLists } from "./validators.js";
import type { Screen } from "./view.js";

/** Maximum number of versions to list. The rest is counted together. */
const MAX_VERSIONS = 10;

/** Returns the most common versions, newest first. */
function mostRun(counts: ReadonlyMap<string | null, number>): (readonly [string | null, number])[] {
  const mostCommon = [...counts].toSorted((a, b) => b[1] - a[1]).slice(0, MAX_VERSIONS);
  return mostCommon.toSorted(([a], [b]) => {
    if (a === null) return 1;
    return b === null ? -1 : compareVersions(b, a);
  });
}

/** Returns a chart label in printable ASCII, which the font covers. Versions are untrusted text. */
const toLabel = (version: string | null): string =>
  version === null ? "unknown" : cut(version.replace(/[^\x20-\x7e]/g, "?"), 24);

/** Returns the line of a version: its count, and its distance to the most common and the newest one. */
function versionLine(version: string | null, count: number, survey: VersionSurvey): Markdown {
  const { active, mostCommon, newest } = survey;
  const versionsLate = versionsBehind(version, mostCommon, survey) ?? 0;
  return join(
    [
      version === null ? md`version unknown` : code(version, 40),
      bold(grouped(count)),
      md`${share(count, active)}`,
      version !== null && version === mostCommon && md`most common`,
      version !== null && version === newest && md`newest seen`,
      versionsLate > 0 && md`${countedWords(versionsLate, "version")} behind`,
    ],
    " · ",
  );
}

/** Lists the versions of active validators. */
export const versions: Screen<"versions"> = async (_, { explorer, directory, charts, rhythms }) => {
  const readAt = directory.readAt("validator");
  const survey = directory.versions(await rhythms.intervals());
  const { active, mostCommon } = survey;
  const counts = mostRun(survey.counts);
  const links = [{ label: "Validators", emoji: "🖥️", to: address("validators", {}) }];
  const title = md`Versions of active validators`;
  if (readAt === undefined) await checkReadable(explorer);
  if (readAt === undefined || counts.length === 0) {
    const bodyLines = [
      readAt === undefined
        ? md`The list of validators is still loading. Please try again in a minute. \`/validator list\` already works.`
        : md`No validator is known to be active at the moment.`,
    ];
    return { title, body: bodyLines, readings: [], links, parent: address("network", {}) };
  }
  const shownCount = counts.reduce((sum, [, count]) => sum + count, 0);
  const toneOf = (version: string | null): Bar["tone"] => {
    if (version === null) return "muted";
    return version === mostCommon ? "newest" : "usual";
  };
  const bars: Bar[] = counts.map(([version, count]) => ({
    label: toLabel(version),
    count,
    tone: toneOf(version),
  }));
  if (shownCount < active) bars.push({ label: "others", count: active - shownCount, tone: "muted" });
  const summary = bars.map(({ label, count }) => `${label}: ${count}`).join(", ");
  // Counts change between two readings of the list, because the bot learns from other answers.
  const chartPicture = await charts.bars(`versions ${summary}`, bars);
  return {
    title,
    body: present([
      ...counts.map(([version, count]) => versionLine(version, count, survey)),
      shownCount < active &&
        md`others · ${bold(grouped(active - shownCount))} · ${share(active - shownCount, active)}`,
    ]),
    picture: chartPicture && {
      name: "versions.png",
      content: chartPicture,
      description: `Active validators by version: ${summary}`,
    },
    readings: [await directoryReading(explorer, null, readAt)],
    menus: [
      rowMenu(versionLists(survey), "List validators on a version…", ({ version, count }) => ({
        label: version,
        hint: countedWords(count, "active validator"),
        to: address("validators", { version }),
      })),
    ],
    links,
    parent: address("network", {}),
  };
};
