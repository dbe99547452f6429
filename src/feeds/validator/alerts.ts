/** True while an alert is snoozed. */
export const isSnoozed = (response: AlertResponse | undefined, now: number): boolean =>
  response?.snoozed !== undefined &&
  (response.snoozed.until === null || (response.snoozed.until > now && response.snoozed.at <= now));

import type { AlertResponse } from "./collections.js";
