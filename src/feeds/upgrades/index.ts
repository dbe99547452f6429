import { createCalendar } from "../../delivery/calendar.js";
import { progress, type Subscription } from "../../delivery/collections.js";
import type { AnswerDeps, Feed, FeedDefinition } from "../../delivery/feed.js";
import type { FeedDeps, FeedModule } from "../../delivery/module.js";
import { FIRST_FEED } from "../../delivery/version-1.js";
import type { ReportIntervals } from "../../directory/active.js";
import { partiesIn } from "../../directory/groups.js";
import { activities, createRhythms, readIntervals } from "../../ledger/network-rhythm.js";
import { isAheadOrRecent } from "../../ledger/upgrades.js";
import { standstillLine, standstillView } from "../../screens/standstill.js";
import { headlineOf, type View } from "../../screens/view.js";
import { type Markdown, md, timestampWithAge } from "../../text/markdown.js";
import { ageOf } from "../../util/clock.js";
import { present } from "../../util/present.js";
import { DAY, HOUR, MINUTE } from "../../util/units.js";
import { calendarServers } from "../governance/calendar.js";
import { PROGRESS as VOTES_READ } from "../governance/watch.js";
import { VALIDATOR_FEED, validatorWatches, watchId } from "../validator/collections.js";
import { upgradeCalendar, upgradeEvents } from "./calendar.js";
import { EXAMINED, openIn, standstills, UPGRADES_FEED, upgrades } from "./collections.js";
import {
  beginningOf,
  begins,
  eventId,
  loudnessOf,
  readEvent,
  timeOfStep,
  type UpgradeEvent,
} from "./events.js";
import { newsView, timeLines, upgradeView } from "./messages.js";
import { readinessLines, reportReadiness } from "./readiness.js";
import { neededVersion, options, topics } from "./topics.js";
import { createUpgradesWatch, UNREAD_VOTES_MS } from "./watch.js";

type ReadinessDeps = Pick<AnswerDeps, "directory" | "names" | "renderer" | "subscriptions">;

/** Returns lines that say how ready the network is, and the validators that the subscription's server follows. */
async function readinessFor(
  { directory, names, renderer, subscriptions }: ReadinessDeps,
  subscription: Subscription | undefined,
  intervals: ReportIntervals,
): Promise<readonly Markdown[]> {
  const guildId = subscription?.guildId ?? null;
  const followed = guildId === null ? [] : await subscriptions.activeIn(guildId, VALIDATOR_FEED);
  return readinessLines(
    reportReadiness(directory.versions(intervals), subscription && neededVersion(subscription)),
    [...partiesIn(followed, directory)].map((party) => ({
      name: names.distinct(party),
      version: directory.entry("validator", party)?.version ?? null,
    })),
    renderer.networkOption,
  );
}

/** Returns the upgrade that was announced, until some hours after it. */
const announcedUpgrade = async (state: AnswerDeps["state"], now: number) =>
  openIn(await state.open(upgrades).list())
    .map(([, each]) => each)
    .find((each) => isAheadOrRecent(each, now));

/** Returns the accepted upgrade, until some hours after it. The last list of vote requests may lack it. */
async function acceptedUpgrade({ state, directory, now }: Pick<AnswerDeps, "state" | "directory" | "now">) {
  const upgrade = (await announcedUpgrade(state, now)) ?? directory.upgradeDecision()?.schedule;
  return upgrade && isAheadOrRecent(upgrade, now) ? upgrade : undefined;
}

const NOT_SCHEDULED = md`No upgrade of the network is scheduled.`;

/** Says that no upgrade is scheduled, if that is known. */
function noUpgrade({ directory, names }: Pick<AnswerDeps, "directory" | "names">): Markdown {
  if (directory.readAt("proposal") === undefined) return md`The vote requests haven't been read yet.`;
  const isExamined = directory
    .entries("proposal")
    .every(
      ({ id, name, acceptedFor }) =>
        acceptedFor === undefined || !names.isUnexamined({ identity: id, title: name }),
    );
  return isExamined
    ? NOT_SCHEDULED
    : md`I'm still reading the accepted votes, so I don't know yet if an upgrade is scheduled.`;
}

const definition: FeedDefinition = {
  name: UPGRADES_FEED,
  description: "Announce upgrades of the network in a channel, and who is ready",
  thing: "upgrade",
  topics,
  options,
  isTypedAgain: true,
  pings: "when the schedule changes, an hour before, and when the network stands still",
  threads: true,
  tagName: /upgrade|network|release/i,

  async sample(deps, subscription, mark) {
    const { now } = deps;
    const upgradeAt = Math.ceil((now + 14 * DAY) / HOUR) * HOUR;
    const accepted = await acceptedUpgrade(deps);
    const isAhead = accepted !== undefined && accepted.upgradeAt > now;
    const upgrade = isAhead ? accepted : { upgradeAt, freezeAt: upgradeAt - 2 * HOUR };
    const readiness = await readinessFor(deps, subscription, await readIntervals(deps.state));
    return upgradeView(upgrade, readiness, mark, now);
  },

  async standing(deps, subscription) {
    const upgrade = await acceptedUpgrade(deps);
    const lines = upgrade ? timeLines(upgrade, deps.now) : [noUpgrade(deps)];
    return present([
      await standstillLine(deps.rhythms),
      ...lines,
      ...(await readinessFor(deps, subscription, await readIntervals(deps.state))),
    ]);
  },

  async lastRead(state) {
    const now = Date.now();
    const votesRead = await state.open(progress).get(VOTES_READ);
    const isOld = votesRead !== undefined && ageOf(votesRead.completeAt, now) >= UNREAD_VOTES_MS;
    const asOf = isOld
      ? md` The vote requests were last read ${timestampWithAge(votesRead.completeAt)}.`
      : md``;
    const open = await announcedUpgrade(state, now);
    if (open) {
      const words = open.upgradeAt > now ? "Next upgrade:" : "The last upgrade was due on";
      return md`${words} ${timestampWithAge(open.upgradeAt)}.${asOf}`;
    }
    // Upgrades are only read while a channel subscribes to them.
    return (await state.open(progress).get(EXAMINED)) ? md`${NOT_SCHEDULED}${asOf}` : undefined;
  },
};

/** Age of a validator's last reading after which its feed may not know about a standstill, in ms. */
const UNREAD_MS = 30 * MINUTE;

/** Shown for an upgrade or a standstill that is no longer stored. */
const OVER: View = { notification: md`⚪ This is over` };

function createFeed(deps: FeedDeps): Feed<UpgradeEvent> {
  const { state, renderer, subscriptions, now } = deps;
  const [knownUpgrades, knownStandstills] = [state.open(upgrades), state.open(standstills)];
  const rhythms = createRhythms(state, deps.log);
  const readinessTo = async ([subscription]: readonly Subscription[]) =>
    readinessFor(deps, subscription, await rhythms.intervals());
  const viewOf = async (subject: string, mark: string, recipients: readonly Subscription[]) => {
    const standstill = await knownStandstills.get(subject);
    if (standstill) return standstillView(standstill, mark);
    const upgrade = await knownUpgrades.get(subject);
    return upgrade && upgradeView(upgrade, await readinessTo(recipients), mark, now());
  };
  const stateOf = async (subject: string) => {
    const each = (await knownStandstills.get(subject)) ?? (await knownUpgrades.get(subject));
    return each && { revision: each.revision, endedAt: each.endedAt ?? null };
  };

  /**
   * True if the feed of validators tells a channel about standstills, and pings the same roles: the channel watches a validator that
   * the explorer lists, and whose reports can be read.
   */
  const isToldByValidators = async (recipients: readonly Subscription[]): Promise<boolean> => {
    const [{ channelId } = { channelId: "" }] = recipients;
    const others = await subscriptions.activeIn(channelId, VALIDATOR_FEED);
    const pinged = new Set(others.map(({ roleId }) => roleId));
    if (recipients.some(({ roleId }) => roleId !== null && !pinged.has(roleId))) return false;
    for (const party of partiesIn(others, deps.directory)) {
      const watch = await state.open(validatorWatches).get(watchId(channelId, party));
      const activity = await state.open(activities).get(party);
      if (watch?.goneAt === undefined && ageOf(activity?.readAt ?? 0, now()) < UNREAD_MS) return true;
    }
    return false;
  };

  /** True if the news has been overtaken by a later decision, or is told by another subscription of the channel. */
  const isOvertaken = async (event: UpgradeEvent, recipients: readonly Subscription[]) => {
    if (event.kind === "still" || event.kind === "moving") return isToldByValidators(recipients);
    const upgrade = await knownUpgrades.get(event.subject);
    if (!upgrade) return true;
    const isSame = upgrade.upgradeAt === event.upgradeAt && upgrade.freezeAt === event.freezeAt;
    if (event.kind === "moved") return !isSame || now() >= event.upgradeAt;
    if (event.kind !== "reminder") return false;
    const isLate = event.step !== "upgrade" && now() >= timeOfStep(event.step, event);
    return !isSame || isLate || upgrade.isCancelled === true;
  };

  return {
    definition,
    readEvent,
    idOf: eventId,
    topicOf: ({ kind }) => (kind === "still" || kind === "moving" ? "standstill" : "upgrades"),
    subjectsOf: ({ subject }) => [subject],
    begins,
    loudnessOf,
    wants: () => true,
    async render(event, mark, recipients) {
      if (await isOvertaken(event, recipients)) return undefined;
      const { revision, endedAt } = (await stateOf(event.subject)) ?? { revision: 0, endedAt: null };
      const view = begins(event)
        ? await viewOf(event.subject, mark, recipients)
        : newsView(event, await readinessTo(recipients), mark, now());
      const isOver = begins(event) && endedAt !== null;
      return view && { payload: renderer.message(view), title: headlineOf(view), revision, isOver };
    },
    lasting: {
      stateOf,
      current: async (subject, mark, _, recipients) =>
        renderer.message((await viewOf(subject, mark, recipients)) ?? OVER),
      titleOf: async (subject) => headlineOf((await viewOf(subject, "", [])) ?? OVER),
      beginningOf,
    },
  };
}

/** Announces upgrades of the network, reminds of them with who is ready, and says when the network stands still. */
export const upgradesFeed: FeedModule = {
  definition,
  collections: [upgrades, standstills, upgradeCalendar],
  followsRounds: true,
  // Most polls only read the state, and the last reminder comes an hour before an upgrade.
  pollMs: ({ watchPollSeconds }) => Math.min(MINUTE, watchPollSeconds * 1_000),
  create(deps) {
    const { state, subscriptions } = deps;
    const keepCalendar = createCalendar(deps, upgradeEvents(state, deps.renderer));
    return {
      feed: createFeed(deps),
      poll: createUpgradesWatch({ ...deps, explorer: deps.explorer.for("background", { maxAgeMs: MINUTE }) }),
      async keep(subscribers) {
        const isAhead = openIn(await state.open(upgrades).list()).length > 0;
        const subscribed = isAhead ? await subscribers.subscriptions() : [];
        const guilds = [...new Set(subscribed.flatMap(({ guildId }) => guildId ?? []))];
        // A channel that cannot be written to, or is paused, does not show the upgrade.
        const votes = (await subscriptions.of(guilds)).filter(({ feed }) => feed === FIRST_FEED);
        await keepCalendar(calendarServers(votes));
      },
    };
  },
};
