import { expect, it } from "vitest";
import { alertView } from "../../../src/feeds/price/messages.js";
import { join } from "../../../src/text/markdown.js";

it.each([
  ["below-0.144", "0.1454", "0.14396", "0.14396"],
  ["below-0.144", "0.1454", "0.1432187", "0.1432"],
  ["above-0.16", "0.15", "0.16004", "0.16004"],
  ["above-0.16", "0.15", "0.1612345", "0.1612"],
  ["above-1000", "990", "1000.000001", "1,000.000001"],
  ["moves-5-24h", "0.144", "0.1512345", "0.1512"],
])("%s from %s to %s: the news and the text show %s", (subject, from, to, shown) => {
  const { notification, body } = alertView({ channelId: "1", subject, from, to, at: 0 }, "mark", 0);
  expect(String(notification)).toContain(`: ${shown} `);
  expect(join(body ?? [], "\n").toString()).toContain(`to **${shown} USD** on`);
});

it.each([
  ["in time", 15, ""],
  ["late", 16, " on 12 December at 15:00 UTC"],
])("an alert that is sent %s says when it was only if that is not clear", (_, minutes, words) => {
  const at = Date.UTC(2026, 11, 12, 15);
  const event = { channelId: "1", subject: "above-0.16", from: "0.15", to: "0.17", at };
  const { notification } = alertView(event, "mark", at + minutes * 60_000);
  expect(String(notification)).toBe(`Canton Coin rose above 0.16 USD: 0.1700 (+13.3%)${words}`);
});
