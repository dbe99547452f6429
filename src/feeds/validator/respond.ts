import { GuildMember } from "discord.js";
import { deliveryId } from "../../delivery/collections.js";
import type { FeedServices } from "../../delivery/module.js";
import { SNOOZES } from "../../delivery/snoozes.js";
import { SUPER_VALIDATORS } from "../../directory/directory.js";
import { coveredBy, ownOf } from "../../directory/groups.js";
import { type ButtonHandler, handlerOf } from "../../discord/buttons.js";
import { type Click, mayAnswer, type Press } from "../../discord/clicks.js";
import type { MessagePayload } from "../../discord/message.js";
import { withParent } from "../../discord/places.js";
import { changeDocument } from "../../storage/state.js";
import { cut } from "../../text/plain.js";
import { PersonError } from "../../util/person-error.js";
import { DAY } from "../../util/units.js";
import { acknowledgeButton, handBackButton, snoozeButton } from "./buttons.js";
import { type Alert, type AlertResponse, alertId, alerts, responses, VALIDATOR_FEED } from "./collections.js";
import { beginningOf, silenceOf } from "./events.js";
import { alertView } from "./views.js";

/** People's answers to an alert. Their revision increases with each change. */
type Answers = Omit<AlertResponse, "revision">;

/** Returns the person who takes an alert, with their display name. */
function takenBy({ user, member }: Click, at: number) {
  const name = member instanceof GuildMember ? member.displayName : (member?.nick ?? user.displayName);
  return { by: user.id, at, name: cut(name, 60) };
}

/** Returns the alert that a button is about. @throws {PersonError} if it is not active any more */
async function findAlert(click: Click, subject: string, { state, rest }: FeedServices): Promise<Alert> {
  const knownAlerts = state.open(alerts);
  for await (const place of withParent(rest, click.channelId)) {
    const alert = await knownAlerts.get(alertId(place, subject));
    if (alert) return alert;
  }
  throw new PersonError(
    "This alert is no longer active: it's over, it was a test, or its subscription was removed.",
  );
}

/** @throws {PersonError} for a person who may not answer for the alert */
async function checkAnswerer(
  click: Click,
  alert: Alert,
  validator: string,
  { subscriptions, directory }: FeedServices,
): Promise<void> {
  const { channelId } = alert;
  const parties = alert.kind === "many" ? alert.members.map((each) => each.validator) : [validator];
  const ownSubscriptions = await subscriptions.recipients({ channelId, feed: VALIDATOR_FEED, subject: null });
  const covering = ownSubscriptions.filter(
    ({ subject }) => subject !== null && coveredBy(subject, parties, directory).length > 0,
  );
  // Several teams may answer for a group: which of them it pinged depends on their settings at that time.
  const following = alert.kind === "many" ? covering : ownOf(covering, parties, directory);
  // The lists may not show a super validator for a while.
  const concerned =
    following.length > 0 ? following : ownSubscriptions.filter(({ subject }) => subject === SUPER_VALIDATORS);
  if (concerned.length === 0) throw new PersonError("This alert's subscription was removed.");
  if (concerned.some(({ userId }) => userId === click.user.id)) return;
  const roles = [...new Set(concerned.flatMap(({ roleId }) => roleId ?? []))];
  if (roles.some((roleId) => mayAnswer(click, roleId)) || mayAnswer(click, null)) return;
  const holders = roles.map((roleId) => `<@&${roleId}>`).join(" or ");
  throw new PersonError(
    roles.length === 0
      ? "Only people who can manage the server can respond to this alert."
      : `Only people with ${holders}, or who can manage the server, can respond to this alert.`,
  );
}

/** Buttons on the alert itself change the message for everyone. Buttons on later messages answer in private. */
const audience = ({ query }: Press) => (query.split("&").includes("on=news") ? "person" : "everyone");

/** The buttons under an alert: take it, hand it back, or snooze it. */
export function alertButtons(now: () => number = Date.now): readonly ButtonHandler<FeedServices>[] {
  /**
   * Adds a person's response to the existing ones. If two people act at the same time, the first one counts.
   * @param change returns `undefined` if nothing changes
   */
  const respond = async (
    { id: validator, since }: { readonly id: string; readonly since: number },
    click: Click,
    services: FeedServices,
    change: (before: Answers) => Answers | undefined,
  ): Promise<MessagePayload> => {
    const { explorer, state, renderer, names } = services;
    const subject = silenceOf(validator, since);
    const alert = await findAlert(click, subject, services);
    await checkAnswerer(click, alert, validator, services);
    const { channelId } = alert;
    await changeDocument(state, responses, alertId(channelId, subject), (previous) => {
      const { revision = 0, ...before } = previous ?? {};
      const changed = alert.endedAt === undefined ? change(before) : undefined;
      return changed ? { ...changed, revision: revision + 1 } : previous;
    });
    const mark = renderer.mark(deliveryId(VALIDATOR_FEED, beginningOf(subject), channelId));
    const deps = { state, names, explorer: explorer.for("background", { maxAgeMs: DAY }), now };
    const view = await alertView(deps, subject, channelId, mark);
    if (!view) throw new PersonError("This alert is over.");
    return renderer.message(view);
  };

  return [
    handlerOf({
      button: acknowledgeButton,
      audience,
      handle: (place, click, services: FeedServices) =>
        respond(place, click, services, (before) =>
          before.acknowledged ? undefined : { ...before, acknowledged: takenBy(click, now()) },
        ),
    }),
    handlerOf({
      button: handBackButton,
      audience,
      handle: (place, click, services: FeedServices) =>
        respond(place, click, services, ({ acknowledged, ...others }) => {
          if (!acknowledged) return undefined;
          const { by } = acknowledged;
          if (by !== click.user.id && !mayAnswer(click, null)) {
            const taker = by === null ? "the person who took it" : `<@${by}>`;
            throw new PersonError(`Only ${taker}, or someone who can manage the server, can hand it back.`);
          }
          return others;
        }),
    }),
    handlerOf({
      button: snoozeButton,
      audience,
      handle: ({ for: span, ...place }, click, services: FeedServices) =>
        respond(place, click, services, ({ snoozed: earlier, ...others }) => {
          if (span === "off") return earlier && others;
          const snoozedUntil = span === "back" ? null : now() + SNOOZES[span].ms;
          return { ...others, snoozed: { by: click.user.id, at: now(), until: snoozedUntil } };
        }),
    }),
  ];
}
