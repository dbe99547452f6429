import type { Dashboard } from "../explorer/schema/network.js";
import type { Reading } from "../explorer/service.js";
import { isAheadOrRecent, type UpgradeSchedule } from "../ledger/upgrades.js";
import { type Markdown, md, timestamp, timestampWithAge } from "../text/markdown.js";
import { countedWords, grouped } from "../text/numbers.js";
import { rememberLast } from "../util/per-object.js";
import { present } from "../util/present.js";
import { address } from "./addresses.js";
import { standstillLine } from "./standstill.js";
import type { Field, Link, Menu, Screen, View } from "./view.js";

/** Formats a rate. Small rates have more digits. */
const rate = (value: string | null): string =>
  value === null ? "unknown" : grouped(value, Math.abs(Number(value)) >= 1 ? 2 : 4);

/** Formats a number, or says that it is not known. */
const knownText = (value: string | number | null): string => (value === null ? "unknown" : grouped(value));

const count = (name: string, value: string | number | null): Field => ({
  name,
  value: md`${knownText(value)}`,
  inline: true,
});

/** Formats the number of approved requests out of the total. Either may be unknown. */
function approved(count: number | null, total: number | null): Markdown {
  if (count === null) return total === null ? md`unknown` : md`${grouped(total)}, accepted unknown`;
  return total === null
    ? md`${grouped(count)} accepted`
    : md`${grouped(count)} of ${grouped(total)} accepted`;
}

const MENUS: readonly Menu[] = [
  {
    placeholder: "Look closer…",
    choices: [
      { label: "Validators", emoji: "🖥️", to: address("validators", {}) },
      { label: "Validator versions", emoji: "📊", to: address("versions", {}) },
      { label: "Parties", emoji: "👤", to: address("parties", {}) },
      { label: "Vote requests", emoji: "🗳️", to: address("proposals", {}) },
      { label: "Transfers", emoji: "💸", to: address("transfers", {}) },
      { label: "Updates", emoji: "🧾", to: address("updates", {}) },
      { label: "Events", emoji: "⚙️", to: address("events", {}) },
      { label: "Contracts", emoji: "📄", to: address("contracts", {}) },
    ],
  },
];

const LINKS: readonly Link[] = [
  { label: "Price", emoji: "💲", to: address("price", {}) },
  { label: "Help", emoji: "❔", to: address("help", {}) },
];

/** Says how many validators are active. Either number may be unknown. */
function activeWords({ totalActiveValidators: active, totalValidators: total }: Dashboard): Markdown {
  if (total === null) return md`🖥️ active validators: **${knownText(active)}**`;
  return active === null
    ? md`🖥️ **${countedWords(total, "validator")}**, active unknown`
    : md`🖥️ **${grouped(active)}** of ${countedWords(total, "validator")} active, as the explorer counts them`;
}

const bodyOf = (it: Dashboard): Markdown[] => [
  activeWords(it),
  md`⚡ **${rate(it.tps)}** transactions per second`,
  it.activeVoteRequests === null
    ? md`🗳️ vote requests that aren't closed: unknown`
    : md`🗳️ **${countedWords(it.activeVoteRequests, "vote request")}** not closed yet`,
];

const fieldsOf = (it: Dashboard): Field[] => [
  {
    name: "Transactions per second",
    value: md`daily average **${rate(it.avgDayTps)}**\nmonthly peak **${rate(it.monthPeakTps)}**`,
  },
  count("Transactions", it.totalTransactions),
  count("Events", it.totalEvents),
  count("Transfers", it.totalTransfers),
  count("Accounts", it.totalAccounts),
  count("Super validators", it.totalSuperValidators),
  {
    name: "Vote requests",
    value: approved(it.approvedVoteRequests, it.totalVoteRequests),
    inline: true,
  },
  count("Latest round", it.latestRound),
  count("Migration", it.migration),
];

/** Returns the lines about the network's upgrade. */
function upgradeLines(upgrade: UpgradeSchedule | undefined, isAhead: boolean): readonly Markdown[] {
  if (!upgrade) return [];
  const { upgradeAt, freezeAt } = upgrade;
  if (!isAhead)
    return [md`🛠️ **Network upgrade:** transactions were due to pause on ${timestampWithAge(upgradeAt)}`];
  return present([
    md`🛠️ **Network upgrade:** transactions pause on ${timestampWithAge(upgradeAt)}`,
    freezeAt !== null &&
      freezeAt < upgradeAt &&
      md`-# No new parties or packages from ${timestamp(freezeAt, "f")} until then.`,
  ]);
}

/** Builds the screen. Many people open it while its reading is in the cache. */
const show = rememberLast(
  (
    reading: Reading<Dashboard>,
    upgrade: UpgradeSchedule | undefined,
    isAhead: boolean,
    standstill?: Markdown,
  ): View => ({
    title: md`The network`,
    body: present([...bodyOf(reading.data), standstill, ...upgradeLines(upgrade, isAhead)]),
    fields: fieldsOf(reading.data),
    readings: [reading],
    menus: MENUS,
    links: LINKS,
  }),
);

/** Shows the network at a glance, with the upgrade that the super validators have accepted, until some hours after it. */
export const network: Screen<"network"> = async (_, { explorer, directory, rhythms }) => {
  const [reading, standstill] = await Promise.all([explorer.dashboard({}), standstillLine(rhythms)]);
  const now = Date.now();
  const accepted = directory.upgradeDecision()?.schedule;
  const upgrade = accepted && isAheadOrRecent(accepted, now) ? accepted : undefined;
  return show(reading, upgrade, upgrade !== undefined && upgrade.upgradeAt > now, standstill);
};
