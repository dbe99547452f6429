import { activeIn } from "../directory/active.js";
import { openSlice, type Slice } from "../explorer/paging.js";
import type { ValidatorSummary } from "../explorer/schema/validators.js";
import type { Reading } from "../explorer/service.js";
import { compareVersions, isVersion, type VersionSurvey } from "../ledger/versions.js";
import { fingerprint, shortId } from "../text/ids.js";
import { columnCoins, type Markdown, md, timestamp } from "../text/markdown.js";
import { cut } from "../text/plain.js";
import { pastTime } from "../util/clock.js";
import { perObject } from "../util/per-object.js";
import { present } from "../util/present.js";
import { address, type ParametersOf } from "./addresses.js";
import { checkReadable, directoryReading } from "./directory-reading.js";
import {
  extent,
  namedLine,
  orNothing,
  pageOf,
  row,
  rowMenu,
  STANDING_SIGNS,
  STANDINGS,
  seenWords,
  version,
} from "./parts.js";
import { directoryStandings, disagreement, type Intervals, judgeShown, type Standings } from "./standings.js";
import { standstillLine } from "./standstill.js";
import type { Choice, Menu, Screen, ScreenContext } from "./view.js";

/** A validator in a list, from the explorer or from the directory. */
export type ListedValidator = Pick<
  ValidatorSummary,
  "validator" | "validatorName" | "active" | "version" | "lastActiveAt"
> &
  Partial<Pick<ValidatorSummary, "totalRewards">>;

const nameOf = perObject((each: ListedValidator) => namedLine(each.validatorName, each.validator));
const detailsOf = perObject(
  (each: ListedValidator) =>
    md`-# ${seenWords(each.lastActiveAt)} · ${version(each.version)}${each.totalRewards == null ? md`` : md` · rewards ${columnCoins(each.totalRewards)}`}`,
);

/** Formats a validator in two lines: its reporting state and name, then its last report, version and rewards. */
function validatorRow(each: ListedValidator, standings: Standings): Markdown {
  const { standing } = standings(each);
  const differs = disagreement(standing, each.active);
  const details = differs ? md`${detailsOf(each)} · ${differs}` : detailsOf(each);
  return row(md`${STANDINGS[standing]} · ${nameOf(each)}`, details);
}

/** Formats a validator in one line: its sign, its name, its last report and its version. */
export const briefRow = (each: ListedValidator, standings: Standings): Markdown =>
  md`${STANDING_SIGNS[standings(each).standing]} **${nameOf(each)}** · ${timestamp(pastTime(each.lastActiveAt, Date.now()))} · ${version(each.version)}`;

/** Returns the rows of validators that joined, without their reporting state. A single one is named by the news above it. */
export const joinedRows = (all: readonly ListedValidator[]): Markdown[] =>
  all.map((each) => (all.length === 1 ? detailsOf(each) : row(md`🆕 ${nameOf(each)}`, detailsOf(each))));

const toChoice = perObject((each: ListedValidator): Choice | undefined =>
  each.validator === null
    ? undefined
    : {
        label: each.validatorName ?? shortId(each.validator),
        hint: each.validatorName === null ? undefined : fingerprint(each.validator),
        to: address("validator", { id: each.validator }),
      },
);

const toSignedChoice = perObject((standings: Standings) =>
  perObject((each: ListedValidator): Choice | undefined => {
    const choice = toChoice(each);
    return choice && { ...choice, emoji: STANDING_SIGNS[standings(each).standing] };
  }),
);

/** Returns a menu that opens a validator. */
export const validatorMenu = (rows: readonly ListedValidator[], standings?: Standings): Menu =>
  rowMenu(rows, "Open a validator…", standings ? toSignedChoice(standings) : toChoice);

const LISTS = (
  [
    ["Outdated", { status: "BEHIND", order: "DESC" }],
    ["Most recently seen", { status: "ALL", order: "DESC" }],
    ["Least recently seen", { status: "ALL", order: "ASC" }],
    ["Active, most recently seen", { status: "ACTIVE", order: "DESC" }],
    ["Active, least recently seen", { status: "ACTIVE", order: "ASC" }],
    ["Inactive, most recently seen", { status: "INACTIVE", order: "DESC" }],
    ["Inactive, least recently seen", { status: "INACTIVE", order: "ASC" }],
    ["Outdated, least recently seen", { status: "BEHIND", order: "ASC" }],
  ] as const
).map(([label, list]) => ({ ...list, choice: { label, to: address("validators", list) } }));

type ValidatorListParameters = ParametersOf<"validators">;

/** Maximum number of versions in a menu, and maximum length of a version. Longer ones would not fit an address. */
const MAX_VERSIONS = 10;
const MAX_LISTED = 40;

/** Returns the most common versions of active validators and the newest one, newest first. */
export const versionLists = perObject(({ counts, newest }: VersionSurvey) =>
  [...counts]
    .flatMap(([each, count]) =>
      each !== null && isVersion(each) && each.length <= MAX_LISTED ? [{ version: each, count }] : [],
    )
    .sort((a, b) => Number(b.version === newest) - Number(a.version === newest) || b.count - a.count)
    .slice(0, MAX_VERSIONS)
    .sort((a, b) => compareVersions(b.version, a.version)),
);

const versionChoices = perObject((survey: VersionSurvey) =>
  versionLists(survey).map(({ version: each, count }) => ({
    version: each,
    choice: { label: `On ${each} (${count})`, to: address("validators", { version: each }) },
  })),
);

/** Returns a menu of the lists of validators: by status, and by version. */
export function listsMenu(survey: VersionSurvey, shown?: ValidatorListParameters): Menu {
  const isShown = ({ status, order }: { status: string; order: string }) =>
    !shown?.version && shown?.status === status && shown.order === order;
  const marked = (choice: Choice, chosen: boolean): Choice => (chosen ? { ...choice, chosen } : choice);
  return {
    placeholder: "Show a list…",
    choices: [
      ...LISTS.map((each) => marked(each.choice, isShown(each))),
      ...versionChoices(survey).map((each) => marked(each.choice, each.version === shown?.version)),
    ],
  };
}

function titleOf({ status, order, version: wanted }: ValidatorListParameters): Markdown {
  if (wanted) return md`Active validators on ${cut(wanted, 40)}`;
  const knownList = LISTS.find((each) => each.status === status && each.order === order);
  return md`Validators: ${knownList?.choice.label.replace(/^./, (letter) => letter.toLowerCase())}`;
}

/**
 * Returns active validators from the directory: those on one version, or on an older version than the most common one.
 * `undefined` until the directory has been read.
 */
async function fromDirectory(
  { directory, explorer }: Pick<ScreenContext, "directory" | "explorer">,
  { order, page, version: wanted }: ValidatorListParameters,
  intervals: Intervals,
): Promise<Reading<Slice<ListedValidator>> | undefined> {
  const readAt = directory.readAt("validator");
  if (readAt === undefined) return undefined;
  const entries = directory.entries("validator");
  const { mostCommon } = directory.versions(intervals);
  const isActive = activeIn(directory, intervals);
  const isWanted = (running: string | null | undefined) =>
    wanted
      ? running === wanted
      : running != null &&
        mostCommon !== null &&
        isVersion(running) &&
        compareVersions(running, mostCommon) < 0;
  const rows = entries
    .filter((each) => isWanted(each.version) && isActive(each))
    .sort((a, b) => ((b.seenAt ?? 0) - (a.seenAt ?? 0)) * (order === "DESC" ? 1 : -1))
    .map(({ id, name, active, version: running = null, seenAt = null }) => ({
      validator: id,
      validatorName: name,
      active,
      version: running,
      lastActiveAt: seenAt,
    }));
  return directoryReading(explorer, pageOf(rows, page), readAt);
}

const STILL_READING =
  "The list of validators is still loading. Please try again in a minute. The other lists already work.";

const EXPLORERS_COUNT = md`-# The explorer chooses this list. The signs show how I judge the last reports.`;

/** Lists validators by the time of their last report. */
export const validators: Screen<"validators"> = async (parameters, context) => {
  const { explorer, directory, rhythms } = context;
  const { status, order, page, version: wanted } = parameters;
  const isInDirectory = Boolean(wanted) || status === "BEHIND";
  const intervals = await rhythms.intervals();
  const reading: Reading<Slice<ListedValidator>> | undefined = isInDirectory
    ? await fromDirectory(context, parameters, intervals)
    : await openSlice((at) => explorer.validators({ ...at, status, orderBy: order }), page);
  const links = [
    { label: "Overview", emoji: "🩺", to: address("overview", {}) },
    { label: "Newest", emoji: "🆕", to: address("newcomers", {}) },
    { label: "Versions", emoji: "📊", to: address("versions", {}) },
  ];
  const title = titleOf(parameters);
  if (!reading) {
    await checkReadable(explorer);
    return { title, body: [md`${STILL_READING}`], readings: [], links };
  }
  const slice = reading.data;
  const { standings, lines } = isInDirectory
    ? { standings: directoryStandings(directory, intervals), lines: present([await standstillLine(rhythms)]) }
    : await judgeShown(context, slice.rows, reading.fetchedAt);
  const isByExplorer = !isInDirectory && status !== "ALL";
  return {
    title,
    body: present([
      ...lines,
      ...orNothing(
        slice.rows.map((each) => validatorRow(each, standings)),
        "such validators",
      ),
      md``,
      isByExplorer && EXPLORERS_COUNT,
      md`-# ${extent(slice, "validator")}`,
    ]),
    readings: [reading],
    pager: slice,
    menus: [validatorMenu(slice.rows, standings), listsMenu(directory.versions(intervals), parameters)],
    links,
  };
};

/** Number of newest validators to read: `/validators/new` has no pages. */
export const NEWCOMERS = 100;

/** Lists the newest validators. */
export const newcomers: Screen<"newcomers"> = async ({ page }, context) => {
  const reading = await context.explorer.newValidators({ size: NEWCOMERS });
  const slice = pageOf(reading.data, page);
  const { standings, lines } = await judgeShown(context, slice.rows, reading.fetchedAt);
  return {
    title: md`Newest validators`,
    body: [
      ...lines,
      ...orNothing(
        slice.rows.map((each) => validatorRow(each, standings)),
        "new validators",
      ),
      md``,
      md`-# ${extent(slice, "newest validator", "newest validators")}`,
    ],
    readings: [reading],
    pager: slice,
    menus: [validatorMenu(slice.rows, standings)],
    links: [{ label: "All validators", emoji: "📋", to: address("validators", {}) }],
  };
};
