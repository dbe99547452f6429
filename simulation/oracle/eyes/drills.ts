import { DAY, HOUR, MINUTE, SECOND } from "../../../src/util/units.js";
import { iso, type Judge } from "../evidence.js";
import { alertsOf } from "../prices.js";
import { visitsOf, whereOf } from "./visits.js";

/** Distance by which a price must move back before an alert repeats, in percent. */
const BACK = 1;

/** Maximum error of a price that is shown with four decimals, in USD. */
const ROUNDED = 0.00005;

/** Time within which the bot has read everything once, in ms. */
const START_MS = 20 * MINUTE;

/** Subject of a price alert, such as "above-0.156" or "moves-3-1h". */
const PRICE_SUBJECT = /^price (above|below|moves)-([\d.]+)/;

/** Checks that the drill of a price alert shows an example that it is sent for. */
function* judgePriceDrill(when: string, value: number, text: string): Iterable<string> {
  const [from, to] = /From ([\d.]+) USD.*? to \*\*([\d.]+) USD\*\*/.exec(text)?.slice(1).map(Number) ?? [];
  if (from === undefined || to === undefined) {
    yield "No example";
    return;
  }
  const percent = (to / from - 1) * 100;
  /** Error of the percentage, because both prices are rounded. */
  const roundedBy = 100 * (ROUNDED / from + ROUNDED / to);
  const isExample = {
    above: to > value && from <= value,
    below: to < value && from >= value,
    moves: Math.abs(percent) > value - roundedBy,
  }[when];
  if (!isExample) yield `From ${from} to ${to} is no example of "${when} ${value}"`;
  const shown = Number(/\(([+−-][\d.]+)%\)/.exec(text)?.[1]?.replace("−", "-"));
  if (Math.abs(shown - percent) > 0.05 + roundedBy) yield `${shown}%, and not ${percent.toFixed(2)}%`;
}

/** Checks what is said of a price alert: when it repeats, and from when it knows a whole span. */
function* judgePriceWords(
  when: string,
  value: number,
  text: string,
  knownMs: number,
  startAt: number,
): Iterable<string> {
  if (!text.includes("told once")) {
    const back =
      when === "moves"
        ? Math.max(value - BACK, value / 2)
        : value * (1 + (when === "above" ? -BACK : BACK) / 100);
    const shown = Number(/back (?:at|within) ([\d.]+)(?= USD or|% over)/.exec(text)?.[1]);
    const side = { above: "USD or below", below: "USD or above", moves: "% over an hour" }[when] ?? "";
    if (Math.abs(shown - back) > 1e-6 || !text.includes(side))
      yield `Repeats at ${shown}, and not at ${back} ${side}`;
  }
  if (when !== "moves") return;
  const wholeAt = Number(/Until <t:(\d+):f>, moves are measured/.exec(text)?.[1]) * SECOND;
  const isWhole = Number.isNaN(wholeAt);
  if (isWhole && knownMs < HOUR - START_MS) yield "It can't know the price of an hour ago yet";
  if (!isWhole && knownMs > HOUR + START_MS) yield "It knows the price of an hour ago";
  if (!isWhole && Math.abs(wholeAt - startAt - HOUR) > START_MS)
    yield `It knows a whole hour from ${iso(wholeAt)} on`;
}

/** Checks what the drill of a digest says of what it does not know. */
function* judgeDigestDrill(text: string, knownMs: number): Iterable<string> {
  if (text.includes("haven't read the validators")) yield "It has read the validators";
  const isYoung = knownMs < DAY - START_MS && text.includes("Daily");
  if (isYoung && !/included from <t:\d+:f> on/.test(text))
    yield "It can't know the validators of a whole day yet";
}

/** Checks the drills of price alerts and digests, and what is said when one is subscribed to. */
export const judgeDrills: Judge = function* (of, evidence) {
  const { startAt, priceFaults } = of.history;
  for (const visit of visitsOf(of, evidence)) {
    if (visit.screen !== "drill" && visit.screen !== "standing") continue;
    const { about, text, from, screen } = visit;
    const knownMs = from - startAt;
    const where = `${about} ${whereOf(visit)}`;
    const [, when, value] = PRICE_SUBJECT.exec(about) ?? [];
    const isPriced = !priceFaults.some((fault) => fault.from < from && fault.to > from - 2 * HOUR);
    const found: string[] = [];
    if (screen === "standing" && text.includes("one-time alert has been sent")) {
      const isTold = of.community.prices.some(
        (watch) =>
          watch.isOnce &&
          about.startsWith(`price ${watch.when}-${watch.value}`) &&
          alertsOf(watch, evidence).some(({ at }) => at <= from),
      );
      if (!isTold) yield `No alert has been sent: ${where}`;
    } else if (when !== undefined && isPriced)
      found.push(
        ...(screen === "drill"
          ? judgePriceDrill(when, Number(value), text)
          : judgePriceWords(when, Number(value), text, knownMs, startAt)),
      );
    if (about.startsWith("digest") && screen === "drill" && knownMs > 2 * START_MS)
      found.push(...judgeDigestDrill(text, knownMs));
    yield* found.map((each) => `${each}: ${where}`);
  }
};
