import type { AnswerDeps, FeedDefinition, NameSources, SubjectChoice } from "../../delivery/feed.js";
import { activeIn } from "../../directory/active.js";
import { SUPER_VALIDATORS } from "../../directory/directory.js";
import { groupOf, idsIn, isGroup, membersOf } from "../../directory/groups.js";
import { ifAnswered, ifKnown } from "../../explorer/errors.js";
import {
  type Activity,
  activities,
  intervalFor,
  type NetworkRhythm,
  readInterval,
  readIntervals,
  readNetworkRhythm,
} from "../../ledger/network-rhythm.js";
import { judgeReports } from "../../ledger/rhythm.js";
import { rhythmWords } from "../../screens/parts.js";
import { judgeShown } from "../../screens/standings.js";
import { formatDuration, roughly, spanWords } from "../../text/durations.js";
import { join, type Markdown, md, timestamp, timestampWithAge } from "../../text/markdown.js";
import { countedWords } from "../../text/numbers.js";
import { namesAndMore } from "../../text/plain.js";
import { ageOf, pastTime } from "../../util/clock.js";
import { PersonError } from "../../util/person-error.js";
import { MINUTE } from "../../util/units.js";
import { VALIDATOR_FEED, type ValidatorWatch, validatorWatches, watchId } from "./collections.js";
import { silenceOf } from "./events.js";
import { silenceView } from "./messages.js";
import { AUTOMATIC, chosenAfter, options, topics } from "./topics.js";

/** Maximum number of names in the name of a group. */
const MAX_GROUP_NAMES = 3;

const subject: SubjectChoice = {
  option: {
    name: "validator",
    description: "Name or party id, or: all super validators",
    kinds: ["validator", "group"],
  },
  group: {
    of: groupOf,
    members: idsIn,
    hint: "or: all super validators",
    check(ids) {
      if (ids.includes(SUPER_VALIDATORS))
        throw new PersonError(
          "“All super validators” can't be combined with other validators. Type it alone.",
        );
    },
  },
  async check(id, { explorer, directory }) {
    const parties = id === SUPER_VALIDATORS ? [] : (membersOf(id, directory) ?? []);
    // Each request counts against the person's limit.
    const unknown =
      parties.length > 1 ? parties.filter((each) => !directory.entry("validator", each)) : parties;
    // A validator that cannot be read right now can still be watched.
    for (const validator of unknown)
      await ifKnown(
        explorer.validator({ validatorId: validator }),
        () =>
          new PersonError(
            "Can't find a validator with that id or name. Pick one of the suggestions as you type, or look in `/validator list`.",
            "missing",
          ),
      );
    return id;
  },
  nameOf(id, { names, directory }) {
    const named = directory.entry("group", id)?.name;
    if (named) return named;
    const parties = idsIn(id);
    return namesAndMore(
      parties.slice(0, MAX_GROUP_NAMES).map((party) => names.distinct(party)),
      parties.length,
    );
  },
};

/** Returns lines about the members of a group, for a new subscriber. */
async function groupStanding(
  members: readonly string[] | undefined,
  { directory, state, now }: Pick<AnswerDeps, "directory" | "state" | "now">,
  chosenMs: number | undefined,
): Promise<Markdown[]> {
  if (!members) return [md`The list of super validators hasn't been read yet. Alerts begin once it has.`];
  const intervals = await readIntervals(state);
  const isActive = activeIn(directory, intervals);
  const silent = members.filter((party) => {
    const entry = directory.entry("validator", party);
    return entry !== undefined && !isActive(entry);
  });
  const { ms } = intervals(null);
  const { afterMs } = judgeReports(null, ms, now, chosenMs);
  const limitWords =
    chosenMs === afterMs
      ? md`You'll be told of each after ${spanWords(afterMs)} without a report, and after two missed reports at the earliest.`
      : md`⚠️ \`${formatDuration(chosenMs ?? 0)}\` is too early for two missed reports: most validators report about every ${roughly(ms)}. You'll be told of each after two missed reports: after ${spanWords(afterMs)} if it reports that often.`;
  return [
    md`${countedWords(members.length, "validator")} at the moment, ${silent.length} of them silent.`,
    chosenMs === undefined ? md`You'll be told of each after two missed reports.` : limitWords,
  ];
}

/** Age of the last reading of a validator at which its state counts as unknown, in ms. */
export const UNREAD_MS = 30 * MINUTE;

const unreadWords = (readAt: number): Markdown => md`⚪ not checked since ${timestamp(readAt)}`;

/**
 * True if a watched validator was alerted and has not reported since. While its subscription is paused, the alert stays, and others
 * may read its reports.
 */
const isSilent = (watch: ValidatorWatch | undefined, activity: Activity | undefined): boolean =>
  watch?.alert !== undefined && (activity?.seenAt ?? 0) <= watch.alert;

/** True if a validator has missed two reports. */
const isOverdue = (activity: Activity, rhythm: NetworkRhythm | undefined): boolean =>
  judgeReports(activity.seenAt, intervalFor(activity, rhythm).ms, activity.readAt).standing === "silent";

/** Returns the current state of a group: its silent members, and those that no poll has read yet. */
async function groupNow(
  { state, directory }: NameSources,
  subject: string,
  channelId: string,
): Promise<Markdown> {
  const members = membersOf(subject, directory) ?? [];
  const [watches, known] = [state.open(validatorWatches), state.open(activities)];
  // Only the members are read: a list would read those of all channels.
  const readings = await Promise.all(
    members.map(async (party) => {
      const [watch, activity] = await Promise.all([watches.get(watchId(channelId, party)), known.get(party)]);
      return { activity, isSilent: isSilent(watch, activity) };
    }),
  );
  const silentCount = readings.filter((each) => each.isSilent).length;
  const checked = readings.flatMap(({ activity }) => activity ?? []);
  const uncheckedCount = members.length - checked.length;
  if (uncheckedCount === members.length) return md`not checked yet`;
  const rhythm = await readNetworkRhythm(state);
  const overdueCount = checked.filter((activity) => isOverdue(activity, rhythm)).length;
  const readAt = Math.max(...checked.map((activity) => activity.readAt));
  if (ageOf(readAt, Date.now()) > UNREAD_MS) return unreadWords(readAt);
  const all = countedWords(members.length, "validator");
  const calm =
    overdueCount === 0
      ? md`🟢 none of ${members.length} is silent`
      : md`🟡 no recent report from ${overdueCount} of ${all}, not alerted yet`;
  const silent = silentCount === 0 ? calm : md`🔴 ${silentCount} of ${all} silent`;
  return join([silent, uncheckedCount > 0 && md`${uncheckedCount} not checked yet`], ", ");
}

/** The feed that alerts channels and people about validators. */
export const definition: FeedDefinition = {
  name: VALIDATOR_FEED,
  description: "Alert a channel when a validator goes silent and when it's back",
  thing: "alert",
  topics,
  options,
  threads: true,
  pings:
    "except about old versions, good news, holds other than a standstill of the network, and alerts that somebody has taken",
  tagName: /validator|node|alert/i,
  subject,
  watches: [
    {
      name: "validator",
      description: "Get a private alert when a validator goes silent and when it's back",
      subject,
      screen: { name: "validator", subjectOf: (id) => id, isForChannels: true },
      offered: (id) =>
        [AUTOMATIC, "3h", "6h", "12h", "24h"].map((set) => ({
          id,
          set,
          label: set === AUTOMATIC ? "After two missed reports" : `After ${set} without a report`,
        })),
    },
  ],

  async sample({ names, directory, state, now }, subscription, mark) {
    // The super validators may not be known yet.
    const [validator = ""] = membersOf(subscription.subject ?? "", directory) ?? [];
    const { ms } = await readInterval(state, validator);
    const { afterMs: after } = judgeReports(null, ms, now, chosenAfter(subscription));
    const silentSince = now - after - 60_000;
    const alert = {
      kind: "silent" as const,
      channelId: subscription.channelId,
      subject: silenceOf(validator, silentSince),
      since: silentSince,
      validator,
      after,
      level: 1,
      revision: 0,
    };
    const called = (party: string, most: number) =>
      party === "" ? "A validator" : names.distinct(party, most);
    return silenceView(
      alert,
      { called, activity: undefined, interval: undefined, response: undefined, now },
      mark,
    );
  },

  async standing({ explorer, directory, state, rhythms, now }, subscription) {
    const members = membersOf(subscription.subject ?? "", directory);
    const [validator = ""] = members ?? [];
    if (!members || isGroup(subscription.subject ?? ""))
      return groupStanding(members, { directory, state, now }, chosenAfter(subscription));
    const reading = await ifAnswered(explorer.validator({ validatorId: validator }));
    const interval = await readInterval(state, validator);
    const chosenMs = chosenAfter(subscription);
    const lastActiveAt = reading?.data.lastActiveAt ?? null;
    const { lines, asOf } = reading
      ? await judgeShown({ explorer, rhythms }, [{ validator, lastActiveAt }], reading.fetchedAt)
      : { lines: [], asOf: now };
    const reportedAt = pastTime(lastActiveAt, asOf);
    const { standing, afterMs } = judgeReports(reportedAt, interval.ms, asOf, chosenMs);
    const limit = spanWords(afterMs);
    const reportWords = reading
      ? md`Last report ${timestampWithAge(reportedAt)}; ${rhythmWords(interval)}.`
      : md`I can't look up its last report right now.`;
    if (standing === "silent") {
      const watch = await state.open(validatorWatches).get(watchId(subscription.channelId, validator));
      return [
        reportWords,
        ...lines,
        watch?.alert === undefined
          ? md`🔴 It's silent now. You'll get an alert in a few minutes, unless alerts are on hold.`
          : md`🔴 It's silent now. Its alert is open.`,
      ];
    }
    return [
      reportWords,
      ...lines,
      chosenMs === undefined || chosenMs === afterMs
        ? md`You'll be told after ${limit} without a report.`
        : md`⚠️ \`${formatDuration(chosenMs)}\` is too early for two missed reports: ${interval.isOwn ? "it reports" : "most validators report"} about every ${roughly(interval.ms)}. You'll be told after ${limit} without a report.`,
    ];
  },

  async nowOf(sources, subscription) {
    const { subject, channelId } = subscription;
    if (subject === null) return undefined;
    if (isGroup(subject)) return groupNow(sources, subject, channelId);
    const { state } = sources;
    const watch = await state.open(validatorWatches).get(watchId(channelId, subject));
    if (watch?.goneAt !== undefined) return md`⚪ no longer listed since ${timestamp(watch.goneAt)}`;
    const activity = await state.open(activities).get(subject);
    if (activity && ageOf(activity.readAt, Date.now()) > UNREAD_MS) return unreadWords(activity.readAt);
    if (isSilent(watch, activity)) return md`🔴 silent, last report ${timestamp(watch?.alert ?? null)}`;
    if (!activity) return md`not checked yet`;
    const rhythm = await readNetworkRhythm(state);
    const interval = intervalFor(activity, rhythm);
    const { seenAt, readAt } = activity;
    const judgement = judgeReports(seenAt, interval.ms, readAt, chosenAfter(subscription));
    const words = md`last report ${timestamp(seenAt)}; ${rhythmWords(interval)}`;
    if (!isOverdue(activity, rhythm)) return md`🟢 ${words}`;
    // Other subscriptions may read its reports during a pause.
    if (subscription.isPaused) return md`🟡 ${words}`;
    // A person may want to be told later than after two missed reports.
    return judgement.standing === "silent"
      ? md`🟡 ${words}; not alerted yet: alerts are on hold, or I'm checking again`
      : md`🟡 ${words}; you'll be told after ${spanWords(judgement.afterMs)}`;
  },
};
