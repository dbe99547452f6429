import {
  compareVersions,
  isVersion,
  newestCredible,
  type Readiness,
  readinessFor,
  type VersionSurvey,
} from "../../ledger/versions.js";
import { bold, code, join, type Markdown, md } from "../../text/markdown.js";
import { countedWords, grouped } from "../../text/numbers.js";
import { present } from "../../util/present.js";

/** Maximum number of validators that are named. */
const MAX_NAMED = 15;

/** A validator that the server follows. */
export interface FollowedValidator {
  readonly name: string;
  readonly version: string | null;
}

/** The readiness of the network for an upgrade, as far as versions show it. */
export interface ReadinessReport extends Readiness {
  /** The version by which validators are measured. */
  readonly version: string;
  /** True if it was set with `needs`. False if it is the newest one in use. */
  readonly isNamed: boolean;
  /** The newest version in common use, if it is newer than the one that was set, perhaps for an earlier upgrade. */
  readonly newer: string | undefined;
}

/**
 * Counts the active validators that are ready.
 * @param needed the version that an upgrade needs, if a person has set it
 * @returns `undefined` if no version can be compared
 */
export function reportReadiness(
  survey: VersionSurvey,
  needed: string | undefined,
): ReadinessReport | undefined {
  const newest = newestCredible(survey);
  const version = needed ?? newest;
  if (version === null || survey.active === 0) return undefined;
  const newer = newest !== null && compareVersions(newest, version) > 0 ? newest : undefined;
  return { version, isNamed: needed !== undefined, newer, ...readinessFor(version, survey) };
}

/** Says which of the followed validators run an older version. */
function followedLine(followed: readonly FollowedValidator[], version: string): Markdown {
  const behind = followed.filter(
    (each) => each.version !== null && isVersion(each.version) && compareVersions(each.version, version) < 0,
  );
  const unknownCount = followed.filter((each) => each.version === null || !isVersion(each.version)).length;
  const unknown = unknownCount === 0 ? md`` : md` The version of ${unknownCount} is unknown.`;
  if (unknownCount === followed.length)
    return followed.length === 1
      ? md`The version of the validator that this server follows is unknown.`
      : md`The versions of those that this server follows are unknown.`;
  if (behind.length === 0 && unknownCount === 0)
    return followed.length === 1
      ? md`🟢 The validator that this server follows isn't behind.`
      : md`🟢 None of the ${followed.length} validators that this server follows is behind.`;
  if (behind.length === 0) return md`No validator that this server follows is known to be behind.${unknown}`;
  const names = join(
    behind.slice(0, MAX_NAMED).map(({ name, version: own }) => md`${name} ${code(own, 40)}`),
    ", ",
  );
  const moreCount = behind.length - MAX_NAMED;
  return md`⚠️ Validators this server follows that run an older version: ${names}${moreCount > 0 ? md` and ${moreCount} more` : md``}.${unknown}`;
}

/** Returns lines that say how ready the network and the followed validators are. */
export function readinessLines(
  report: ReadinessReport | undefined,
  followed: readonly FollowedValidator[],
  networkOption: Markdown = md``,
): Markdown[] {
  if (!report) return [md`Readiness unknown: no validator's version is known.`];
  const { version, isNamed, newer, ready, behind, unknown } = report;
  const active = ready + behind + unknown;
  const newerHint = newer
    ? md` ${code(newer, 40)} is in common use by now. If ${code(version, 40)} was for an earlier upgrade, change \`needs\` in \`/subscribe upgrades\`${networkOption}, or set it to \`newest\`.`
    : md``;
  return present([
    join(
      [
        md`📊 ${bold(grouped(ready))} of ${countedWords(active, "active validator")} ${active === 1 ? "runs" : "run"} ${code(version, 40)} or newer`,
        md`${grouped(behind)} older`,
        unknown > 0 && md`${grouped(unknown)} unknown`,
      ],
      " · ",
    ),
    followed.length > 0 && followedLine(followed, version),
    isNamed
      ? md`-# Compared with ${code(version, 40)}, the version set for this channel.${newerHint}`
      : md`-# Compared with ${code(version, 40)}, the newest version in common use. The vote doesn't say which version is needed. You can set it with \`needs\` in \`/subscribe upgrades\`${networkOption}.`,
  ]);
}
