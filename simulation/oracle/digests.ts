import { DAY, MINUTE, SECOND } from "../../src/util/units.js";
import type { DigestWatch } from "../community.js";
import { type Evidence, iso, JUMP_MS, type Judge } from "./evidence.js";

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

/** What a clock on a wall in Berlin shows. */
function berlin(at: number): { readonly date: string; readonly time: string; readonly isMonday: boolean } {
  const parts = new Map(clock.formatToParts(at).map(({ type, value }) => [type, value]));
  return {
    date: `${parts.get("year")}-${parts.get("month")}-${parts.get("day")}`,
    time: `${parts.get("hour")}:${parts.get("minute")}`,
    isMonday: parts.get("weekday") === "Mon",
  };
}

/** When a digest is due: once on each of its days, an hour later if the night skips its time. */
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
}

const digestsIn = (channelId: string, every: DigestWatch["every"], evidence: Evidence): Digest[] =>
  evidence.in(channelId).flatMap(({ at, title, text }) => {
    const [, since, until] = /(?:From|between) <t:(\d+):f> (?:to|and) <t:(\d+):f>/.exec(text) ?? [];
    if (title !== `📰 The ${every} on the ledger` || until === undefined) return [];
    const isLate = text.includes("This comes late");
    return [{ at, since: Number(since) * SECOND, until: Number(until) * SECOND, isLate }];
  });

/** A digest comes once for each of its days, at its hour or late, and begins at the end of the last one. */
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
