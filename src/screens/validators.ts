import { ExplorerError } from "../explorer/errors.js";
import { openSlice } from "../explorer/paging.js";
import type { ValidatorDetail, ValidatorSummary } from "../explorer/schema/validators.js";
import { toUrl } from "../explorer/values.js";
import { countVersions, isBehind, newestVersion } from "../ledger/versions.js";
import { shortId } from "../text/ids.js";
import {
  bytes,
  code,
  codeBlock,
  coins,
  grouped,
  join,
  linkTo,
  type Markdown,
  md,
  timestampWithAge,
} from "../text/markdown.js";
import { cut } from "../text/plain.js";
import { address } from "./addresses.js";
import { activity, extent, named, orNothing, pageOf, perRow, row, rowMenu, seen, version } from "./parts.js";
import type { Choice, Field, Menu, Screen, ScreenContext, View } from "./view.js";

const toRow = perRow((each: ValidatorSummary) =>
  row(
    md`${activity(each.active)} · ${named(each.validatorName, each.validator)}`,
    md`-# ${seen(each.lastActiveAt)} · ${version(each.version)} · rewards ${coins(each.totalRewards, 2)}`,
  ),
);

const toChoice = perRow((each: ValidatorSummary): Choice | undefined =>
  each.validator === null
    ? undefined
    : {
        label: each.validatorName ?? shortId(each.validator),
        hint: each.validatorName === null ? undefined : shortId(each.validator),
        emoji: each.active === null ? "⚪" : each.active ? "🟢" : "🔴",
        to: address("validator", { id: each.validator }),
      },
);

const openMenu = (rows: readonly ValidatorSummary[]): Menu => rowMenu(rows, "Open a validator…", toChoice);

const STATUSES = { ALL: "All validators", ACTIVE: "Active ones", INACTIVE: "Inactive ones" } as const;
const ORDERS = { DESC: "last seen first", ASC: "longest unseen first" } as const;

/** The validators by when they were last seen. */
export const validators: Screen<"validators"> = async ({ status, order, page }, { explorer }) => {
  const reading = await openSlice((at) => explorer.validators({ ...at, status, orderBy: order }), page);
  const slice = reading.data;
  const statuses = ["ALL", "ACTIVE", "INACTIVE"] as const;
  const orders = ["DESC", "ASC"] as const;
  return {
    title: md`${STATUSES[status]}, ${ORDERS[order]}`,
    tone: "neutral",
    body: [
      ...orNothing(slice.rows.map(toRow), "such validators"),
      md``,
      md`-# ${extent(slice, "validators")}`,
    ],
    readings: [reading],
    pager: slice,
    menus: [
      openMenu(slice.rows),
      {
        placeholder: "Show others…",
        choices: statuses.flatMap((each) =>
          orders.map((by) => ({
            label: `${STATUSES[each]}, ${ORDERS[by]}`,
            to: address("validators", { status: each, order: by }),
            chosen: each === status && by === order,
          })),
        ),
      },
    ],
    links: [
      { label: "Newest", emoji: "🆕", to: address("newcomers", {}) },
      { label: "Versions", emoji: "📊", to: address("versions", {}) },
    ],
  };
};

/** How many of the newest are fetched: `/validators/new` has no pages. */
const NEWCOMERS = 100;

/** The validators that joined last. */
export const newcomers: Screen<"newcomers"> = async ({ page }, { explorer }) => {
  const reading = await explorer.newValidators({ size: NEWCOMERS });
  const slice = pageOf(reading.data, page);
  return {
    title: md`Newest validators`,
    tone: "neutral",
    body: [
      ...orNothing(slice.rows.map(toRow), "new validators"),
      md``,
      md`-# The ${extent(slice, "newest")}`,
    ],
    readings: [reading],
    pager: slice,
    menus: [openMenu(slice.rows)],
    links: [{ label: "All validators", emoji: "📋", to: address("validators", {}) }],
  };
};

function trafficField({ trafficStatus, isSv }: ValidatorDetail): Field {
  const { actual, target, availableTraffic } = trafficStatus;
  if (actual.total_consumed === null && availableTraffic === null && target.total_purchased === null)
    return { name: "Extra traffic", value: md`not known`, inline: true };
  // Super validators have no limit: theirs says nothing of what is left.
  const lines = isSv
    ? [md`used ${bytes(actual.total_consumed)} (no limit)`]
    : [
        md`used ${bytes(actual.total_consumed)} of ${bytes(target.total_purchased ?? actual.total_limit)}`,
        ...(availableTraffic === null ? [] : [md`left ${bytes(availableTraffic)}`]),
      ];
  return { name: "Extra traffic", value: join(lines, "\n"), inline: true };
}

/** Links that strangers typed in: those that are http(s) as links, the others as text. */
function contactField(detail: ValidatorDetail): Field[] {
  const entries = [
    ["Website", detail.website],
    ["Discord", detail.discord ?? detail.discordContact],
    ["X", detail.twitter],
    ["GitHub", detail.github],
    ["Telegram", detail.telegram],
  ] as const;
  const lines = entries.flatMap(([label, text]) => {
    if (text === null) return [];
    const url = toUrl(text);
    return [url ? linkTo(label, url) : md`${label}: ${code(text, 80)}`];
  });
  return lines.length > 0 ? [{ name: "Links, as the validator gives them", value: join(lines, "\n") }] : [];
}

/** Whether a validator runs what most newer ones run; nothing where that is not known. */
function versionText(running: string | null, newest: string | null): Markdown {
  if (running === null) return md`unknown`;
  const behind = isBehind(running, newest);
  if (behind === undefined) return version(running);
  return behind
    ? md`${version(running)}\n⚠️ behind ${version(newest)}`
    : md`${version(running)}\n✅ up to date`;
}

/**
 * A validator that `/validators/{id}` does not know. `/validators/{id}/exist` has the last word on whether there is one.
 * @throws {ExplorerError} "missing" where there is none
 */
async function withoutDetails(
  id: string,
  { explorer }: ScreenContext,
  missing: ExplorerError,
): Promise<View> {
  const exists = await explorer.validatorExists({ validatorId: id });
  if (!exists.data) throw missing;
  return {
    title: md`${shortId(id)}`,
    tone: "warning",
    body: [md`There is such a validator, but the explorer gives no details of it at the moment.`],
    fields: [{ name: "Party id", value: codeBlock(id) }],
    readings: [exists],
    links: [{ label: "Party", emoji: "👤", to: address("party", { id }) }],
    parent: address("validators", {}),
  };
}

/** One validator: is it alive? Shown apart: what the explorer calls active, and when it was last seen. */
export const validator: Screen<"validator"> = async ({ id }, context) => {
  const reading = await context.explorer.validator({ validatorId: id }).catch((error: unknown) => {
    if (error instanceof ExplorerError && error.problem === "missing") return error;
    throw error;
  });
  if (reading instanceof ExplorerError) return withoutDetails(id, context, reading);
  const detail = reading.data;
  const party = detail.validator ?? id;
  const { description } = detail;
  return {
    title: md`${detail.validatorName ?? shortId(party)}`,
    tone: detail.active === null ? "neutral" : detail.active ? "good" : "bad",
    thumbnail: detail.validatorImg,
    body: [
      md`${activity(detail.active)} · last seen ${timestampWithAge(detail.lastActiveAt)}`,
      ...(description === null ? [] : [md`${cut(description, 600)}`]),
    ],
    fields: [
      {
        name: "Version",
        value: versionText(
          detail.version,
          newestVersion(countVersions(context.directory.entries("validator"))),
        ),
        inline: true,
      },
      {
        name: "Kind",
        value: detail.isSv ? md`super validator` : detail.isSv === null ? md`unknown` : md`validator`,
        inline: true,
      },
      { name: "Sponsor", value: named(detail.sponsorName, detail.sponsor), inline: true },
      trafficField(detail),
      { name: "Since", value: timestampWithAge(detail.createdAt), inline: true },
      ...(detail.validatorFee === null
        ? []
        : [{ name: "Fee", value: md`${grouped(detail.validatorFee)}`, inline: true }]),
      ...contactField(detail),
      { name: "Party id", value: codeBlock(party) },
    ],
    readings: [reading],
    links: [
      { label: "Party", emoji: "👤", to: address("party", { id: party }) },
      { label: "Rewards", emoji: "🏅", to: address("rewards", { id: party }) },
      ...(detail.sponsor === null || detail.sponsor === party
        ? []
        : [{ label: "Sponsor", emoji: "🤝", to: address("validator", { id: detail.sponsor }) }]),
    ],
    parent: address("validators", {}),
  };
};
