import type { REST } from "discord.js";
import type { Feed } from "../../delivery/feed.js";
import { SNOOZES } from "../../delivery/snoozes.js";
import type { Subscriptions } from "../../delivery/subscriptions.js";
import type { Names } from "../../directory/names.js";
import type { Action } from "../../discord/action.js";
import { type Click, mayAnswer } from "../../discord/clicks.js";
import type { MessagePayload, Renderer } from "../../discord/message.js";
import { withParent } from "../../discord/places.js";
import { type Alert, alertId, deliveryId, type Response } from "../../storage/catalogue.js";
import type { State } from "../../storage/state.js";
import { PersonError } from "../../util/person-error.js";
import { beginningOf, silenceOf } from "./events.js";
import { createAlertViews } from "./views.js";

interface ResponseDeps {
  readonly feed: Feed["definition"]["name"];
  readonly state: State;
  readonly subscriptions: Subscriptions;
  readonly renderer: Renderer;
  readonly names: Names;
  readonly rest: REST;
  readonly now?: () => number;
}

/** How often a response is tried to be written, while others press in the same moment. */
const TRIES = 5;

/** What the buttons of an alert do: say that somebody is on it, or that it can wait. */
export function createResponses(deps: ResponseDeps): {
  readonly acknowledge: Action<"acknowledge">;
  readonly snooze: Action<"snooze">;
} {
  const { feed, state, subscriptions, renderer, names, rest, now = Date.now } = deps;
  const views = createAlertViews(state, names, now);

  const find = async (click: Click, subject: string): Promise<Alert> => {
    const { channelId } = click;
    const own = channelId && (await state.alerts.get(alertId(channelId, subject)));
    if (own) return own;
    for (const place of await withParent(rest, channelId)) {
      const alert = await state.alerts.get(alertId(place, subject));
      if (alert) return alert;
    }
    throw new PersonError(
      "This is no alert of mine any more: it is over, it was a drill, or nobody watches this validator.",
    );
  };

  /** @throws {PersonError} for whom the alert does not concern */
  const check = async (click: Click, alert: Alert, validator: string) => {
    const { channelId } = alert;
    const parties = alert.kind === "many" ? alert.members.map((each) => each.validator) : [validator];
    const own = await Promise.all(parties.map((subject) => subscriptions.get({ channelId, feed, subject })));
    const concerned = own.flatMap((each) => each ?? []);
    if (concerned.length === 0) throw new PersonError("Nobody is told of this here any more.");
    if (concerned.some(({ userId }) => userId === click.user.id)) return;
    const roles = [...new Set(concerned.flatMap(({ roleId }) => roleId ?? []))];
    if (roles.some((roleId) => mayAnswer(click, roleId)) || mayAnswer(click, null)) return;
    const holders = roles.map((roleId) => `<@&${roleId}>`).join(" or ");
    throw new PersonError(
      roles.length === 0
        ? "Only those who may manage the server can answer for this alert."
        : `Only holders of ${holders}, and those who may manage the server, can answer for this alert.`,
    );
  };

  /** Writes what somebody said, on top of what others have said; of two in the same moment the first one counts. */
  const respond = async (
    click: Click,
    validator: string,
    since: number,
    change: (before: Response) => Response | undefined,
  ): Promise<MessagePayload> => {
    const subject = silenceOf(validator, since);
    const alert = await find(click, subject);
    await check(click, alert, validator);
    const id = alertId(alert.channelId, subject);
    for (let tries = 0; tries < TRIES; tries += 1) {
      const before = await state.responses.get(id);
      const next = alert.endedAt === undefined ? change(before ?? { revision: 0 }) : undefined;
      if (!next) break;
      if (await state.commit([state.responses.expect(id, before), state.responses.put(id, next)])) break;
    }
    const mark = renderer.mark(deliveryId(feed, beginningOf(subject), alert.channelId));
    const view = await views.of(subject, alert.channelId, mark);
    if (!view) throw new PersonError("This alert is over.");
    return renderer.message(view);
  };

  return {
    acknowledge: ({ id, since }, click) =>
      respond(click, id, since, (before) =>
        before.acknowledged
          ? undefined
          : { ...before, revision: before.revision + 1, acknowledged: { by: click.user.id, at: now() } },
      ),
    snooze: ({ id, since, for: span }, click) =>
      respond(click, id, since, (before) => {
        const until = span === "back" ? null : now() + SNOOZES[span].ms;
        const snoozed = { by: click.user.id, at: now(), until };
        return { ...before, revision: before.revision + 1, snoozed };
      }),
  };
}
