import { DAY, HOUR, MINUTE, SECOND } from "../../../src/util/units.js";
import { isOddWithin } from "../../history/oddities.js";
import { JOINED } from "../../history/validators.js";
import { type Case, iso, type Judge, secondOf, type Visit } from "../evidence.js";
import { AGES, ageOf, visitsOf, whereOf } from "./visits.js";

/** Maximum age of names and versions, which the bot reads every half hour, in ms. */
const DIRECTORY_MS = 45 * MINUTE;
/** Number of validators on a page. */
const PAGE = 100;

/** A validator as a screen shows it. Missing parts are not shown. */
interface Shown {
  readonly number: number;
  readonly sign?: string | undefined;
  /** Its last report, in seconds. */
  readonly reportedAt?: number | undefined;
  readonly version?: string | undefined;
}

/** Rows of lists of validators, and of `/validator overview`. */
const ROW =
  /(🟢|🟡|🔴) (?:\p{L}+ · |\*\*)Node (\d+) `[^`]*`(?:\*\* · |\\n-# last report )<t:(\d+):R> · `([\d.]+)`/gu;
/** Rows of subscriptions and watches. */
const FOLLOWED = /Node (\d+)\*\*(?:(?!Node \d).)*?(🟢|🔴) (?:silent, )?last report <t:(\d+):/gu;

function* rowsIn({ text }: Visit): Iterable<Shown> {
  for (const [, sign, number, seconds, version] of text.matchAll(ROW))
    yield { number: Number(number), sign, reportedAt: Number(seconds), version };
  for (const [, number, sign, seconds] of text.matchAll(FOLLOWED))
    yield { number: Number(number), sign, reportedAt: Number(seconds) };
}

/** Returns what the screen of one validator shows. */
function shownOn({ about, text }: Visit): Shown | undefined {
  const number = Number(/^Node (\d+)$/.exec(about)?.[1] ?? Number.NaN);
  if (Number.isNaN(number)) return undefined;
  const [, sign, seconds] = /(🟢|🟡|🔴) \p{L}+ · last report <t:(\d+):f>/u.exec(text) ?? [];
  const version = /"name":"Version","value":"`([\d.]+)`/.exec(text)?.[1];
  return { number, sign, reportedAt: seconds === undefined ? undefined : Number(seconds), version };
}

/** Checks a validator's last report, its version, and that its sign follows from its last report. */
function* judgeShown({ history }: Case, visit: Visit, shown: Shown): Iterable<string> {
  const { number, sign, reportedAt, version } = shown;
  const oldest = visit.from - ageOf(visit);
  const where = `Node ${number} ${whereOf(visit)}`;
  if (version !== undefined) {
    const real = [oldest, visit.from, visit.to].map((at) => history.versionOf(number, at));
    if (!real.includes(version)) yield `Shows version ${version}, not ${real.join(" or ")}: ${where}`;
  }
  if (reportedAt === undefined) return;
  if (reportedAt * SECOND > visit.to + 2 * MINUTE)
    yield `A report in the future, ${iso(reportedAt * SECOND)}: ${where}`;
  if (isOddWithin(history.oddities, `Node ${number}`, oldest - HOUR, visit.to)) return;
  const isReport = secondOf(history.lastReport(number, (reportedAt + 1) * SECOND - 1)) === reportedAt;
  const least = secondOf(history.lastSeen(number, oldest));
  const most = secondOf(history.lastSeen(number, visit.to));
  if (!isReport || reportedAt < least || reportedAt > most)
    yield `Shows a report of ${iso(reportedAt * SECOND)}, not of ${iso(most * SECOND)}: ${where}`;
  else
    yield* judgeSign({ history }, visit, {
      number,
      sign,
      silent: [oldest, visit.to].map((at) => at - reportedAt * SECOND),
    });
}

/** Returns the shortest and the longest gap between two reports of any healthy validator. */
const extremesOf = ({ history }: Pick<Case, "history">, at: number) => {
  const bounds = [0, 1, 2].map((each) => history.bounds(each, at));
  return {
    least: Math.min(...bounds.map((each) => each.least)),
    most: Math.max(...bounds.map((each) => each.most)),
  };
};

const isAroundChange = ({ history: { changeAt } }: Pick<Case, "history">, at: number): boolean =>
  changeAt !== null && Math.abs(at - changeAt) < DAY;

/** @param silent bounds of the time without a report at which the sign was chosen, in ms */
function* judgeSign(
  of: Pick<Case, "history">,
  visit: Visit,
  { number, sign, silent }: { number: number; sign: string | undefined; silent: readonly number[] },
): Iterable<string> {
  if (isAroundChange(of, visit.from)) return;
  if (isOddWithin(of.history.oddities, `Node ${number}`, visit.from - ageOf(visit) - HOUR, visit.to)) return;
  const [shortest = 0, longest = 0] = silent;
  const { most } = extremesOf(of, visit.from);
  const { least } = of.history.bounds(number, visit.from);
  const where = `Node ${number} ${whereOf(visit)}`;
  // In a list, the alert counts, which may wait for three hours and must be confirmed.
  const isList = ageOf(visit) === AGES.list;
  const patience = isList ? Math.max(3 * HOUR, 2.5 * most) + HOUR : 2.5 * most;
  if (sign === "🔴" && longest < 2 * least)
    yield `Shown as silent after ${Math.round(longest / MINUTE)} min: ${where}`;
  if (sign === "🟢" && shortest > patience)
    yield `Shown as active after ${Math.round(shortest / MINUTE)} min: ${where}`;
  if (sign === "🟡" && longest < 1.4 * least)
    yield `Shown as late after ${Math.round(longest / MINUTE)} min: ${where}`;
}

/** True if a validator is a super validator at a time. */
const isSuperValidatorAt = ({ superValidators, successions }: Case, name: string, at: number): boolean => {
  const change = successions.findLast(
    (each) => each.at <= at && (each.former === name || each.successor === name),
  );
  return change ? change.successor === name : superValidators.includes(name);
};

/** Checks every validator that a screen, a list or the suggestions show. */
export const judgeValidators: Judge = function* (of, evidence) {
  for (const visit of visitsOf(of, evidence)) {
    const shown = visit.screen === "validator" ? shownOn(visit) : undefined;
    if (shown) {
      yield* judgeShown(of, visit, shown);
      const kinds = [visit.from - DIRECTORY_MS, visit.to].map((at) =>
        isSuperValidatorAt(of, visit.about, at) ? "super validator" : "validator",
      );
      if (!kinds.some((kind) => new RegExp(`"name":"Kind","value":"${kind}(?:\\\\n|")`).test(visit.text)))
        yield `Not a ${kinds.join(" or ")}: ${whereOf(visit)}`;
    }
    for (const row of rowsIn(visit)) yield* judgeShown(of, visit, row);
    if (visit.screen !== "validator choices") continue;
    for (const [, sign, number] of visit.text.matchAll(/(🟢|🟡|🔴) Node (\d+) /gu)) {
      const [oldest, newest] = [visit.from - ageOf(visit), visit.to];
      const silent = [
        oldest - of.history.lastSeen(Number(number), newest),
        newest - of.history.lastSeen(Number(number), oldest),
      ];
      yield* judgeSign(of, visit, { number: Number(number), sign, silent });
    }
  }
};

/**
 * Returns the number of validators that the explorer lists at a time, of active ones by version, and of those that exist but are
 * not listed. Later ones are always active. Some may count as active or not (`most`).
 */
function countAt({ history }: Case, at: number) {
  const counts = new Map<string, number>();
  const most = new Map<string, number>();
  const gaps = extremesOf({ history }, at);
  let unlisted = 0;
  let odd = 0;
  const told = history.shownAt(at);
  for (let number = 0; number < history.validatorCount; number += 1) {
    if (history.oddityOf(`Node ${number}`, told) === "unlisted") {
      unlisted += 1;
      continue;
    }
    const silentMs = told - history.lastSeen(number, told);
    // Without a report, it may count as active or not.
    const isOdd = history.oddityOf(`Node ${number}`, at) !== undefined;
    if (silentMs > 2.5 * gaps.most && !isOdd) continue;
    if (isOdd) odd += 1;
    const version = history.versionOf(number, told);
    addOne(most, version);
    if (silentMs <= 2 * gaps.least) addOne(counts, version);
  }
  const known = history.joinings.filter((each) => each.at <= at);
  const joined = known.filter(({ name }) => history.oddityOf(name, told) !== "unlisted").length;
  const total = history.validatorCount - unlisted + joined;
  return { counts, most, joined, odd, total, unlisted: unlisted + known.length - joined };
}

const addOne = (counts: Map<string, number>, key: string) => void counts.set(key, (counts.get(key) ?? 0) + 1);

/** Checks the number of active validators on each version, and its share. */
export const judgeVersionCounts: Judge = function* (of, evidence) {
  for (const visit of visitsOf(of, evidence)) {
    if (visit.screen !== "versions" && visit.screen !== "overview") continue;
    const readAt = Number(/Explorer data from <t:(\d+)/.exec(visit.text)?.[1]) * SECOND;
    if (Number.isNaN(readAt)) continue;
    if (readAt < visit.from - DIRECTORY_MS - AGES.screen) yield `Data from ${iso(readAt)}: ${whereOf(visit)}`;
    // The overview shows the versions of an earlier reading than its own, and what was read later of some is known too.
    const firstAt = visit.screen === "overview" ? visit.from - DIRECTORY_MS : readAt - 2 * MINUTE;
    const steps = Math.ceil((visit.to + MINUTE - firstAt) / (3 * MINUTE));
    const real = Array.from({ length: steps + 1 }, (_, step) => countAt(of, firstAt + 3 * step * MINUTE));
    const rows = [...visit.text.matchAll(/`([\d.]+)` · \*\*(\d+)\*\* · (?:([\d.]+)|[<>][^%]*)%/gu)];
    const sum = rows.reduce((total, [, , count]) => total + Number(count), 0);
    const percents = rows.flatMap(([, , , percent]) => percent ?? []);
    const digits = new Set(percents.map((percent) => (percent.split(".")[1] ?? "").length));
    if (visit.screen === "versions" && digits.size > 1)
      yield `Percentages with different digits, ${percents.join(", ")}: ${whereOf(visit)}`;
    for (const [, version = "", shown, percent] of rows) {
      const counts = real.map((each) => each.counts.get(version) ?? 0);
      const most = real.map((each) => each.most.get(version) ?? 0);
      const joined = Math.max(...real.map((each) => each.joined));
      // The bot counts a validator that is not listed while it knows it from its own page.
      const opened = Math.max(...real.map((each) => each.unlisted));
      // While two pages are read, those that joined together report together, and move others to the page that was read before.
      const moved = Math.max(...real.map(({ total }) => total)) > PAGE ? Math.ceil(joined / JOINED) : 0;
      const isOff =
        Number(shown) < Math.min(...counts) - Math.max(...real.map((each) => each.odd)) - moved ||
        Number(shown) > Math.max(...most) + joined + opened;
      if (isOff && !isAroundChange(of, visit.from))
        yield `${shown} run ${version}, of ${Math.min(...counts)} to ${Math.max(...most)} and ${joined}: ${whereOf(visit)}`;
      const share = (100 * Number(shown)) / sum;
      if (visit.screen === "versions" && percent !== undefined && Math.abs(Number(percent) - share) > 0.06)
        yield `${percent}% run ${version}, and not ${share.toFixed(2)}%: ${whereOf(visit)}`;
    }
  }
};

/** Checks the numbers of active and inactive validators, and the newest round. */
export const judgeTotals: Judge = function* (of, evidence) {
  const { history } = of;
  for (const visit of visitsOf(of, evidence)) {
    const where = whereOf(visit);
    const oldest = visit.from - AGES.screen;
    if (visit.screen === "overview") {
      const counts =
        /🟢 \*\*(\d+)\*\* of (\d+) active · 🔴 \*\*(\d+)\*\* inactive(?: · ⚪ \*\*(\d+)\*\* unknown)?/u;
      const [, active, total, inactive, unknown = 0] =
        counts.exec(visit.text)?.map((each = "0") => Number(each)) ?? [];
      if (active === undefined || total === undefined || inactive === undefined) yield `No totals ${where}`;
      else {
        if (active + inactive + unknown !== total)
          yield `${active}, ${inactive} and ${unknown} are not ${total}: ${where}`;
        const steps = Array.from({ length: 8 }, (_, step) => oldest + (step * (visit.to - oldest)) / 7);
        const real = steps.map((at) => countAt(of, at).total);
        if (total < Math.min(...real) || total > Math.max(...real))
          yield `${total} validators, of ${Math.min(...real)} to ${Math.max(...real)}: ${where}`;
        const isOdd = (number: number) =>
          isOddWithin(history.oddities, `Node ${number}`, oldest - HOUR, visit.to);
        const numbers = Array.from({ length: history.validatorCount }, (_, number) => number);
        const { least, most } = extremesOf(of, visit.from);
        const silentFor = (number: number) => visit.to - history.lastSeen(number, visit.to);
        const mayBe = numbers.filter(
          (number) => isOdd(number) || visit.to - history.lastSeen(number, oldest) > 2 * least,
        ).length;
        const mustBe = numbers.filter(
          (number) => !isOdd(number) && silentFor(number) - AGES.screen > 2.5 * most,
        ).length;
        if (!isAroundChange(of, visit.from) && (inactive < mustBe || inactive > mayBe))
          yield `${inactive} inactive, of ${mustBe} to ${mayBe}: ${where}`;
      }
    }
    if (visit.screen === "network") {
      const round = Number(/"Latest round","value":"([\d,]+)"/.exec(visit.text)?.[1]?.replaceAll(",", ""));
      const real = [oldest, visit.to].map((at) => history.roundAt(at));
      if (!Number.isNaN(round) && (round < Math.min(...real) || round > Math.max(...real)))
        yield `Round ${round}, of ${real.join(" to ")}: ${where}`;
      const open = /🗳️ \*\*(\d+) vote requests?\*\* open/u.exec(visit.text)?.[1];
      const isRecent = (each: number | null) =>
        each !== null && each > oldest - 10 * MINUTE && each <= visit.to;
      const isChanging =
        history.motions.some(({ at, closesAt }) => isRecent(at) || isRecent(closesAt)) ||
        history.oddMotions.some(({ at, closesAt, listedAt, goneAt }) =>
          [at, closesAt, listedAt, goneAt].some(isRecent),
        );
      if (open !== undefined && !isChanging && Number(open) !== visit.open)
        yield `${open} open vote requests, not ${visit.open}: ${where}`;
    }
  }
};

/** Checks that "most" means more than half. */
export const judgeMajorities: Judge = function* (of, evidence) {
  const channels = new Set(of.community.validators.map(({ channelId }) => channelId));
  const alerts = [...channels].flatMap((channelId) => evidence.in(channelId));
  const texts = [
    ...[...visitsOf(of, evidence)].map((visit) => ({
      text: visit.text,
      at: visit.to,
      where: whereOf(visit),
    })),
    ...alerts.map(({ content, at }) => ({ text: content, at, where: `${content} at ${iso(at)}` })),
  ];
  for (const { text, at, where } of texts) {
    const said = /`([\d.]+)`, which most run/.exec(text)?.[1] ?? /and most run ([\d.]+\d)/.exec(text)?.[1];
    if (said === undefined) continue;
    const shares = Array.from({ length: 12 }, (_, step) => {
      const { counts, most, joined } = countAt(of, at - step * 5 * MINUTE);
      const all = [...counts.values()].reduce((sum, count) => sum + count, joined);
      return ((most.get(said) ?? 0) + joined) / all;
    });
    if (Math.max(...shares) <= 0.5) yield `Most run ${said}, and it is ${shares[0]?.toFixed(2)}: ${where}`;
  }
};
