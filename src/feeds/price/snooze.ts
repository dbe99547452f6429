import * as z from "zod";
import type { Subscription } from "../../delivery/collections.js";
import type { FeedServices } from "../../delivery/module.js";
import { SNOOZE_SPANS, SNOOZES } from "../../delivery/snoozes.js";
import { handlerOf } from "../../discord/buttons.js";
import { mayAnswer } from "../../discord/clicks.js";
import { withParent } from "../../discord/places.js";
import { defineButton, idParameter } from "../../screens/addresses.js";
import { md, timestamp } from "../../text/markdown.js";
import { PersonError } from "../../util/person-error.js";
import { isDone } from "./alerts.js";
import { PRICE_FEED } from "./collections.js";
import { conditionWords } from "./conditions.js";

/** The menu that snoozes a condition on the price. */
export const snoozePriceButton = defineButton("quiet", { id: idParameter, for: z.enum(SNOOZE_SPANS) });

const alertGone = () => new PersonError("This price alert no longer exists, so there's nothing to snooze.");

/** Handles the menu that snoozes a condition, for people who may do so. */
export const snoozePrice = handlerOf({
  button: snoozePriceButton,
  audience: "person",
  async handle({ id, for: span }, click, { rest, state, subscriptions, renderer }: FeedServices) {
    let subscription: Subscription | undefined;
    for await (const channelId of withParent(rest, click.channelId)) {
      subscription = await subscriptions.get({ channelId, feed: PRICE_FEED, subject: id });
      if (subscription) break;
    }
    if (!subscription) throw alertGone();
    const { userId, roleId } = subscription;
    const mayPress = userId === null ? mayAnswer(click, roleId) : userId === click.user.id;
    if (!mayPress)
      throw new PersonError(
        "Only people with the pinged role, or who can manage the server, can snooze this.",
      );
    if (await isDone(state, subscription))
      throw new PersonError("This alert was for one time, so there's nothing to snooze.");
    const snoozedUntil = Date.now() + SNOOZES[span].ms;
    if (!(await subscriptions.change(subscription, (each) => ({ ...each, snoozedUntil })))) throw alertGone();
    const answerLines = [
      md`${conditionWords(id)}: no more alerts until ${timestamp(snoozedUntil, "f")}.`,
      userId === null
        ? md`People who can manage the server can end it earlier, with \`/subscribe resume\`.`
        : md`You can end it earlier in \`/watch list\`.`,
    ];
    return renderer.message({ title: md`💤 Snoozed`, tone: "good", body: answerLines });
  },
});
