import { ExplorerError } from "../explorer/errors.js";
import type { ValidatorDetail } from "../explorer/schema/validators.js";
import { toUrl } from "../explorer/values.js";
import { compareVersions, type VersionSurvey, versionsBehind } from "../ledger/versions.js";
import { shortId } from "../text/ids.js";
import {
  bytes,
  code,
  codeBlock,
  counted,
  grouped,
  join,
  linkTo,
  type Markdown,
  md,
  share,
  timestampWithAge,
} from "../text/markdown.js";
import { cut } from "../text/plain.js";
import { address } from "./addresses.js";
import { activity, named, version, watchLink } from "./parts.js";
import type { Field, Screen, ScreenContext, View } from "./view.js";

/** How much is used of how much; what is not known is not a number. */
const usedOf = (used: string | null, bought: string | null): Markdown =>
  bought === null
    ? md`used ${bytes(used)}`
    : used === null
      ? md`bought ${bytes(bought)}; used: not known`
      : md`used ${bytes(used)} of ${bytes(bought)}`;

function trafficField({ trafficStatus, isSv }: ValidatorDetail): Field {
  const { actual, target, availableTraffic } = trafficStatus;
  const known = [actual.total_consumed, actual.total_limit, target.total_purchased, availableTraffic];
  if (known.every((each) => each === null))
    return { name: "Extra traffic", value: md`not known`, inline: true };
  // Super validators have no limit: theirs says nothing of what is left.
  const lines = isSv
    ? [md`used ${bytes(actual.total_consumed)} (no limit)`]
    : [
        usedOf(actual.total_consumed, target.total_purchased ?? actual.total_limit),
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

/** What a validator runs, beside what most run and the newest that was seen. */
function versionText(running: string | null, survey: VersionSurvey): Markdown {
  const { counts, active, mostCommon, newest } = survey;
  if (running === null) return md`not known`;
  const behind = versionsBehind(running, mostCommon, survey);
  const behindNewest = versionsBehind(running, newest, survey);
  if (active === 0) return md`${version(running)}\n-# what others run is still being read`;
  if (behind === undefined || behindNewest === undefined || mostCommon === null) return version(running);
  const most = md`${version(mostCommon)}, which most run (${share(counts.get(mostCommon) ?? 0, active)})`;
  const isAhead = compareVersions(running, mostCommon) > 0;
  return join(
    [
      version(running),
      behind > 0
        ? md`⚠️ ${counted(behind, "version")} behind ${most}`
        : isAhead
          ? md`ahead of ${most}`
          : md`✅ what most run (${share(counts.get(mostCommon) ?? 0, active)})`,
      behindNewest > behind &&
        md`-# ${behindNewest === 1 ? "1 version" : `${behindNewest} versions`} behind the newest seen, ${version(newest)}, run by ${counts.get(newest) ?? 0}`,
      behindNewest === 0 && !isAhead && behind === 0 && md`-# no newer version seen`,
    ],
    "\n",
  );
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
    body: [md`This validator exists, but the explorer has no details of it right now.`],
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
        value: versionText(detail.version, context.directory.versions()),
        inline: true,
      },
      {
        name: "Kind",
        value: join(
          [
            md`${detail.isSv ? "super validator" : detail.isSv === null ? "not known" : "validator"}`,
            detail.isVerified !== null && md`${detail.isVerified ? "✅ verified" : "not verified"}`,
          ],
          "\n",
        ),
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
      watchLink("validator", party),
    ],
    explorerPage: { kind: "validator", id: party },
    parent: address("validators", {}),
  };
};
