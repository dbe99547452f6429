import { utcDate, utcDay } from "../text/markdown.js";
import { HOUR } from "../util/units.js";
import type { ConfigChange } from "./configuration.js";
import type { Value } from "./units.js";

/** The network's next upgrade, as the ledger's rules schedule it. */
export interface UpgradeSchedule {
  /** When transactions pause, epoch ms. */
  readonly upgradeAt: number;
  /** Start of the freeze: no new parties or packages, epoch ms. null if the schedule has none. */
  readonly freezeAt: number | null;
}

/** Time after an upgrade within which it is still news, in ms: people may look why their transactions pause. */
const UPGRADE_NEWS_MS = 6 * HOUR;

/** True if an upgrade is ahead or was due lately. */
export const isAheadOrRecent = ({ upgradeAt }: Pick<UpgradeSchedule, "upgradeAt">, now: number): boolean =>
  upgradeAt + UPGRADE_NEWS_MS > now;

/** Changes of the schedule by a vote request, epoch ms. null removes a time, and a missing one stays as it is. */
export interface UpgradeChange {
  readonly upgradeAt?: number | null;
  readonly freezeAt?: number | null;
  /** Time of an upgrade of the older kind, which the rules schedule on its own. */
  readonly olderUpgradeAt?: number | null;
}

/** A vote request that may have changed the schedule. */
export interface UpgradeVote {
  readonly upgradeChange?: UpgradeChange | null;
  /** When the request took or takes effect, epoch ms. Missing if it has not been accepted. */
  readonly acceptedFor?: number;
  readonly openedAt?: number | null | undefined;
}

/** Paths of the times in the rules: of logical upgrades, and of the older kind. */
const TIMES = [
  ["upgradeAt", "nextScheduledLogicalSynchronizerUpgrade.upgradeTime"],
  ["olderUpgradeAt", "nextScheduledSynchronizerUpgrade.time"],
  ["freezeAt", "nextScheduledLogicalSynchronizerUpgrade.topologyFreezeTime"],
] as const satisfies readonly (readonly [name: keyof UpgradeChange, path: string])[];

/** Returns the fields of a configuration that schedule an upgrade. */
export const scheduleIn = (configuration: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(configuration).filter(([name]) => name.startsWith("nextScheduled")));

/** Returns the names of the fields that would schedule an upgrade, and are empty. */
export const emptySchedulesIn = (configuration: Readonly<Record<string, unknown>>): string[] =>
  Object.entries(scheduleIn(configuration)).flatMap(([name, value]) => (value === null ? [name] : []));

const timeIn = (value: Value | null): number | null => (value && "time" in value ? value.time : null);

/** Says when an upgrade is: "transactions pause on 12 December at 15:00 UTC". */
export const pauseWords = (at: number): string => `transactions pause on ${utcDate(at)}`;

/**
 * Returns a summary if the changes of a configuration set, move or remove the next upgrade or its freeze.
 * @param openedAt when the vote request was opened, epoch ms. An upgrade before it is over, and its time may still be in the
 * configuration
 */
export function upgradeSummary(
  changes: readonly ConfigChange[],
  openedAt: number | null,
): readonly [string] | null {
  const times = changes.filter(({ path }) => TIMES.some(([name, at]) => name !== "freezeAt" && at === path));
  // The older kind may be removed while the newer one is set. If both are set, the earlier one is the next upgrade.
  const [change = times[0]] = times
    .filter(({ to }) => timeIn(to) !== null)
    .toSorted((a, b) => (timeIn(a.to) ?? 0) - (timeIn(b.to) ?? 0));
  const [from, after] = [timeIn(change?.from ?? null), timeIn(change?.to ?? null)];
  const isOver = from !== null && openedAt !== null && from <= openedAt;
  const before = isOver ? null : from;
  const otherCount = changes.filter(({ path }) => !path.startsWith("nextScheduled")).length;
  const moreWords = otherCount > 0 ? ` + ${otherCount} more` : "";
  if (after !== null)
    return [
      `${before === null ? "Network upgrade" : "Move the network upgrade"}: ${pauseWords(after)}${moreWords}`,
    ];
  if (before !== null) return [`Cancel the network upgrade of ${utcDay(before)}${moreWords}`];
  if (isOver) return [`Remove the past network upgrade from the settings${moreWords}`];
  const freeze = changes.find(({ path }) => TIMES.some(([name, at]) => name === "freezeAt" && at === path));
  const freezeAt = timeIn(freeze?.to ?? null);
  if (times.length > 0 || freezeAt === null) return null;
  return [
    `${freeze?.from ? "Move the freeze" : "Freeze"} before the network upgrade: from ${utcDate(freezeAt)}${moreWords}`,
  ];
}

/** Returns an action's change of the schedule of the next upgrade; null if it has none. */
export function upgradeIn({
  changes,
  emptySchedules = [],
}: {
  readonly changes: readonly ConfigChange[];
  readonly emptySchedules?: readonly string[];
}): UpgradeChange | null {
  const change = TIMES.flatMap(([name, path]): [string, number | null][] => {
    const found = changes.find((each) => each.path === path);
    if (found) return [[name, timeIn(found.to)]];
    return emptySchedules.some((field) => path.startsWith(`${field}.`)) ? [[name, null]] : [];
  });
  return change.length === 0 ? null : Object.fromEntries(change);
}

/** The last accepted vote request about the schedule. */
export interface UpgradeDecision {
  /** The request's identity. */
  readonly by: string;
  /** When the request took or takes effect, epoch ms. */
  readonly at: number;
  /** The schedule that it left; `undefined` if it removed the upgrade, and what is left over from earlier ones is past. */
  readonly schedule: UpgradeSchedule | undefined;
}

/**
 * Returns the last accepted decision about the schedule, in the order in which the requests take effect. A decision that takes effect
 * after an upgrade is about the next one, and counts once that upgrade is over.
 * @param now epoch ms
 */
export function upgradeDecision(
  votes: readonly (UpgradeVote & { readonly id: string })[],
  now: number,
): UpgradeDecision | undefined {
  const accepted = votes
    .flatMap(({ id, upgradeChange: change, acceptedFor, openedAt }) =>
      change && acceptedFor !== undefined ? [{ id, change, acceptedFor, openedAt }] : [],
    )
    // Requests that ended while the bot was away have the same time.
    .toSorted((a, b) => a.acceptedFor - b.acceptedFor || (a.openedAt ?? 0) - (b.openedAt ?? 0));
  let total: UpgradeChange = {};
  let last: UpgradeDecision | undefined;
  for (const { id: by, change, acceptedFor: at } of accepted) {
    const nextAt = last?.schedule?.upgradeAt ?? Number.NEGATIVE_INFINITY;
    if (now < nextAt && nextAt < at) break;
    total = { ...total, ...change };
    last = { by, at, schedule: scheduleAt(total, at, now) };
  }
  return last;
}

/**
 * Returns the next upgrade in the rules, as decided at a time. Both kinds may be scheduled: the later one is next once the earlier one is
 * over. `undefined` if both were over when it was decided.
 */
function scheduleAt(
  { upgradeAt = null, freezeAt = null, olderUpgradeAt = null }: UpgradeChange,
  at: number,
  now: number,
): UpgradeSchedule | undefined {
  const ahead = [
    { upgradeAt, freezeAt },
    { upgradeAt: olderUpgradeAt, freezeAt: null },
  ]
    .flatMap((each) =>
      each.upgradeAt !== null && each.upgradeAt > at ? [{ ...each, upgradeAt: each.upgradeAt }] : [],
    )
    .toSorted((a, b) => a.upgradeAt - b.upgradeAt);
  return ahead.find((each) => each.upgradeAt > now) ?? ahead.at(-1);
}
