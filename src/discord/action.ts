import type { ActionName, ParametersOf } from "../screens/addresses.js";
import type { Click } from "./clicks.js";
import type { MessagePayload } from "./message.js";
import type { Target } from "./reply.js";

/** What pressing a button does, other than opening a screen, and what it answers. @throws {PersonError} */
export type Action<Name extends ActionName> = (
  parameters: ParametersOf<Name>,
  click: Click,
) => Promise<MessagePayload>;

/** Every action. */
export type Actions = { readonly [Name in ActionName]: Action<Name> };

/** Those whose answer is for the person alone; that of the others is what the message that was clicked becomes. */
const PRIVATE: ReadonlySet<ActionName> = new Set<ActionName>(["snoozePrice", "offerWatch"]);

/** Those whose message everybody sees, and that whoever it concerns may change. */
const OF_ALERTS: ReadonlySet<ActionName> = new Set<ActionName>(["acknowledge", "snooze"]);

/**
 * Where an action's answer goes, known before its work is done.
 * @param isOwn whether the message is the person's own
 * @param isOfNews whether it is news of an alert, which stays what it is
 */
export function targetOf(action: ActionName, click: Click, isOwn: boolean, isOfNews: boolean): Target {
  // Chosen from the menu of an offer, which is private already.
  if (action === "offerWatch" && click.isStringSelectMenu()) return isOwn ? "update" : "private";
  if (OF_ALERTS.has(action)) return isOfNews ? "private" : "update";
  return !isOwn || PRIVATE.has(action) ? "private" : "update";
}
