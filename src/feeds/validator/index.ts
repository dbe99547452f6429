import type { Feed, FeedDefinition, FeedModule, SubjectChoice } from "../../delivery/feed.js";
import type { Names } from "../../directory/names.js";
import type { Renderer } from "../../discord/message.js";
import { ExplorerError, ifAnswered } from "../../explorer/errors.js";
import type { View } from "../../screens/view.js";
import { alertId, subscriptionId } from "../../storage/catalogue.js";
import type { State } from "../../storage/state.js";
import { formatDuration, roughly } from "../../text/durations.js";
import { md, timestamp, timestampWithAge } from "../../text/markdown.js";
import { PersonError } from "../../util/person-error.js";
import { rhythmOf } from "./alerts.js";
import {
  beginningOf,
  begins,
  eventId,
  loudnessOf,
  readEvent,
  silenceOf,
  subjectOf,
  topicOf,
  type ValidatorEvent,
} from "./events.js";
import { newsView, silenceView } from "./messages.js";
import { afterOf, options, topics } from "./topics.js";
import { createAlertViews, knownOf } from "./views.js";
import { createValidatorWatch } from "./watch.js";

/** The name of this feed. */
export const VALIDATOR_FEED = "validator";

const subject: SubjectChoice = {
  option: { name: "validator", description: "Its name, or its party id", kinds: ["validator"] },
  async check(validator, { explorer }) {
    try {
      await explorer.validator({ validatorId: validator });
    } catch (error) {
      // One that cannot be read right now may be watched all the same.
      if (error instanceof ExplorerError && (error.problem === "missing" || error.problem === "rejected"))
        throw new PersonError(
          "No validator has that id or name. `/validator list` shows them; a name is completed as you type.",
          "missing",
        );
      if (!(error instanceof ExplorerError)) throw error;
    }
    return validator;
  },
  nameOf: (validator, { names }) => names.called(validator),
};

const definition: FeedDefinition = {
  name: VALIDATOR_FEED,
  description: "Be told when a validator goes silent, and when it is back",
  thing: "alert",
  topics,
  options,
  threads: true,
  tagName: /validator|node|alert/i,
  subject,
  watches: [
    {
      name: "validator",
      description: "Be told in private when a validator goes silent, and when it is back",
      subject,
      offered: (id) =>
        ["", "20m", "3h", "6h", "24h"].map((set) => ({
          id,
          set,
          label: `when it was not seen for ${set || formatDuration(options.after.byDefault)}`,
        })),
    },
  ],

  async sample({ names, now }, subscription, mark) {
    const validator = subscription.subject ?? "";
    const after = afterOf(subscription);
    const since = now - after - 60_000;
    const alert = {
      kind: "silent" as const,
      channelId: subscription.channelId,
      subject: silenceOf(validator, since),
      since,
      validator,
      after,
      level: 1,
      revision: 0,
    };
    return silenceView(alert, { called: names.called, activity: undefined, response: undefined, now }, mark);
  },

  async standing({ explorer, state }, subscription) {
    const validator = subscription.subject ?? "";
    const detail = (await ifAnswered(explorer.validator({ validatorId: validator })))?.data;
    const activity = await state.activity.get(validator);
    const rhythm = activity && rhythmOf(activity);
    const after = afterOf(subscription);
    return [
      detail
        ? md`Last seen ${timestampWithAge(detail.lastActiveAt)}.`
        : md`The explorer cannot be read right now.`,
      ...(rhythm === undefined ? [] : [md`It usually reports every ${roughly(rhythm)}.`]),
      ...(rhythm !== undefined && after < 2 * rhythm
        ? [
            md`⚠️ \`after:${formatDuration(after)}\` is less than two of its reports: \`after:${suggested(rhythm)}\` would not take a late one for silence.`,
          ]
        : []),
    ];
  },

  async nowOf(state, { subject, channelId }) {
    if (subject === null) return undefined;
    const watch = await state.validatorWatches.get(subscriptionId(channelId, VALIDATOR_FEED, subject));
    if (watch?.goneAt !== undefined) return md`⚪ no longer listed since ${timestamp(watch.goneAt)}`;
    if (watch?.alert !== undefined) return md`🔴 silent, last seen ${timestamp(watch.alert)}`;
    const activity = await state.activity.get(subject);
    return activity ? md`🟢 last seen ${timestamp(activity.seenAt)}` : md`not read yet`;
  },
};

/** The next half hour that is two reports long. */
const suggested = (rhythmMs: number): string =>
  formatDuration(Math.ceil((2 * rhythmMs) / 1_800_000) * 1_800_000);

function createFeed(state: State, renderer: Renderer, names: Names, now: () => number): Feed<ValidatorEvent> {
  const views = createAlertViews(state, names, now);
  /** What remains to be said of an alert that is forgotten. */
  const nothing: View = { title: md`This alert is over`, tone: "neutral", readings: [] };
  const current = async (subject: string, mark: string, channelId: string) =>
    renderer.message((await views.of(subject, channelId, mark)) ?? nothing);
  const titleOf = async (subject: string, channelId: string): Promise<string> => {
    const alert = await state.alerts.get(alertId(channelId, subject));
    if (alert?.kind === "silent") return `Silent: ${names.called(alert.validator)}`;
    return alert?.kind === "many" ? `${alert.silent} validators went silent` : "Alerts are on hold";
  };
  const stateOf = async (subject: string, channelId: string) => {
    const id = alertId(channelId, subject);
    const alert = await state.alerts.get(id);
    if (!alert) return undefined;
    const response = await state.responses.get(id);
    return { revision: alert.revision + (response?.revision ?? 0), endedAt: alert.endedAt ?? null };
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
      if (event.kind === "hold") return true;
      if ("members" in event && event.members) return subject !== null && event.members.includes(subject);
      return "validator" in event && subject === event.validator;
    },
    async render(event, mark) {
      const { channelId } = event;
      const subject = subjectOf(event);
      if (subject !== undefined && begins(event)) {
        const { revision = 0 } = (await stateOf(subject, channelId)) ?? {};
        const title = await titleOf(subject, channelId);
        return { payload: await current(subject, mark, channelId), title, revision };
      }
      if (event.kind === "silent" || event.kind === "many" || event.kind === "hold")
        throw new RangeError(`An event of the kind ${event.kind} begins a message`);
      const known = await knownOf(state, names, now, channelId, subject ?? "", event.validator);
      const view = newsView(event, known, mark);
      return { payload: renderer.message(view), title: view.title.toString(), revision: 0 };
    },
    lasting: {
      stateOf,
      current,
      titleOf,
      beginningOf,
    },
  };
}

/** Tells of validators that go silent, and are back; that fall behind; whose traffic runs out. */
export const validator: FeedModule = {
  definition,
  isVital: true,
  pollMs: ({ watchPollSeconds }) => watchPollSeconds * 1_000,

  create({ explorer, state, renderer, directory, names, now }) {
    return {
      feed: createFeed(state, renderer, names, now),
      poll: createValidatorWatch({
        name: VALIDATOR_FEED,
        explorer: explorer.for("background", { maxAgeMs: 0, keep: false }),
        state,
        survey: directory.versions,
        now,
      }),
    };
  },
};
