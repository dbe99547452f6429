import { DAY, HOUR, SECOND } from "../../src/util/units.js";
import type { OddMotion } from "../history/odd-motions.js";
import { type Evidence, iso, JUMP_MS, type Judge, type Told } from "./evidence.js";

/** Returns the time from which the bot calls a request ended that the explorer no longer lists. */
export const endKnownAt = ({ goneAt, closesAt, voteBefore, effectiveAt }: OddMotion): number =>
  goneAt === null ? closesAt : Math.max(voteBefore, effectiveAt ?? 0) + DAY;

const isAbout = ({ content }: Told, title: string): boolean => content.includes(`: ${title}`);

/** Checks that a request is announced once, after the explorer has listed it. */
function* judgeListing(motion: OddMotion, told: readonly Told[], where: string, evidence: Evidence) {
  const { title, listedAt, goneAt, closesAt } = motion;
  const own = told.filter(({ text }) => text.includes(title));
  if (own.some(({ at }) => at < listedAt)) yield `Told before it was listed: ${where}`;
  if (own.length === 0 && evidence.isClean(listedAt, goneAt ?? closesAt)) yield `Not opened: ${where}`;
}

/** Checks that the messages about a request with an unknown outcome say so, and no other outcome. */
function* judgeUnknownEnd(motion: OddMotion, told: readonly Told[], where: string, evidence: Evidence) {
  const endAt = endKnownAt(motion);
  const own = told.filter((each) => isAbout(each, motion.title));
  if (own.some(({ shown }) => /(Accepted|Implemented|Rejected|Expired): /.test(shown)))
    yield `An outcome that is not known: ${where}`;
  if (!evidence.isClean(endAt, endAt + 4 * HOUR, 2 * HOUR)) return;
  for (const { content, shown, at } of own) {
    if (!shown.startsWith("▫️ Ended, outcome unknown"))
      yield `Still open, "${content}" of ${iso(at)}: ${where}`;
    const wrong = /not voted yet|needed|[Tt]akes effect/.exec(shown)?.[0];
    if (wrong !== undefined) yield `Ended, and "${wrong}" in the message of ${iso(at)}: ${where}`;
  }
}

/** Checks that a message about several requests says nothing that changes, and no wrong time. */
function* judgeCrowd(motion: OddMotion, told: readonly Told[], where: string) {
  for (const { text, at } of told.filter(({ text }) => text.includes(motion.title))) {
    if (!/\d+ new vote requests/.test(text)) continue;
    const [, words, seconds] = /(opened after|of them opened) <t:(\d+):f>/.exec(text) ?? [];
    const shown = Number(seconds) * SECOND;
    const isWrong = words === "opened after" ? shown > motion.at : Math.abs(shown - motion.at) > JUMP_MS;
    if (words !== undefined && isWrong)
      yield `${words} ${iso(shown)}, and not ${iso(motion.at)}, in the message of ${iso(at)}: ${where}`;
    if (/In progress|not voted yet/.test(text)) yield `What changes, in the message of ${iso(at)}: ${where}`;
  }
}

/** Checks what is told of vote requests that the explorer lists late, or no longer, or many at once. */
export const judgeOddMotions: Judge = function* ({ history, community }, evidence) {
  for (const { channelId, only } of community.governance) {
    if (only) continue;
    const told = evidence.in(channelId).filter(({ content }) => !content.startsWith("📰"));
    for (const motion of history.oddMotions) {
      const where = `${motion.title} of ${iso(motion.at)} in ${channelId}`;
      if (motion.kind !== "untitled" && motion.kind !== "brief")
        yield* judgeListing(motion, told, where, evidence);
      if (motion.kind === "gone") yield* judgeUnknownEnd(motion, told, where, evidence);
      if (motion.kind === "crowd") yield* judgeCrowd(motion, told, where);
    }
  }
};
