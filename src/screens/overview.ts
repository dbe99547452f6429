import { openSlice } from "../explorer/paging.js";
import { compareVersions, isVersion, type VersionSurvey } from "../ledger/versions.js";
import { bold, grouped, join, type Markdown, md, share } from "../text/markdown.js";
import { perObject } from "../util/per-object.js";
import { address } from "./addresses.js";
import { orNothing, version } from "./parts.js";
import { listsMenu, validatorMenu, validatorRow, versionLists } from "./validators.js";
import type { Field, Link, Screen, ScreenContext } from "./view.js";

const MAX_VERSIONS = 5;

/** How many run an older version than most. */
const behindLine = perObject(({ counts, mostCommon }: VersionSurvey): Markdown[] => {
  if (mostCommon === null) return [];
  const behind = [...counts]
    .filter(([each]) => each !== null && isVersion(each) && compareVersions(each, mostCommon) < 0)
    .reduce((sum, [, count]) => sum + count, 0);
  return [
    behind === 0
      ? md`✅ none is behind ${version(mostCommon)}, which most run`
      : md`⚠️ **${grouped(behind)}** active on an older version than ${version(mostCommon)}, which most run`,
  ];
});

/** What most of them run. */
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
  { label: "Recently silent", emoji: "🔴", to: address("validators", { status: "INACTIVE" }) },
  { label: "Behind", emoji: "⚠️", to: address("validators", { status: "BEHIND" }) },
  { label: "Versions", emoji: "📊", to: address("versions", {}) },
  { label: "Newest", emoji: "🆕", to: address("newcomers", {}) },
];

/** A page of all validators: those that went silent, the latest first, and then the active ones, the longest unseen first. */
async function worstFirst({ explorer }: ScreenContext, page: number) {
  const read = (status: "INACTIVE" | "ACTIVE", orderBy: "DESC" | "ASC", wanted: number) =>
    openSlice((at) => explorer.validators({ ...at, status, orderBy }), wanted);
  const [silent, active] = await Promise.all([read("INACTIVE", "DESC", page), read("ACTIVE", "ASC", 1)]);
  const silentPages = silent.data.rows.length > 0 ? silent.data.pages : 0;
  const isActive = page > silentPages;
  const shown = isActive ? await read("ACTIVE", "ASC", page - silentPages) : silent;
  return {
    readings: [silent, shown],
    isActive,
    rows: shown.data.rows,
    pager: {
      page: shown.data.page + (isActive ? silentPages : 0),
      pages: silentPages + (active.data.rows.length > 0 ? active.data.pages : 0) || 1,
    },
    inactive: silent.data.total,
    active: active.data.total,
  };
}

/** What a moderator wants to know first of the validators: who went silent, who is behind, and what they run. */
export const overview: Screen<"overview"> = async ({ page }, context) => {
  const { directory } = context;
  const survey = directory.versions();
  const { rows, pager, readings, isActive, inactive, active } = await worstFirst(context, page);
  const readAt = directory.readAt("validator");
  const counts =
    inactive === null || active === null
      ? md`How many are active is not known.`
      : md`🟢 **${grouped(active)}** of ${grouped(active + inactive)} active · 🔴 **${grouped(inactive)}** inactive`;
  const fields = pager.page === 1 ? versionFields(survey) : [];
  return {
    title: md`Validators: what needs a look`,
    tone: "neutral",
    body: [
      counts,
      ...behindLine(survey),
      md``,
      md`**${isActive ? "Active, least recently seen first" : "Recently silent"}**`,
      ...orNothing(rows.map(validatorRow), "validators"),
    ],
    fields,
    readings: [
      ...readings,
      ...(readAt === undefined || fields.length === 0
        ? []
        : [{ data: null, fetchedAt: readAt, stale: false }]),
    ],
    pager,
    menus: [validatorMenu(rows), listsMenu(survey)],
    links: LINKS,
  };
};
