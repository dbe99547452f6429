import * as z from "zod";
import type { FeedServices } from "../../delivery/module.js";
import { SNOOZES } from "../../delivery/snoozes.js";
import { handlerOf } from "../../discord/buttons.js";
import { mayAnswer } from "../../discord/clicks.js";
import { withParent } from "../../discord/places.js";
import { defineButton, idParameter } from "../../screens/addresses.js";
import { md, timestamp } from "../../text/markdown.js";
import { PersonError } from "../../util/person-error.js";
import { PRICE_FEED } from "./collections.js";
import { conditionWords } from "./conditions.js";

/** The menu that snoozes a condition on the price. */
export const snoozePriceButton = defineButton("quiet", { id: idParameter, for: z.enum(["1h", "8h", "1d"]) });

/** Snoozes a condition for the people who may answer for it. */
export const snoozePrice = handlerOf({
  button: snoozePriceButton,
  audience: "person",
  async handle({ id, for: span }, click, { rest, subscriptions, renderer }: FeedServices) {
    const places = await withParent(rest, click.channelId);
    const foundSubscriptions = await Promise.all(
      places.map((channelId) => subscriptions.get({ channelId, feed: PRICE_FEED, subject: id })),
    );
    const subscription = foundSubscriptions.find((each) => each !== undefined);
    if (!subscription)
      throw new PersonError("This is no alert of mine any more: nobody watches the price like that here.");
    const { userId, roleId } = subscription;
    const mayPress = userId === null ? mayAnswer(click, roleId) : userId === click.user.id;
    if (!mayPress)
      throw new PersonError(
        "Only holders of the role that is pinged, and those who may manage the server, can snooze this.",
      );
    const snoozedUntil = Date.now() + SNOOZES[span].ms;
    await subscriptions.change(subscription, (each) => ({ ...each, snoozedUntil }));
    const line = md`${conditionWords(id)}: nothing more is told before ${timestamp(snoozedUntil, "f")}.`;
    return renderer.message({ title: md`💤 Snoozed`, tone: "good", body: [line], readings: [] });
  },
});
