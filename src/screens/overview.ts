import { ifAnswered } from "../explorer/errors.js";
import { readPages, together } from "../explorer/paging.js";
import type { ValidatorSummary } from "../explorer/schema/validators.js";
import type { Reading } from "../explorer/service.js";
import { isMajority, readinessFor, type VersionSurvey } from "../ledger/versions.js";
import { roughly } from "../text/durations.js";
import { bold, join, type Markdown, md } from "../text/markdown.js";
import { countedWords, grouped, share } from "../text/numbers.js";
import { perObject, rememberLast } from "../util/per-object.js";
import { present } from "../util/present.js";
import { address } from "./addresses.js";
import { orNothing, version } from "./parts.js";
import {
  type Intervals,
  judgeNewest,
  lagLine,
  NEWEST,
  type Standings,
  type ValidatorPage,
} from "./standings.js";
import { standstillLine } from "./standstill.js";
import { briefRow, listsMenu, validatorMenu, versionLists } from "./validators.js";
import type { Field, Link, Screen, ScreenContext, View } from "./view.js";

const MAX_VERSIONS = 2;

/** Returns the line about validators with an older version. */
function behindLine(survey: VersionSurvey): Markdown[] {
  const { mostCommon } = survey;
  if (mostCommon === null) return [];
  const commonness = isMajority(survey) ? "which most run" : "the most common version";
  const { behind } = readinessFor(mostCommon, survey);
  return [
    behind === 0
      ? md`✅ none older than ${version(mostCommon)}, ${commonness}`
      : md`⚠️ **${grouped(behind)}** on an older version than ${version(mostCommon)}, ${commonness}`,
  ];
}

/** Returns a field that lists the most common version, the newest one and how many others there are, newest first. */
export function versionFields(survey: VersionSurvey): Field[] {
  const { counts, active, mostCommon, newest } = survey;
  const all = versionLists(survey);
  const chosen = [mostCommon, newest, ...all.map((each) => each.version)].filter((each) => each !== null);
  const shown = [...new Set(chosen)].slice(0, MAX_VERSIONS);
  const lists = all.filter((each) => shown.includes(each.version));
  const moreCount = [...counts.keys()].filter((each) => each !== null).length - lists.length;
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
  const moreVersions = moreCount > 0 ? [md`…and ${countedWords(moreCount, "other version")}`] : [];
  const value = join([...lists.map((each) => line(each.version)), ...moreVersions], "\n");
  return lists.length > 0 ? [{ name: "By version", value }] : [];
}

const LINKS: readonly Link[] = [
  { label: "All validators", emoji: "📋", to: address("validators", { status: "ALL" }) },
  { label: "Outdated", emoji: "⚠️", to: address("validators", { status: "BEHIND" }) },
  { label: "Versions", emoji: "📊", to: address("versions", {}) },
  { label: "Newest", emoji: "🆕", to: address("newcomers", {}) },
];

/** Maximum number of pages of a list to read. One page is usually enough. */
const MAX_PAGES = 10;
const PAGE = { page: 0, size: 100 };

interface SilentSummary {
  readonly rows: readonly ValidatorSummary[];
  /** Number of silent and active validators; null if the explorer does not say. */
  readonly silent: number | null;
  readonly reporting: number | null;
  /** Number of validators whose last report the explorer does not give, among those that were read. */
  readonly unknown: number;
  /** Time of the newest report, epoch ms; null unless the explorer is behind. */
  readonly behindSince: number | null;
  readonly standings: Standings;
  readonly reading: Reading<unknown>;
}

/** The first validators of a list, and the number of all; null if the explorer does not say. */
interface FirstValidators {
  readonly rows: readonly ValidatorSummary[];
  readonly total: number | null;
  readonly reading: Reading<unknown>;
}

/** Returns the number of validators in a list of which this is the first page. The explorer counts those that it sent twice. */
const totalIn = ({ content, totalElements, last, sent, unreadable }: ValidatorPage["data"]): number | null =>
  last === true && totalElements !== null && totalElements <= sent
    ? content.length + unreadable
    : totalElements;

const fromOnePage = perObject(
  (reading: ValidatorPage): FirstValidators => ({
    rows: reading.data.content,
    total: totalIn(reading.data),
    reading,
  }),
);

/** Reads a list of validators until one of them is wanted. */
async function readUntil(
  { explorer }: ScreenContext,
  list: { readonly status: "ACTIVE" | "INACTIVE"; readonly orderBy: "ASC" | "DESC" },
  isWanted: (each: ValidatorSummary) => boolean,
): Promise<FirstValidators> {
  const load = (page: { page: number; size: number }) => explorer.validators({ ...page, ...list });
  const first = await load(PAGE);
  if (first.data.last === true || first.data.content.some(isWanted)) return fromOnePage(first);
  const reading = await readPages("validators", load, (rows) => rows.some(isWanted), MAX_PAGES);
  return { rows: reading.data, total: reading.total, reading };
}

/** Finds the silent validators in the lists of active ones, newest and oldest first, and of inactive ones. */
const summarize = rememberLast(
  (
    intervals: Intervals,
    newest: ValidatorPage,
    oldest: FirstValidators,
    inactive: FirstValidators,
    oldestInactive: FirstValidators,
  ): SilentSummary => {
    const { behindSince, standings, isSilent } = judgeNewest(intervals, newest);
    const silentActive = oldest.rows.filter(isSilent);
    const silentInactive = inactive.rows.filter(isSilent);
    const knownParties = new Set(silentActive.map(({ validator }) => validator));
    const isUnknown = (each: ValidatorSummary) => standings(each).standing === "unknown";
    const activeOnes = [...newest.data.content, ...oldest.rows];
    const unknownActive = new Set(activeOnes.filter(isUnknown).map(({ validator }) => validator)).size;
    // Explorers sort validators without a report first or last.
    const unknownOnes = [...inactive.rows, ...oldestInactive.rows].filter(isUnknown);
    const unknownInactive = new Set(unknownOnes.map(({ validator }) => validator)).size;
    const reportingInactive = inactive.rows.filter((each) => !isSilent(each) && !isUnknown(each)).length;
    const activeTotal = totalIn(newest.data);
    // If all read ones are silent, there may be more.
    const areAllRead =
      oldest.rows.some((each) => !isSilent(each) && !isUnknown(each)) ||
      oldest.rows.length >= (activeTotal ?? 0);
    const isCounted = inactive.total !== null && activeTotal !== null && areAllRead;
    return {
      rows: [...silentActive, ...silentInactive.filter(({ validator }) => !knownParties.has(validator))].sort(
        (a, b) => (b.lastActiveAt ?? 0) - (a.lastActiveAt ?? 0),
      ),
      silent: isCounted ? inactive.total - reportingInactive - unknownInactive + silentActive.length : null,
      reporting: isCounted ? activeTotal + reportingInactive - silentActive.length - unknownActive : null,
      unknown: unknownActive + unknownInactive,
      behindSince,
      standings,
      reading: together(null, newest, oldest.reading, inactive.reading, oldestInactive.reading),
    };
  },
);

/**
 * Reads the validators that are silent by their own reporting interval, most recently seen first. The explorer's status is not
 * enough, because its meaning is not documented: inactive validators may still report, and active ones may be silent.
 */
async function readSilent(context: ScreenContext, intervals: Intervals): Promise<SilentSummary> {
  const { explorer } = context;
  const newest = await explorer.validators(NEWEST);
  const { isSilent, standings } = judgeNewest(intervals, newest);
  const isReporting = (each: ValidatorSummary) => !isSilent(each) && standings(each).standing !== "unknown";
  const isAll = newest.data.last === true;
  const [oldest, inactive] = await Promise.all([
    isAll ? fromOnePage(newest) : readUntil(context, { status: "ACTIVE", orderBy: "ASC" }, isReporting),
    readUntil(context, { status: "INACTIVE", orderBy: "DESC" }, isSilent),
  ]);
  const areAllInactive = inactive.total !== null && inactive.rows.length >= inactive.total;
  const oldestInactive = areAllInactive
    ? inactive
    : await ifAnswered(
        readUntil(
          context,
          { status: "INACTIVE", orderBy: "ASC" },
          (each) => standings(each).standing !== "unknown",
        ),
      );
  return summarize(intervals, newest, oldest, inactive, oldestInactive ?? inactive);
}

/** Validators that the overview names. The lists have all of them. */
const MAX_ROWS = 5;

/** Builds the overview. Its lists come from the cache, and many people open it. @param oldest if no validator is silent */
const show = rememberLast(
  (
    survey: VersionSurvey,
    readAt: number | undefined,
    intervalMs: number,
    found: SilentSummary,
    oldest: ValidatorPage | undefined,
    standstill: Markdown | undefined,
  ): View => {
    const { silent, reporting, unknown, behindSince, standings } = found;
    const rows = (oldest?.data.content ?? found.rows).slice(0, MAX_ROWS);
    const counts =
      silent === null || reporting === null
        ? md`The number of active validators is unknown.`
        : join(
            [
              md`🟢 **${grouped(reporting)}** of ${grouped(reporting + silent + unknown)} active`,
              md`🔴 **${grouped(silent)}** inactive`,
              unknown > 0 && md`⚪ **${grouped(unknown)}** unknown`,
            ],
            " · ",
          );
    const fields = versionFields(survey);
    return {
      title: md`Validators: overview`,
      body: present([
        counts,
        ...behindLine(survey),
        md`-# Validators report about every ${roughly(intervalMs)}. After two missed reports, a validator counts as inactive.`,
        standstill ?? (behindSince !== null && lagLine(behindSince)),
        md``,
        md`**${oldest ? "Least recently seen" : "Recently silent"}**`,
        ...orNothing(
          rows.map((each) => briefRow(each, standings)),
          "validators",
        ),
      ]),
      fields,
      readings: present([
        found.reading,
        oldest,
        readAt !== undefined && fields.length > 0 && { data: null, fetchedAt: readAt, stale: false },
      ]),
      menus: [validatorMenu(rows, standings), listsMenu(survey)],
      links: LINKS,
    };
  },
);

/** Shows an overview for moderators: silent validators, outdated validators, and the versions in use. */
export const overview: Screen<"overview"> = async ({ page }, context) => {
  // Messages of earlier versions have buttons to its later pages.
  if (page > 1) return { to: address("validators", { status: "ALL", order: "ASC", page }) };
  const { directory, explorer, rhythms } = context;
  const intervals = await rhythms.intervals();
  const survey = directory.versions(intervals);
  const found = await readSilent(context, intervals);
  const oldest =
    found.rows.length > 0
      ? undefined
      : await explorer.validators({ ...PAGE, status: "ACTIVE", orderBy: "ASC" });
  const standstill = await standstillLine(rhythms, found.behindSince);
  return show(survey, directory.readAt("validator"), intervals(null).ms, found, oldest, standstill);
};
