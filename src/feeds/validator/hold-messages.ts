import { standstillView } from "../../screens/standstill.js";
import type { View } from "../../screens/view.js";
import { roughly, spanWords } from "../../text/durations.js";
import { md, timestamp, timestampWithAge, utcDate } from "../../text/markdown.js";
import { type HoldAlert, heldMs } from "./collections.js";
import { listLink } from "./message-parts.js";

/** Said when a hold ends while alerts stay on hold. The message is not edited later. */
const STAYED_WORDS = md`Another message says why alerts stayed on hold.`;

/** Returns the message about a changed rhythm of the network. Alerts are held until the new one is known. */
function rhythmView(
  { newestAt, since, endedAt, isStillHeld }: HoldAlert,
  { beforeMs, nowMs }: NonNullable<HoldAlert["rhythm"]>,
  mark: string,
): View {
  const links = [listLink(mark)];
  const beforeWords = `about every ${roughly(beforeMs)}`;
  // If the network slows down, one validator after another, some still report.
  const isPartial = since - newestAt < beforeMs;
  if (endedAt === undefined || nowMs === undefined)
    return {
      notification: isPartial
        ? md`⏸ Most validators now report less often than ${beforeWords}; silence alerts are on hold`
        : md`⏸ No validator has reported since ${utcDate(newestAt)}, though the ledger is moving; silence alerts are on hold`,
      tone: "warning",
      body: [
        isPartial
          ? md`You won't get silence alerts until I know how often they report now.`
          : md`They reported ${beforeWords} before, and that may have changed. You won't get silence alerts until I know how often they report now. The newest report is from ${timestampWithAge(newestAt)}.`,
      ],
      links,
    };
  const isSame = Math.abs(nowMs - beforeMs) <= beforeMs / 4;
  const pauseWords = isPartial
    ? md`Most validators had missed reports at ${timestamp(since, "f")}.`
    : md`No validator had reported since ${timestamp(newestAt, "f")}.`;
  const againWords = isStillHeld ? STAYED_WORDS : md`Alerts are on again.`;
  return {
    notification: isSame
      ? md`▶️ Validators report again, ${beforeWords} as before`
      : md`▶️ Validators now report about every ${roughly(nowMs)}`,
    tone: "good",
    body: [
      isSame
        ? md`${pauseWords} ${againWords}`
        : md`Before ${timestamp(since, "f")} they reported ${beforeWords}. Alerts use the new interval.`,
    ],
    links,
  };
}

/**
 * Returns the message about held alerts: the explorer is behind, the network stands still, or its rhythm has changed.
 * @param now time of the message or of its edit, epoch ms. The explorer's data may advance and still be behind
 */
export function holdView(hold: HoldAlert, mark: string, now: number): View {
  const { standstill, rhythm } = hold;
  if (standstill) return standstillView({ ...hold, ...standstill }, mark);
  return rhythm ? rhythmView(hold, rhythm, mark) : behindView(hold, mark, now);
}

/** Returns the message about an explorer that is behind. */
function behindView(hold: HoldAlert, mark: string, now: number): View {
  const { newestAt, since, endedAt, resumedAt, isStillHeld } = hold;
  const links = [listLink(mark)];
  if (endedAt === undefined)
    return {
      notification: md`⏸ The explorer's newest data is ${roughly(now - newestAt)} old; silence alerts are on hold`,
      tone: "warning",
      body: [
        md`It's from ${timestampWithAge(newestAt)}: the explorer is behind, or the network stands still. Until newer data arrives, I can't tell if a validator is silent.`,
      ],
      links,
    };
  const heldWords = spanWords(heldMs(hold, endedAt));
  const breakWords = resumedAt === undefined ? md`` : md`, with a break`;
  const span = md`from ${timestamp(since, "f")} to ${timestamp(endedAt, "f")}${breakWords}`;
  if (isStillHeld)
    return {
      notification: md`⏸ The explorer had new data again after ${heldWords}; silence alerts stayed on hold`,
      tone: "warning",
      body: [md`It had no recent data ${span}.`, STAYED_WORDS],
      links,
    };
  return {
    notification: md`▶️ Silence alerts are on again after ${heldWords} on hold`,
    tone: "good",
    body: [md`They were on hold ${span}, because the explorer had no recent data.`],
    links,
  };
}
