import type { UpgradeDecision } from "../../ledger/upgrades.js";
import { compareVersions, isVersion, newestCredible } from "../../ledger/versions.js";
import { CLOCK_ERROR_MS } from "../../util/clock.js";
import { defined } from "../../util/present.js";
import { DAY } from "../../util/units.js";
import type { ValidatorWatch } from "./collections.js";
import type { WatchedValidator } from "./memory.js";
import type { Poll } from "./poll.js";

/** Days before an upgrade of the network at which people are warned. */
const WARNING_DAYS = [1, 2] as const;

/**
 * Decides if a person is warned that a validator is behind before an upgrade: two days and one day before it, once each.
 * @param upgradeAt time of the upgrade, epoch ms. `undefined` if none is scheduled
 * @returns the days before the upgrade of a warning that is due
 */
export function dueWarning(
  upgradeAt: number | undefined,
  isBehind: boolean,
  told: ValidatorWatch["toldUpgrade"],
  now: number,
): number | undefined {
  if (upgradeAt === undefined || upgradeAt <= now || !isBehind) return undefined;
  const days = WARNING_DAYS.find((each) => upgradeAt - now <= each * DAY);
  // A warning whose time is still ahead was sent while the clock was wrong.
  const isTold =
    told?.at === upgradeAt &&
    days !== undefined &&
    told.days <= days &&
    told.at - told.days * DAY <= now + CLOCK_ERROR_MS;
  return isTold ? undefined : days;
}

/**
 * True if a later vote has moved or cancelled the upgrade that a person was warned of. A list without the vote that scheduled it shows an
 * earlier one, which proves nothing.
 */
export const isRescheduled = (
  { at, decidedAt }: NonNullable<ValidatorWatch["toldUpgrade"]>,
  decision: Pick<UpgradeDecision, "at" | "schedule">,
  now: number,
): boolean =>
  decidedAt !== undefined && decision.at > decidedAt && at > now && decision.schedule?.upgradeAt !== at;

/**
 * Warns a person of an upgrade of the network that their validator is not ready for, and says so if that upgrade is moved or cancelled
 * meanwhile. Returns the warning to remember.
 */
export function warnOfUpgrade(
  { survey, upgradeDecision, found, now }: Poll,
  { validator, subscription: { userId, channelId }, watch: { toldUpgrade } }: WatchedValidator,
  running: string | null,
): ValidatorWatch["toldUpgrade"] {
  const target = newestCredible(survey);
  if (!upgradeDecision || userId === null || running === null || !isVersion(running) || target === null)
    return toldUpgrade;
  const { at: decidedAt, schedule: { upgradeAt } = {} } = upgradeDecision;
  const isBehind = compareVersions(running, target) < 0;
  const days = dueWarning(upgradeAt, isBehind, toldUpgrade, now);
  if (upgradeAt !== undefined && days !== undefined) {
    const isMoved = toldUpgrade !== undefined && toldUpgrade.at !== upgradeAt && toldUpgrade.at > now;
    found.events.push({
      kind: "upgrade",
      channelId,
      validator,
      upgradeAt,
      days,
      target,
      running,
      ...defined({ movedFrom: isMoved ? toldUpgrade.at : undefined }),
    });
    return { at: upgradeAt, days, decidedAt };
  }
  if (!toldUpgrade || !isRescheduled(toldUpgrade, upgradeDecision, now)) return toldUpgrade;
  const { at: warnedOf } = toldUpgrade;
  if (isBehind)
    found.events.push({
      kind: "rescheduled",
      channelId,
      validator,
      warnedOf,
      decidedAt,
      ...defined({ upgradeAt }),
    });
  return undefined;
}
