import { DAY, HOUR, MINUTE, SECOND } from "../../src/util/units.js";
import type { DigestWatch } from "../community.js";
import type { Joining } from "../history/index.js";
import { isPlain } from "../history/odd-motions.js";
import { isOddWithin } from "../history/oddities.js";
import { windowAt } from "../history/windows.js";
import { type Case, type Evidence, iso, JUMP_MS, type Judge } from "./evidence.js";
import { endKnownAt } from "./odd-motions.js";

const clock = new Intl.DateTimeFormat("en-GB", {
  timeZone: "Europe/Berlin",
  weekday: "short",
  hour: "2-digit",
  minute: "2-digit",
  hourCycle: "h23",
  year: "numeric",
  month: "2-digit",
  day: "2-digit",
});

/** Returns the local date and time in Berlin. */
function berlin(at: number): { readonly date: string; readonly time: string; readonly isMonday: boolean } {
  const parts = new Map(clock.formatToParts(at).map(({ type, value }) => [type, value]));
  return {
    date: `${parts.get("year")}-${parts.get("month")}-${parts.get("day")}`,
    time: `${parts.get("hour")}:${parts.get("minute")}`,
    isMonday: parts.get("weekday") === "Mon",
  };
}

/**
 * Returns the times at which a digest is due: once on each of its days, an hour later if its time is skipped.
 */
function slotsOf({ every, time }: DigestWatch, from: number, to: number): number[] {
  const found = new Map<string, number>();
  const [hour = "", minute = ""] = time.split(":");
  const skipped = `${String(Number(hour) + 1).padStart(2, "0")}:${minute}`;
  const late = new Map<string, number>();
  for (let at = Math.ceil((from - DAY) / (10 * MINUTE)) * 10 * MINUTE; at < to; at += 10 * MINUTE) {
    const wall = berlin(at);
    if (every === "week" && !wall.isMonday) continue;
    if (wall.time === time && !found.has(wall.date)) found.set(wall.date, at);
    if (wall.time === skipped && !late.has(wall.date)) late.set(wall.date, at);
  }
  for (const [date, at] of late) if (!found.has(date)) found.set(date, at);
  return [...found.values()].filter((at) => at >= from).sort((a, b) => a - b);
}

interface Digest {
  readonly at: number;
  readonly since: number;
  readonly until: number;
  readonly isLate: boolean;
  readonly text: string;
}

const digestsIn = (channelId: string, every: DigestWatch["every"], evidence: Evidence): Digest[] =>
  evidence.in(channelId).flatMap(({ at, content, text }) => {
    const [, since, until] = /(?:From|between) <t:(\d+):f> (?:to|and) <t:(\d+):f>/.exec(text) ?? [];
    if (!content.startsWith(`📰 ${every === "week" ? "Weekly" : "Daily"} digest`) || until === undefined)
      return [];
    const isLate = text.includes("Late because");
    return [{ at, since: Number(since) * SECOND, until: Number(until) * SECOND, isLate, text }];
  });

/**
 * Checks that there is one digest for each day, on time or marked as late, and that it starts at the end of
 * the last one.
 */
export const judgeDigests: Judge = function* ({ history, community }, evidence) {
  const { startAt, endAt } = history;
  for (const watch of community.digests) {
    const { channelId, every } = watch;
    const all = digestsIn(channelId, every, evidence);
    const slots = slotsOf(watch, startAt + 20 * MINUTE, endAt);
    for (const [index, digest] of all.entries()) {
      const before = all[index - 1];
      const where = `the digest up to ${iso(digest.until)} in ${channelId}`;
      if (before && digest.since !== before.until)
        yield `It begins at ${iso(digest.since)}, where none ended: ${where}`;
      const due = slots.findLast((slot) => slot <= digest.until + JUMP_MS);
      if (due === undefined) yield `Nothing was due: ${where}`;
      else if (digest.isLate && evidence.isClean(due - MINUTE, due + 40 * MINUTE, 40 * MINUTE))
        yield `It says that it is late: ${where}`;
      else if (!digest.isLate && digest.until > due + 15 * MINUTE + JUMP_MS)
        yield `It is late, and does not say so: ${where}`;
    }
    for (const [index, slot] of slots.entries()) {
      const next = slots[index + 1] ?? slot + DAY;
      const own = all.filter(({ until }) => until >= slot - JUMP_MS && until < next - JUMP_MS);
      const where = `the digest of ${iso(slot)} in ${channelId}`;
      if (own.length > 1) yield `Told ${own.length} times: ${where}`;
      if (own.length === 0 && evidence.isClean(slot, Math.min(next, endAt), 40 * MINUTE))
        yield `Not told: ${where}`;
    }
  }
};

/** Returns a field of a digest, or a line of it. Empty if it has none. */
const fieldOf = ({ text }: Digest, name: string): string =>
  new RegExp(`"name":"${name}","value":"(.*?)(?<!\\\\)"`).exec(text)?.[1] ?? "";
const lineOf = (digest: Digest, words: string): string =>
  fieldOf(digest, "Validators")
    .split("\\n")
    .find((line) => line.includes(words)) ?? "";

/** An event that digests should report. */
interface DigestClaim {
  readonly name: string;
  readonly at: number;
  readonly of: (digest: Digest) => string;
}

/**
 * Checks that an event in the period of the digests is reported once. A list that names only some events is
 * inconclusive.
 */
function* judgeClaim(
  { name, at, of }: DigestClaim,
  all: readonly Digest[],
  evidence: Evidence,
): Iterable<string> {
  const word = new RegExp(`${name}(?!\\d)`);
  const telling = all.filter((digest) => word.test(of(digest)));
  if (telling.length > 1) yield `Told ${telling.length} times in digests: ${name}`;
  const early = telling.find(({ until }) => until < at - JUMP_MS);
  if (early) yield `Told in the digest up to ${iso(early.until)}, before it happened: ${name} at ${iso(at)}`;
  const [first, last] = [all[0], all.at(-1)];
  if (
    telling.length > 0 ||
    !first ||
    !last ||
    at < first.until ||
    all.some((each) => each.until > at - JUMP_MS && each.since < at + DAY && / more(\\n|$)/.test(of(each)))
  )
    return;
  if (at < last.until - 2 * HOUR && evidence.isClean(at, last.until))
    yield `In no digest: ${name} at ${iso(at)}`;
}

/** Minimum duration of a silence in a digest for a validator that reports more often than hourly, in ms. */
const HOURLY_MS = 65 * MINUTE;

/** Returns the silences that a digest must report: longer than in any rhythm, with time to notice them. */
const outagesOf = function* ({ history }: Case, from: number, to: number) {
  for (let validator = 0; validator < history.validatorCount; validator += 1)
    for (let since = history.lastReport(validator, from); since < to; ) {
      const next = history.nextReport(validator, since);
      const { least, most } = history.bounds(validator, since);
      yield {
        validator,
        since,
        next,
        isLong: next - since > 3 * Math.max(most, HOURLY_MS),
        isSilence: next - since > 2 * least,
      };
      since = next;
    }
};

/** Returns when the explorer lists a new validator, epoch ms: some only after a while. */
const listedAt = ({ oddities }: Case["history"], { name, at }: Joining): number =>
  windowAt(oddities.get(name) ?? [], at)?.to ?? at;

/** Checks the numbers of validators in a digest's notification. */
function* judgeCounts(
  { history }: Case,
  { text, since, until }: Digest,
  outages: readonly { readonly validator: number; readonly next: number; readonly isSilence: boolean }[],
): Iterable<string> {
  const where = `in the digest up to ${iso(until)}`;
  const countOf = (words: string) =>
    Number(new RegExp(`(\\d+) (?:validators? )?${words}`).exec(text.split("\n")[0] ?? "")?.[1] ?? 0);
  const real = outages.filter(({ next, isSilence }) => isSilence && next > since - 3 * HOUR).length;
  for (const words of ["went silent", "came back"])
    if (countOf(words) > real) yield `${countOf(words)} ${words}, of ${real} silences ${where}`;
  const joined = history.joinings.filter(
    (each) => each.at <= until && listedAt(history, each) > since - 2 * HOUR,
  ).length;
  if (countOf("joined") > joined) yield `${countOf("joined")} joined, of ${joined} ${where}`;
}

/** Checks the share of votes that were cast. All of them is said only if it is so. */
function* judgeParticipation(of: Case, digest: Digest, evidence: Evidence): Iterable<string> {
  const { text, since, until } = digest;
  const percent = Number(/(\d+)% of the possible votes/.exec(text)?.[1] ?? Number.NaN);
  if (Number.isNaN(percent)) return;
  const where = `in the digest up to ${iso(until)}`;
  const lines = fieldOf(digest, "Ended").match(/• .*?(?=\\n|$)/g) ?? [];
  const counted = lines.flatMap((line) => [...line.matchAll(/\((\d+) yes, (\d+) no\)/g)]);
  const shown = counted.reduce((sum, [, yes, no]) => sum + Number(yes) + Number(no), 0);
  const possible = lines.length * of.superValidators.length;
  // Each line with a tally is a request on which everybody could have voted.
  if (counted.length === lines.length && Math.abs(percent - (100 * shown) / possible) > 1)
    yield `${percent}% of the votes were cast, and the tallies are ${shown} of ${possible} ${where}`;
  const ended = of.history.motions.filter(({ closesAt }) => closesAt > since && closesAt <= until);
  const isSure = ended.every(({ closesAt }) => closesAt < until - HOUR && closesAt > since + HOUR);
  // Requests from before the history are not among its motions.
  const isWhole = lines.length === ended.length;
  const wasRead = ended.every(({ closesAt }) =>
    evidence.isClean(closesAt - HOUR, closesAt + 2 * HOUR, 2 * HOUR),
  );
  if (!isSure || !isWhole || ended.length === 0 || !wasRead) return;
  const cast = of.casts.filter(
    ({ title, isUndone }) => !isUndone && ended.some((each) => title === each.title),
  ).length;
  const all = ended.length * of.superValidators.length;
  if (Math.abs(percent - (100 * cast) / all) > 2 || (percent === 100 && cast < all))
    yield `${percent}% of the votes were cast, of ${cast} of ${all} ${where}`;
}

/** Checks that the events in digests have happened and are reported once, and that "nothing" is true. */
export const judgeDigestFacts: Judge = function* (of, evidence) {
  const { history, community } = of;
  for (const { channelId, every } of community.digests) {
    const all = digestsIn(channelId, every, evidence);
    const problems: string[] = [];
    const strays = history.oddMotions.filter((each) => !isPlain(each) && each.kind !== "untitled");
    const listed = [
      ...history.motions.map(({ title, at, closesAt }) => ({ title, from: at, to: closesAt })),
      ...strays.map((each) => ({ title: each.title, from: each.listedAt, to: endKnownAt(each) })),
    ];
    for (const { title, from, to } of listed) {
      const isIn = (field: string) => (each: Digest) => fieldOf(each, field);
      problems.push(...judgeClaim({ name: title, at: from, of: isIn("Opened") }, all, evidence));
      problems.push(...judgeClaim({ name: title, at: to, of: isIn("Ended") }, all, evidence));
    }
    for (const each of history.joinings) {
      const claim = {
        name: each.name,
        at: listedAt(history, each),
        of: (digest: Digest) => lineOf(digest, "Joined"),
      };
      problems.push(...judgeClaim(claim, all, evidence));
    }
    for (const digest of all) {
      const where = `in the digest up to ${iso(digest.until)}`;
      if (/Node \d/.test(lineOf(digest, "Joined"))) problems.push(`An old validator "joined" ${where}`);
      const outages = [...outagesOf(of, digest.since - DAY, digest.until)];
      const isChanging = history.changeAt !== null && Math.abs(history.changeAt - digest.until) < 9 * DAY;
      if (!isChanging) problems.push(...judgeCounts(of, digest, outages));
      problems.push(...judgeParticipation(of, digest, evidence));
      const silentLine = lineOf(digest, "Went silent");
      for (const [, number] of silentLine.matchAll(/Node (\d+)/g))
        if (!isChanging && !outages.some((each) => each.validator === Number(number) && each.isSilence))
          problems.push(`Node ${number} was not silent ${where}`);
      const missed = outages.find(
        ({ validator, since, next, isLong }) =>
          isLong &&
          !isOddWithin(history.oddities, `Node ${validator}`, since - HOUR, next + HOUR) &&
          since > digest.since + HOUR &&
          next < digest.until - HOUR &&
          evidence.isClean(since + 3 * HOUR, next) &&
          !new RegExp(`Node ${validator}(?!\\d)`).test(silentLine),
      );
      const isPartial = /more(\\n|$)|aren't included|are included|couldn't read/.test(digest.text);
      if (missed && !isPartial && !isChanging)
        problems.push(`Node ${missed.validator} was silent from ${iso(missed.since)}, which is not ${where}`);
      if (!digest.text.includes("No news between")) continue;
      const motion = history.motions.find(
        ({ at, closesAt }) =>
          [at, closesAt].some((each) => each > digest.since + HOUR && each < digest.until - HOUR) &&
          evidence.isClean(digest.since, digest.until),
      );
      if (motion) problems.push(`"No news", although there was ${motion.title} ${where}`);
    }
    yield* problems.map((each) => `${each} (${channelId})`);
  }
};
