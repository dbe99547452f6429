import { announcedId, announcements } from "../../delivery/collections.js";
import type { Feed } from "../../delivery/feed.js";
import type { FeedDeps, FeedModule } from "../../delivery/module.js";
import { SUPER_VALIDATORS } from "../../directory/directory.js";
import { coveredBy, covers, ownOf } from "../../directory/groups.js";
import { titleRoom } from "../../discord/message.js";
import { ifAnswered } from "../../explorer/errors.js";
import { activities } from "../../ledger/network-rhythm.js";
import { movingView } from "../../screens/standstill.js";
import { headlineOf, type View } from "../../screens/view.js";
import { md } from "../../text/markdown.js";
import { unbroken } from "../../text/plain.js";
import { ageOf } from "../../util/clock.js";
import { DAY, MINUTE } from "../../util/units.js";
import { alertId, alerts, responses, VALIDATOR_FEED, validatorWatches } from "./collections.js";
import { definition, UNREAD_MS } from "./definition.js";
import {
  beginningOf,
  begins,
  eventId,
  loudnessOf,
  MANY,
  readEvent,
  subjectOf,
  topicOf,
  type ValidatorEvent,
  validatorIn,
  validatorsOf,
} from "./events.js";
import { newsView } from "./messages.js";
import { alertButtons } from "./respond.js";
import { isShared, sharedView } from "./together.js";
import { alertView, knownOf } from "./views.js";
import { createValidatorWatch } from "./watch.js";

/** Time after an alert's message in which its silence is not told again, in ms. */
const JUST_TOLD_MS = 10 * MINUTE;

function createFeed({ state, renderer, names, directory, explorer, now }: FeedDeps): Feed<ValidatorEvent> {
  const deps = { state, names, explorer: explorer.for("background", { maxAgeMs: DAY }), now };
  /** Shown for an alert whose subscription was removed. */
  const closedView = (subject: string): View => {
    const validator = validatorIn(subject);
    const named = validator === undefined ? md`` : md` (${names.distinct(validator, 100)})`;
    return {
      notification: md`⚪ Closed: no longer watched${named}`,
      body: [md`Its subscription was removed or changed, so this message is no longer updated.`],
    };
  };
  /** Shown for an alert whose document cannot be read. */
  const lostView: View = {
    notification: md`⚪ No longer updated: my record of this alert can't be read`,
    body: [md`If there's still a problem, a new alert follows.`],
  };
  const currentMessage = async (subject: string, mark: string, channelId: string) => {
    const view = await alertView(deps, subject, channelId, mark);
    if (view) return renderer.message(view);
    const isLost = await state.open(alerts).wasSetAside(alertId(channelId, subject));
    return renderer.message(isLost ? lostView : closedView(subject));
  };
  const titleOf = async (subject: string, channelId: string): Promise<string> => {
    const alert = await state.open(alerts).get(alertId(channelId, subject));
    if (alert?.kind === "silent") {
      const kind = "Silent: ";
      return `${kind}${unbroken(names.distinct(alert.validator, titleRoom(renderer) - kind.length))}`;
    }
    return alert?.kind === "many" ? `${alert.silent} validators went silent` : "Alerts are on hold";
  };
  const stateOf = async (subject: string, channelId: string) => {
    const id = alertId(channelId, subject);
    const alert = await state.open(alerts).get(id);
    if (!alert) return undefined;
    const response = await state.open(responses).get(id);
    return {
      revision: alert.revision + (response?.revision ?? 0),
      endedAt: alert.endedAt ?? null,
      answeredAt: Math.max(response?.acknowledged?.at ?? 0, response?.snoozed?.at ?? 0),
    };
  };
  /** True if an alert has only just reached its channel, with the silence as it is, because the channel was paused. */
  const isJustTold = async (subject: string, channelId: string): Promise<boolean> => {
    const announcement = await state.open(announcements).get(announcedId(VALIDATOR_FEED, subject, channelId));
    return announcement !== undefined && ageOf(announcement.at, now()) < JUST_TOLD_MS;
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
      if ("members" in event && event.members) return coveredBy(subject, event.members, directory).length > 0;
      return "validator" in event && covers(subject, event.validator, directory);
    },
    nearest: (wanting, event) =>
      ownOf(wanting, validatorsOf(event), directory, "isOfAll" in event && event.isOfAll),
    async render(event, mark) {
      const { channelId } = event;
      const subject = subjectOf(event) ?? "";
      if (begins(event)) {
        const { revision = 0, endedAt = null } = (await stateOf(subject, channelId)) ?? {};
        const title = await titleOf(subject, channelId);
        const payload = await currentMessage(subject, mark, channelId);
        return { payload, title, revision, isOver: endedAt !== null };
      }
      if (event.kind === "moving") {
        const view = movingView(event, mark);
        return { payload: renderer.message(view), title: headlineOf(view), revision: 0 };
      }
      if (event.kind === "worse" && (await isJustTold(subject, channelId))) return undefined;
      if (event.kind === "upgrade" && event.upgradeAt <= now()) return undefined;
      const isOfSilence = event.kind === "worse" || event.kind === "again" || event.kind === "joined";
      const news = isOfSilence ? await ifSilent(event) : event;
      if (!news) return undefined;
      const knownState = await knownOf(
        deps,
        channelId,
        subject,
        event.validator === MANY ? undefined : event.validator,
        event.kind === "worse" || event.kind === "again",
      );
      const view = isShared(news) ? sharedView(news, knownState, mark) : newsView(news, knownState, mark);
      return { payload: renderer.message(view), title: headlineOf(view), revision: 0 };
    },
    lasting: { stateOf, current: currentMessage, titleOf, beginningOf },
  };
}

/** Sends alerts about validators that go silent, come back, run an old version or have little traffic left. */
export const validator: FeedModule = {
  definition,
  collections: [validatorWatches, alerts, responses],
  buttons: alertButtons(),
  isVital: true,
  followsRounds: true,
  pollMs: ({ watchPollSeconds }) => watchPollSeconds * 1_000,

  create(deps) {
    const explorer = deps.explorer.for("background", { maxAgeMs: 0, keep: false });
    return { feed: createFeed(deps), poll: createValidatorWatch({ ...deps, explorer }) };
  },
};
