import { readPages, together } from "../explorer/paging.js";
import type { ValidatorSummary } from "../explorer/schema/validators.js";
import type { Reading } from "../explorer/service.js";
import type { Interval } from "../ledger/network-rhythm.js";
import { compareVersions, isMajority, isVersion, type VersionSurvey } from "../ledger/versions.js";
import { roughly } from "../text/durations.js";
import { bold, grouped, join, type Markdown, md, share, timestampWithAge } from "../text/markdown.js";
import { pastTime } from "../util/clock.js";
import { perObject, rememberLast } from "../util/per-object.js";
import { MINUTE } from "../util/units.js";
import { address } from "./addresses.js";
import { orNothing, version } from "./parts.js";
import {
  briefRow,
  listsMenu,
  type Standings,
  standingsAt,
  validatorMenu,
  versionLists,
} from "./validators.js";
import type { Field, Link, Screen, ScreenContext } from "./view.js";

const MAX_VERSIONS = 2;

/** Returns the line about validators with an older version. */
const behindLine = perObject((survey: VersionSurvey): Markdown[] => {
  const { counts, mostCommon } = survey;
  if (mostCommon === null) return [];
  const commonness = isMajority(survey) ? "which most run" : "the most common version";
  const behindCounts = [...counts]
    .filter(([each]) => each !== null && isVersion(each) && compareVersions(each, mostCommon) < 0)
    .reduce((sum, [, count]) => sum + count, 0);
  return [
    behindCounts === 0
      ? md`✅ none older than ${version(mostCommon)}, ${commonness}`
      : md`⚠️ **${grouped(behindCounts)}** on an older version than ${version(mostCommon)}, ${commonness}`,
  ];
});

/** Returns a field that lists the versions in use, newest first. */
const versionFields = perObject((survey: VersionSurvey): Field[] => {
  const { counts, active, mostCommon, newest } = survey;
  const lists = versionLists(survey).slice(0, MAX_VERSIONS);
  const line = (each: string): Markdown => {
    const count = counts.get(each) ?? 0;
    return join(
      [
        version(each),
        bold(grouped(count)),
        md`${share(count, active)}`,
        each === mostCommon && md`most common`,
        each === newest && md`newest seen`,
      ],
      " · ",
    );
  };
  const value = join(
    lists.map((each) => line(each.version)),
    "\n",
  );
  return lists.length > 0 ? [{ name: "By version", value }] : [];
});

const LINKS: readonly Link[] = [
  { label: "All validators", emoji: "📋", to: address("validators", { status: "ALL" }) },
  { label: "Outdated", emoji: "⚠️", to: address("validators", { status: "BEHIND" }) },
  { label: "Versions", emoji: "📊", to: address("versions", {}) },
  { label: "Newest", emoji: "🆕", to: address("newcomers", {}) },
];

/** Maximum number of pages of inactive validators to read. The most recently active come first. */
const MAX_PAGES = 3;
const PAGE = { page: 0, size: 100 };
/**
 * Maximum age of the explorer's newest report, in ms, on top of one reporting interval. If it is older, the explorer is behind.
 */
const BEHIND_MS = 20 * MINUTE;

type Rows = readonly ValidatorSummary[];

/** Validators among the rows of active and inactive ones that are silent, most recently seen first, and how many are not. */
interface SilentRows {
  readonly rows: Rows;
  readonly silentActive: number;
  readonly reportingInactive: number;
}

/** Finds the silent validators. The overview is opened often, and its pages come from the cache. */
const findSilent = rememberLast((standings: Standings, active: Rows, inactive: Rows): SilentRows => {
  const isSilent = (each: ValidatorSummary) => standings(each).standing === "silent";
  const silentActive = active.filter(isSilent);
  const silentInactive = inactive.filter(isSilent);
  const knownParties = new Set(silentActive.map(({ validator }) => validator));
  return {
    rows: [...silentActive, ...silentInactive.filter(({ validator }) => !knownParties.has(validator))].sort(
      (a, b) => (b.lastActiveAt ?? 0) - (a.lastActiveAt ?? 0),
    ),
    silentActive: silentActive.length,
    reportingInactive: inactive.length - silentInactive.length,
  };
});

/** Returns the time of the newest report in a page, epoch ms. 0 without one. */
const newestIn = rememberLast((rows: Rows, fetchedAt: number): number =>
  rows.reduce((latest, each) => Math.max(latest, pastTime(each.lastActiveAt, fetchedAt) ?? 0), 0),
);

interface SilentSummary {
  readonly rows: Rows;
  /** Number of silent and active validators; null if the explorer does not say. */
  readonly silent: number | null;
  readonly reporting: number | null;
  /** Time of the newest report, epoch ms; null unless the explorer is behind. */
  readonly behindSince: number | null;
  readonly standings: Standings;
  readonly reading: Reading<unknown>;
}

/**
 * Reads the validators that are silent by their own reporting interval, most recently seen first. The explorer's status is not
 * enough, because its meaning is not documented: inactive validators may still report, and active ones may be silent.
 */
async function readSilent(
  { explorer }: ScreenContext,
  intervals: (party: string | null) => Interval,
): Promise<SilentSummary> {
  const newestPage = await explorer.validators({ ...PAGE, status: "ACTIVE", orderBy: "DESC" });
  const newestAt = newestIn(newestPage.data.content, newestPage.fetchedAt);
  const isBehind = newestAt > 0 && newestPage.fetchedAt - newestAt > BEHIND_MS + intervals(null).ms;
  const standings = standingsAt(intervals, isBehind ? newestAt : newestPage.fetchedAt);
  const isAll = newestPage.data.last === true;
  const [oldest, inactive] = await Promise.all([
    isAll ? newestPage : explorer.validators({ ...PAGE, status: "ACTIVE", orderBy: "ASC" }),
    readPages(
      "validators",
      (page) => explorer.validators({ ...page, status: "INACTIVE", orderBy: "DESC" }),
      (rows) => rows.some((each) => standings(each).standing === "silent"),
      MAX_PAGES,
    ),
  ]);
  const { rows, silentActive, reportingInactive } = findSilent(standings, oldest.data.content, inactive.data);
  const inactiveTotal = inactive.total;
  const activeTotal = newestPage.data.totalElements;
  const isCounted = inactiveTotal !== null && activeTotal !== null;
  return {
    rows,
    silent: isCounted ? inactiveTotal - reportingInactive + silentActive : null,
    reporting: isCounted ? activeTotal + reportingInactive - silentActive : null,
    behindSince: isBehind ? newestAt : null,
    standings,
    reading: together(null, newestPage, oldest, inactive),
  };
}

/** Validators that the overview names. The lists have all of them. */
const MAX_ROWS = 5;

/** Returns the validators that need a look: the ones that went silent last, or else the ones that reported least recently. */
async function neediest({ explorer }: ScreenContext, { rows, reading }: SilentSummary) {
  if (rows.length > 0) return { isSilent: true, rows: rows.slice(0, MAX_ROWS), readings: [reading] };
  const oldest = await explorer.validators({ ...PAGE, status: "ACTIVE", orderBy: "ASC" });
  return { isSilent: false, rows: oldest.data.content.slice(0, MAX_ROWS), readings: [oldest] };
}

/** Shows an overview for moderators: silent validators, outdated validators, and the versions in use. */
export const overview: Screen<"overview"> = async ({ page }, context) => {
  // Messages of earlier versions have buttons to its later pages.
  if (page > 1) return { to: address("validators", { status: "ALL", order: "ASC", page }) };
  const { directory, rhythms } = context;
  const survey = directory.versions();
  const intervals = await rhythms.intervals();
  const foundSilent = await readSilent(context, intervals);
  const { silent, reporting, behindSince, standings } = foundSilent;
  const { rows, readings, isSilent } = await neediest(context, foundSilent);
  const readAt = directory.readAt("validator");
  const counts =
    silent === null || reporting === null
      ? md`The number of active validators is unknown.`
      : md`🟢 **${grouped(reporting)}** of ${grouped(reporting + silent)} active · 🔴 **${grouped(silent)}** inactive`;
  const fields = versionFields(survey);
  return {
    title: md`Validators: overview`,
    tone: "neutral",
    body: [
      counts,
      ...behindLine(survey),
      md`-# Validators report about every ${roughly(intervals(null).ms)}. After two missed reports, a validator counts as inactive.`,
      ...(behindSince === null
        ? []
        : [md`⚠️ The explorer is behind: its newest report is from ${timestampWithAge(behindSince)}.`]),
      md``,
      md`**${isSilent ? "Recently silent" : "Active, least recently seen first"}**`,
      ...orNothing(
        rows.map((each) => briefRow(each, standings)),
        "validators",
      ),
    ],
    fields,
    readings: [
      ...readings,
      ...(readAt === undefined || fields.length === 0
        ? []
        : [{ data: null, fetchedAt: readAt, stale: false }]),
    ],
    menus: [validatorMenu(rows, standings), listsMenu(survey)],
    links: LINKS,
  };
};
