import type { Names } from "../../directory/names.js";
import { activities, intervalFor, readNetworkRhythm } from "../../ledger/network-rhythm.js";
import type { View } from "../../screens/view.js";
import type { State } from "../../storage/state.js";
import { type Alert, alertId, alerts, responses } from "./collections.js";
import { holdView, type Known, manyView, silenceView } from "./messages.js";

/** The current content of alerts' messages, for the background and for buttons. */
export interface AlertViews {
  /** Undefined if there is no such alert any more. */
  of(subject: string, channelId: string, mark: string): Promise<View | undefined>;
}

/** Reads alerts, and what is shown beside them, from the state. */
export function createAlertViews(state: State, names: Pick<Names, "called">, now: () => number): AlertViews {
  return {
    async of(subject, channelId, mark) {
      const alert = await state.open(alerts).get(alertId(channelId, subject));
      if (!alert) return undefined;
      const party = alert.kind === "silent" ? alert.validator : undefined;
      return viewOf(alert, await knownOf(state, names, now, channelId, subject, party), mark);
    },
  };
}

/** Returns the data that alerts and news about a validator show. */
export const knownOf = async (
  state: State,
  { called }: Pick<Names, "called">,
  now: () => number,
  channelId: string,
  subject: string,
  validator: string | undefined,
): Promise<Known> => {
  const activity = validator === undefined ? undefined : await state.open(activities).get(validator);
  return {
    called,
    activity,
    interval: activity && intervalFor(activity, await readNetworkRhythm(state)),
    response: await state.open(responses).get(alertId(channelId, subject)),
    now: now(),
  };
};

function viewOf(alert: Alert, known: Known, mark: string): View {
  switch (alert.kind) {
    case "silent":
      return silenceView(alert, known, mark);
    case "many":
      return manyView(alert, known, mark);
    case "hold":
      return holdView(alert, mark);
  }
}
