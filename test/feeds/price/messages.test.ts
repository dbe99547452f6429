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
  const { notification, body } = alertView({ channelId: "1", subject, from, to, at: 0 }, "mark");
  expect(String(notification)).toContain(`: ${shown} `);
  expect(join(body ?? [], "\n").toString()).toContain(`to **${shown} USD** on`);
});
