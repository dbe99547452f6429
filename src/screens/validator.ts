import { isLoading } from "../directory/directory.js";
import { ExplorerError } from "../explorer/errors.js";
import type { ValidatorDetail } from "../explorer/schema/validators.js";
import { toUrl } from "../explorer/values.js";
import { compareVersions, isMajority, type VersionSurvey, versionsBehind } from "../ledger/versions.js";
import { shortId } from "../text/ids.js";
import { code, codeBlock, join, linkTo, type Markdown, md, timestampWithAge } from "../text/markdown.js";
import { bytes, countedWords, share } from "../text/numbers.js";
import { capitalized, cut } from "../text/plain.js";
import { pastTime } from "../util/clock.js";
import { present } from "../util/present.js";
import { MINUTE } from "../util/units.js";
import { address } from "./addresses.js";
import { happenedOn, namedLine, rhythmWords, STANDINGS, version } from "./parts.js";
import { disagreement, judgeShown } from "./standings.js";
import type { Field, Screen, ScreenContext, View } from "./view.js";

/** Formats the used and bought traffic. Either may be unknown. */
function usedOf(used: string | null, bought: string | null): Markdown {
  if (bought === null) return md`used ${bytes(used)}`;
  return used === null
    ? md`bought ${bytes(bought)}, used unknown`
    : md`used ${bytes(used)} of ${bytes(bought)}`;
}

/** Names the kind of a validator, which may be unknown. */
function kindOf(isSv: boolean | null): string {
  if (isSv === null) return "unknown";
  return isSv ? "super validator" : "validator";
}

function trafficField({ trafficStatus, isSv }: ValidatorDetail): Field {
  const { actual, target, availableTraffic } = trafficStatus;
  const knownValues = [actual.total_consumed, actual.total_limit, target.total_purchased, availableTraffic];
  if (knownValues.every((each) => each === null))
    return { name: "Extra traffic", value: md`unknown`, inline: true };
  // Super validators have no traffic limit.
  const trafficLines = isSv
    ? [md`used ${bytes(actual.total_consumed)} (no limit)`]
    : present([
        usedOf(actual.total_consumed, target.total_purchased ?? actual.total_limit),
        availableTraffic !== null && md`left ${bytes(availableTraffic)}`,
      ]);
  return { name: "Extra traffic", value: join(trafficLines, "\n"), inline: true };
}

/** Maximum length of a link, so that all links of a validator fit into a field (Discord: 1,024 characters). */
const MAX_LINK = 180;

/** Returns a validator's untrusted links. Only http(s) URLs of usual length become links, the others stay text. */
export function contactLines(detail: ValidatorDetail): Markdown[] {
  const entries = [
    ["Website", detail.website],
    ["Discord", detail.discord ?? detail.discordContact],
    ["X", detail.twitter],
    ["GitHub", detail.github],
    ["Telegram", detail.telegram],
  ] as const;
  return entries.flatMap(([label, text]) => {
    if (text === null) return [];
    const url = toUrl(text);
    const link = url === null ? undefined : linkTo(label, url);
    // Some characters of an address are written as three.
    return [link && link.toString().length <= MAX_LINK ? link : md`${label}: ${code(text, 80)}`];
  });
}

function contactField(detail: ValidatorDetail): Field[] {
  const lines = contactLines(detail);
  return lines.length > 0 ? [{ name: "Links given by the validator", value: join(lines, " · ") }] : [];
}

/** Compares a validator's version with the most common and the newest one. */
function versionText(running: string | null, survey: VersionSurvey, isListLoading: boolean): Markdown {
  const { counts, active, mostCommon, newest } = survey;
  if (running === null) return md`unknown`;
  const versionsLate = versionsBehind(running, mostCommon, survey);
  const behindNewest = versionsBehind(running, newest, survey);
  if (isListLoading) return md`${version(running)}\n-# other validators' versions are still loading`;
  if (versionsLate === undefined || behindNewest === undefined || mostCommon === null)
    return version(running);
  const part = share(counts.get(mostCommon) ?? 0, active);
  const commonVersion = md`${version(mostCommon)}, ${isMajority(survey) ? "which most run" : "the most common version"} (${part})`;
  const isAhead = compareVersions(running, mostCommon) > 0;
  const notLate = isAhead
    ? md`ahead of ${commonVersion}`
    : md`✅ ${isMajority(survey) ? "same as most" : "the most common version"} (${part})`;
  return join(
    [
      version(running),
      versionsLate > 0 ? md`⚠️ ${countedWords(versionsLate, "version")} behind ${commonVersion}` : notLate,
      behindNewest > versionsLate &&
        md`-# ${behindNewest === 1 ? "1 version" : `${behindNewest} versions`} behind the newest seen, ${version(newest)}, run by ${counts.get(newest) ?? 0}`,
      behindNewest === 0 && !isAhead && versionsLate === 0 && md`-# no newer version seen`,
    ],
    "\n",
  );
}

/**
 * Renders a validator that `/validators/{id}` does not know, if `/validators/{id}/exist` says that it exists.
 * @throws {ExplorerError} "missing" if it does not exist
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
    body: [md`This validator exists, but the explorer has no details right now.`],
    fields: [{ name: "Party id", value: codeBlock(id) }],
    readings: [exists],
    links: [{ label: "Party", emoji: "👤", to: address("party", { id }) }],
    watchedAs: null,
    parent: address("validators", {}),
  };
}

const TONES = { reporting: "good", late: "warning", silent: "bad", unknown: "neutral" } as const;

/** Shows a validator. Its state follows from its own reporting interval, because the explorer's status is not documented. */
export const validator: Screen<"validator"> = async ({ id }, context) => {
  const reading = await context.explorer.validator({ validatorId: id }).catch((error: unknown) => {
    if (error instanceof ExplorerError && error.problem === "missing") return error;
    throw error;
  });
  if (reading instanceof ExplorerError) return withoutDetails(id, context, reading);
  const detail = reading.data;
  const party = detail.validator ?? id;
  const { description } = detail;
  const intervals = await context.rhythms.intervals();
  const interval = intervals(party);
  // Since Splice 0.6.9 every report sets the sponsor to the validator itself (docs/ledger.md).
  const hasSponsor = detail.sponsor !== null && detail.sponsor !== party;
  const reportedAt = pastTime(detail.lastActiveAt, reading.fetchedAt);
  const row = { validator: party, lastActiveAt: detail.lastActiveAt };
  const { standings, lines } = await judgeShown(context, [row], reading.fetchedAt);
  const { standing } = standings(row);
  const differs = disagreement(standing, detail.active);
  // Each report creates the licence again, so the time of the contract may be that of the report.
  const isOfReport =
    detail.createdAt !== null && reportedAt !== null && detail.createdAt >= reportedAt - MINUTE;
  return {
    title: md`${detail.validatorName ?? shortId(party)}`,
    tone: TONES[standing],
    thumbnail: detail.validatorImg,
    body: present([
      md`${STANDINGS[standing]} · last report ${timestampWithAge(reportedAt)}; ${rhythmWords(interval)}`,
      differs ? md`-# ${capitalized(differs)}.` : undefined,
      ...lines,
      description !== null && md`${cut(description, 600)}`,
    ]),
    fields: present([
      {
        name: "Version",
        value: versionText(
          detail.version,
          context.directory.versions(intervals),
          isLoading(context.directory, ["validator"]),
        ),
        inline: true,
      },
      {
        name: "Kind",
        value: join(
          [
            md`${kindOf(detail.isSv)}`,
            detail.isVerified !== null && md`${detail.isVerified ? "✅ verified" : "not verified"}`,
          ],
          "\n",
        ),
        inline: true,
      },
      hasSponsor && { name: "Sponsor", value: namedLine(detail.sponsorName, detail.sponsor), inline: true },
      trafficField(detail),
      {
        name: isOfReport ? "Current licence since" : "Joined",
        value: happenedOn(detail.createdAt),
        inline: true,
      },
      ...contactField(detail),
      { name: "Party id", value: codeBlock(party) },
    ]),
    readings: [reading],
    links: present([
      { label: "Party", emoji: "👤", to: address("party", { id: party }) },
      { label: "Rewards", emoji: "🏅", to: address("rewards", { id: party }) },
      hasSponsor &&
        detail.sponsor !== null && {
          label: "Sponsor",
          emoji: "🤝",
          to: address("validator", { id: detail.sponsor }),
        },
    ]),
    watchedAs: party,
    explorerPage: { kind: "validator", id: party },
    parent: address("validators", {}),
  };
};
