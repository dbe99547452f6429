import { SNOOZE_SPANS, SNOOZES } from "../../delivery/snoozes.js";
import { percentChange } from "../../ledger/prices.js";
import { address, buttonAddress } from "../../screens/addresses.js";
import { usdNumber, usdText } from "../../screens/price.js";
import type { Menu, View } from "../../screens/view.js";
import { type Markdown, md, timestamp, utcDate } from "../../text/markdown.js";
import { grouped } from "../../text/numbers.js";
import { MINUTE } from "../../util/units.js";
import { OVER, settingsOf } from "./conditions.js";
import type { PriceEvent } from "./events.js";
import { snoozePriceButton } from "./snooze.js";

/** Returns an alert's price. It is exact if rounding would hide that it has passed the limit. */
function priceIn({ subject: of, to }: PriceEvent): string {
  const { when = "moves", value } = settingsOf(of) ?? {};
  const rounded = Number(usdNumber(to).replaceAll(",", ""));
  const isPast = { above: rounded > Number(value), below: rounded < Number(value), moves: true }[when];
  return isPast ? usdNumber(to) : grouped(to, 10);
}

/** Returns an alert's news: "Canton Coin rose above 0.16 USD: 0.1825 (+25%)". */
function newsOf(event: PriceEvent): Markdown {
  const { subject: of, from, to } = event;
  const isDown = Number(to) < Number(from);
  const { when, value, over } = settingsOf(of) ?? {};
  const change = percentChange(from, to);
  const changeWords = change === "unchanged" ? md`` : md` (${change})`;
  if (when === "moves" && value && over)
    return md`Canton Coin ${isDown ? "fell" : "rose"} ${value}% or more in ${OVER[over]}: ${usdText(to)}${changeWords}`;
  if (when === undefined || value === undefined) return md`Canton Coin: ${usdText(to)}${changeWords}`;
  return md`Canton Coin ${when === "below" ? "fell" : "rose"} ${when} ${value} USD: ${priceIn(event)}${changeWords}`;
}

/** Age from which an alert's notification says when it was, in ms. It may have waited for a channel. */
const LATE_MS = 15 * MINUTE;

/**
 * Returns an alert's message.
 * @param now time at which it is sent, epoch ms
 */
export function alertView(event: PriceEvent, mark: string, now: number): View {
  const { subject: of, from, to, at, since, isLast } = event;
  const lateWords = now - at > LATE_MS ? md` on ${utcDate(at)}` : md``;
  const snoozeMenu: Menu = {
    placeholder: "Snooze…",
    choices: SNOOZE_SPANS.map((span) => ({
      label: SNOOZES[span].words,
      emoji: "💤",
      to: buttonAddress(snoozePriceButton, { id: of, for: span }),
    })),
  };
  return {
    tone: Number(to) < Number(from) ? "bad" : "good",
    notification: md`${newsOf(event)}${lateWords}`,
    body: [
      md`From ${usdText(from)}${since === undefined ? md`` : md` on ${timestamp(since, "f")}`} to **${priceIn(event)} USD** on ${timestamp(at, "f")}.`,
    ],
    menus: isLast ? [] : [snoozeMenu],
    links: [{ label: "Price", emoji: "📈", to: address("price", {}), mark }],
  };
}
