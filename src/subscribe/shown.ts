import type { Health } from "../delivery/collections.js";
import { snoozeEnd } from "../delivery/snoozes.js";
import type { NetworkState, Networks } from "../networks/network.js";
import type { Address } from "../screens/addresses.js";
import type { Link } from "../screens/view.js";
import { join, type Markdown, md, timestamp } from "../text/markdown.js";
import { present } from "../util/present.js";
import type { OwnedSubscription } from "./editor.js";

/** Returns the name that a network has in titles and lists. `undefined` for the default network. */
export const labelOf = ({ id, name }: NetworkState, { served }: Networks): string | undefined =>
  id === served[0].id ? undefined : name;

/**
 * Returns why a subscription sends no messages now, in a few words. `undefined` if it sends.
 * @param health the health of its channel
 */
export function restWords(
  { subscription, network, networkState }: OwnedSubscription,
  { paused, error }: Health,
): Markdown | undefined {
  if (!network) return md`💤 on hold: I no longer cover ${networkState.name}`;
  if (paused && error !== undefined) return md`⏸️ paused: ${error}`;
  if (paused || subscription.isPaused) return md`⏸️ paused`;
  const snoozedUntil = snoozeEnd(subscription, Date.now());
  return snoozedUntil > 0 ? md`💤 snoozed until ${timestamp(snoozedUntil, "f")}` : undefined;
}

/**
 * Maximum length of a page's rows, in UTF-16 units. With the lines around them, they must fit into the description of an embed
 * (Discord: 4,096), where commands that can be clicked take more room.
 */
const MAX_ROWS = 3_200;

/** Returns a page's rows, or brief ones if they would be cut at the end of the message. */
export async function fittingRows(
  write: (isBrief: boolean) => Promise<readonly Markdown[]>,
): Promise<readonly Markdown[]> {
  const rows = await write(false);
  return `${join(rows, "\n")}`.length <= MAX_ROWS ? rows : write(true);
}

/** Returns the buttons that lead to the pages before and after one. */
export const pageLinks = (
  page: number,
  pages: number,
  addressOf: (page: number) => Address,
): readonly Link[] =>
  present([
    page > 1 && { label: "Previous page", emoji: "◀️", to: addressOf(page - 1) },
    page < pages && { label: "Next page", emoji: "▶️", to: addressOf(page + 1) },
  ]);
