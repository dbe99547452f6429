import { announcedId, announcements } from "../../delivery/collections.js";
import type { AnswerDeps, Feed, FeedDefinition, NameSources, SubjectChoice } from "../../delivery/feed.js";
import type { FeedDeps, FeedModule } from "../../delivery/module.js";
import { activeIn } from "../../directory/active.js";
import { SUPER_VALIDATORS } from "../../directory/directory.js";
import { covers, groupOf, idsIn, isGroup, membersOf, ownOf } from "../../directory/groups.js";
import { ExplorerError, ifAnswered } from "../../explorer/errors.js";
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
import { movingView } from "../../screens/standstill.js";
import { headlineOf, type View } from "../../screens/view.js";
import { formatDuration, roughly, spanWords } from "../../text/durations.js";
import { join, type Markdown, md, timestamp, timestampWithAge } from "../../text/markdown.js";
import { countedWords } from "../../text/numbers.js";
import { namesAndMore } from "../../text/plain.js";
import { ageOf, pastTime } from "../../util/clock.js";
import { PersonError } from "../../util/person-error.js";
import { DAY, MINUTE } from "../../util/units.js";
import {
  alertId,
  alerts,
  responses,
  VALIDATOR_FEED,
  type ValidatorWatch,
  validatorWatches,
  watchId,
} from "./collections.js";
import {
  beginningOf,
  begins,
  eventId,
  loudnessOf,
  MANY,
  readEvent,
  silenceOf,
  subjectOf,
  topicOf,
  type ValidatorEvent,
} from "./events.js";
import { newsView, silenceView } from "./messages.js";
import { alertButtons } from "./respond.js";
import { AUTOMATIC, chosenAfter, options, topics } from "./topics.js";
import { alertView, knownOf } from "./views.js";
import { createValidatorWatch } from "./watch.js";

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
    for (const validator of unknown)
      try {
        await explorer.validator({ validatorId: validator });
      } catch (error) {
        // A validator that cannot be read right now can still be watched.
        if (error instanceof ExplorerError && (error.problem === "missing" || error.problem === "rejected"))
          throw new PersonError(
            "Can't find a validator with that id or name. Pick one of the suggestions as you type, or look in `/validator list`.",
            "missing",
          );
        if (!(error instanceof ExplorerError)) throw error;
      }
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
  { directory, state }: Pick<AnswerDeps, "directory" | "state">,
  chosenMs: number | undefined,
): Promise<Markdown[]> {
  if (!members) return [md`The list of super validators hasn't been read yet. Alerts begin once it has.`];
  const isActive = activeIn(directory, await readIntervals(state));
  const inactive = members.filter((party) => {
    const entry = directory.entry("validator", party);
    return entry !== undefined && !isActive(entry);
  });
  return [
    md`${countedWords(members.length, "validator")} at the moment, ${inactive.length} of them inactive.`,
    chosenMs === undefined
      ? md`You'll be told of each after two missed reports.`
      : md`You'll be told of each after ${spanWords(chosenMs)} without a report, and after two missed reports at the earliest.`,
  ];
}

/** Age of the last reading of a validator at which its state counts as unknown, in ms. */
const UNREAD_MS = 30 * MINUTE;

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

const definition: FeedDefinition = {
  name: VALIDATOR_FEED,
  description: "Alert a channel when a validator goes silent and when it's back",
  thing: "alert",
  topics,
  options,
  threads: true,
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
    return silenceView(
      alert,
      { called: names.distinct, activity: undefined, interval: undefined, response: undefined, now },
      mark,
    );
  },

  async standing({ explorer, directory, state, now }, subscription) {
    const members = membersOf(subscription.subject ?? "", directory);
    const [validator = ""] = members ?? [];
    if (!members || isGroup(subscription.subject ?? ""))
      return groupStanding(members, { directory, state }, chosenAfter(subscription));
    const detail = (await ifAnswered(explorer.validator({ validatorId: validator })))?.data;
    const interval = await readInterval(state, validator);
    const chosenMs = chosenAfter(subscription);
    const { afterMs } = judgeReports(null, interval.ms, now, chosenMs);
    const limit = spanWords(afterMs);
    return [
      detail
        ? md`Last report ${timestampWithAge(pastTime(detail.lastActiveAt, now))}; ${rhythmWords(interval)}.`
        : md`The explorer can't be read right now.`,
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
    const own = judgeReports(seenAt, interval.ms, readAt, chosenAfter(subscription));
    const words = md`last report ${timestamp(seenAt)}; ${rhythmWords(interval)}`;
    if (!isOverdue(activity, rhythm)) return md`🟢 ${words}`;
    // A person may want to be told later than after two missed reports.
    return own.standing === "silent"
      ? md`🟡 ${words}; not alerted yet: alerts are on hold, or I'm checking again`
      : md`🟡 ${words}; you'll be told after ${spanWords(own.afterMs)}`;
  },
};

/** Time after an alert's message in which its silence is not told again, in ms. */
const JUST_TOLD_MS = 10 * MINUTE;

function createFeed({ state, renderer, names, directory, explorer, now }: FeedDeps): Feed<ValidatorEvent> {
  const deps = { state, names, explorer: explorer.for("background", { maxAgeMs: DAY }), now };
  /** Shown for an alert whose subscription was removed. */
  const closedView: View = {
    notification: md`⚪ Closed: no longer watched`,
    body: [md`This alert's subscription was removed, so it's no longer updated.`],
  };
  const currentMessage = async (subject: string, mark: string, channelId: string) =>
    renderer.message((await alertView(deps, subject, channelId, mark)) ?? closedView);
  const titleOf = async (subject: string, channelId: string): Promise<string> => {
    const alert = await state.open(alerts).get(alertId(channelId, subject));
    if (alert?.kind === "silent") return `Silent: ${names.distinct(alert.validator)}`;
    return alert?.kind === "many" ? `${alert.silent} validators went silent` : "Alerts are on hold";
  };
  const stateOf = async (subject: string, channelId: string) => {
    const id = alertId(channelId, subject);
    const alert = await state.open(alerts).get(id);
    if (!alert) return undefined;
    const response = await state.open(responses).get(id);
    return { revision: alert.revision + (response?.revision ?? 0), endedAt: alert.endedAt ?? null };
  };
  /** True if an alert has only just reached its channel, with the silence as it is, because the channel was paused. */
  const isJustTold = async (subject: string, channelId: string): Promise<boolean> => {
    const told = await state.open(announcements).get(announcedId(VALIDATOR_FEED, subject, channelId));
    return told !== undefined && ageOf(told.at, now()) < JUST_TOLD_MS;
  };
  const current = explorer.for("background", { maxAgeMs: MINUTE, keep: false });
  /** True if a validator has not reported since then, as far as the explorer can tell. */
  const isStillSilent = async (validator: string, since: number): Promise<boolean> => {
    const activity = await state.open(activities).get(validator);
    if (activity && ageOf(activity.readAt, now()) < UNREAD_MS) return activity.seenAt <= since;
    // The validators of a paused channel are not read.
    const reading = await ifAnswered(current.validator({ validatorId: validator }));
    return Math.max(reading?.data.lastActiveAt ?? 0, activity?.seenAt ?? 0) <= since;
  };
  /** Returns news of a silence that may have waited, without the validators that are back. `undefined` if all are. */
  const ifSilent = async (event: Extract<ValidatorEvent, { kind: "worse" | "again" | "joined" }>) => {
    const alert = await state.open(alerts).get(alertId(event.channelId, subjectOf(event) ?? ""));
    if (!alert || alert.endedAt !== undefined || alert.kind === "hold") return undefined;
    if (alert.kind === "silent")
      return (await isStillSilent(event.validator, event.since)) ? event : undefined;
    const backOnes = alert.members.flatMap(({ validator, backAt }) =>
      backAt === undefined ? [] : [validator],
    );
    if (event.kind === "joined") return backOnes.includes(event.validator) ? undefined : event;
    const members = event.members?.filter((each) => !backOnes.includes(each));
    return members?.length === 0 ? undefined : { ...event, members };
  };
  return {
    definition,
    readEvent,
    idOf: eventId,
    topicOf,
    channelOf: ({ channelId }) => channelId,
    loudnessOf,
    subjectsOf: (event) => [subjectOf(event) ?? []].flat(),
    begins,
    wants({ subject }, event) {
      if (event.kind === "hold" || event.kind === "moving") return true;
      if (subject === null) return false;
      if ("subject" in event && event.subject === subject) return true;
      if ("isOfAll" in event && event.isOfAll && subject === SUPER_VALIDATORS) return true;
      if ("members" in event && event.members)
        return event.members.some((each) => covers(subject, each, directory));
      return "validator" in event && covers(subject, event.validator, directory);
    },
    nearest: (wanting, event) => ownOf(wanting, "validator" in event ? [event.validator] : []),
    async render(event, mark) {
      const { channelId } = event;
      const subject = subjectOf(event);
      if (subject !== undefined && begins(event)) {
        const { revision = 0, endedAt = null } = (await stateOf(subject, channelId)) ?? {};
        const title = await titleOf(subject, channelId);
        const payload = await currentMessage(subject, mark, channelId);
        return { payload, title, revision, isOver: endedAt !== null };
      }
      if (event.kind === "moving") {
        const view = movingView(event, mark);
        return { payload: renderer.message(view), title: headlineOf(view), revision: 0 };
      }
      if (event.kind === "silent" || event.kind === "many" || event.kind === "hold")
        throw new RangeError(`An event of the kind ${event.kind} begins a message`);
      if (event.kind === "worse" && (await isJustTold(subject ?? "", channelId))) return undefined;
      if (event.kind === "upgrade" && event.upgradeAt <= now()) return undefined;
      const isOfSilence = event.kind === "worse" || event.kind === "again" || event.kind === "joined";
      const news = isOfSilence ? await ifSilent(event) : event;
      if (!news) return undefined;
      const knownState = await knownOf(
        deps,
        channelId,
        subject ?? "",
        event.validator === MANY ? undefined : event.validator,
        event.kind === "worse" || event.kind === "again",
      );
      const view = newsView(news, knownState, mark);
      return { payload: renderer.message(view), title: headlineOf(view), revision: 0 };
    },
    lasting: {
      stateOf,
      current: currentMessage,
      titleOf,
      beginningOf,
    },
  };
}

/**
 * Sends alerts about validators that go silent, come back, run an old version or have little traffic left.
 */
export const validator: FeedModule = {
  definition,
  collections: [validatorWatches, alerts, responses],
  buttons: alertButtons(),
  isVital: true,
  followsRounds: true,
  pollMs: ({ watchPollSeconds }) => watchPollSeconds * 1_000,

  create(deps) {
    const { explorer, state, directory, now } = deps;
    return {
      feed: createFeed(deps),
      poll: createValidatorWatch({
        explorer: explorer.for("background", { maxAgeMs: 0, keep: false }),
        state,
        membersOf: (subject) => membersOf(subject, directory),
        isListed: (party) => directory.entry("validator", party) !== undefined,
        lastListed: (party) =>
          directory.entry("validator", party) ? directory.readAt("validator") : undefined,
        lastReport: (party) => directory.entry("validator", party)?.seenAt ?? undefined,
        survey: directory.versions,
        nextUpgrade: () => directory.upgrade()?.upgradeAt,
        now,
      }),
    };
  },
};
