import type { Names } from "../../directory/names.js";
import type { View } from "../../screens/view.js";
import { type Alert, alertId } from "../../storage/catalogue.js";
import type { State } from "../../storage/state.js";
import { holdView, type Known, manyView, silenceView } from "./messages.js";

/** The messages of alerts as they stand now, for the background and for who presses their buttons. */
export interface AlertViews {
  /** Undefined where there is no such alert any more. */
  of(subject: string, channelId: string, mark: string): Promise<View | undefined>;
}

/** Reads alerts, and what is shown beside them, from the state. */
export function createAlertViews(state: State, names: Pick<Names, "called">, now: () => number): AlertViews {
  return {
    async of(subject, channelId, mark) {
      const alert = await state.alerts.get(alertId(channelId, subject));
      if (!alert) return undefined;
      const party = alert.kind === "silent" ? alert.validator : undefined;
      return viewOf(alert, await knownOf(state, names, now, channelId, subject, party), mark);
    },
  };
}

/** What is shown beside an alert, or beside news of a validator. */
export const knownOf = async (
  state: State,
  { called }: Pick<Names, "called">,
  now: () => number,
  channelId: string,
  subject: string,
  validator: string | undefined,
): Promise<Known> => ({
  called,
  activity: validator === undefined ? undefined : await state.activity.get(validator),
  response: await state.responses.get(alertId(channelId, subject)),
  now: now(),
});

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
