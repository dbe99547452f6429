import type { FeedDeps } from "../../delivery/module.js";
import { ifAnswered } from "../../explorer/errors.js";
import type { Explorer } from "../../explorer/service.js";
import { activities, intervalFor, readNetworkRhythm } from "../../ledger/network-rhythm.js";
import { contactLines } from "../../screens/validator.js";
import type { View } from "../../screens/view.js";
import { join, type Markdown } from "../../text/markdown.js";
import { withTimeout } from "../../util/timeouts.js";
import { alertId, alerts, responses } from "./collections.js";
import { holdView } from "./hold-messages.js";
import type { Known } from "./message-parts.js";
import { manyView, silenceView } from "./messages.js";

/** Timeout for loading a validator's contact links, in ms. */
const CONTACT_MS = 1_000;

interface AlertDeps extends Pick<FeedDeps, "state" | "names" | "now"> {
  /** For a validator's contact links. Answers of any age are good enough. */
  readonly explorer: Explorer;
}

/** Returns the current content of an alert, for the background and for buttons. `undefined` if there is no such alert. */
export async function alertView(
  deps: AlertDeps,
  subject: string,
  channelId: string,
  mark: string,
): Promise<View | undefined> {
  const alert = await deps.state.open(alerts).get(alertId(channelId, subject));
  if (!alert) return undefined;
  const party = alert.kind === "silent" ? alert.validator : undefined;
  const known = await knownOf(deps, channelId, subject, party, alert.endedAt === undefined);
  switch (alert.kind) {
    case "silent":
      return silenceView(alert, known, mark);
    case "many":
      return manyView(alert, known, mark);
    case "hold":
      return holdView(alert, mark, known.now);
  }
}

/** Returns a validator's contact links. `undefined` if it has none, or if the explorer does not answer in time. */
async function contactOf(explorer: Explorer, validator: string): Promise<Markdown | undefined> {
  const reading = ifAnswered(explorer.validator({ validatorId: validator }));
  const detail = (await withTimeout(reading, CONTACT_MS, () => undefined))?.data;
  const links = detail ? contactLines(detail) : [];
  return links.length > 0 ? join(links, " · ") : undefined;
}

/**
 * Returns the data for alerts and messages about a validator.
 * @param isOpen true if the validator is silent. Only then are its contact links read
 */
export const knownOf = async (
  { state, names, explorer, now }: AlertDeps,
  channelId: string,
  subject: string,
  validator: string | undefined,
  isOpen: boolean,
): Promise<Known> => {
  const activity = validator === undefined ? undefined : await state.open(activities).get(validator);
  return {
    called: names.distinct,
    activity,
    interval: activity && intervalFor(activity, await readNetworkRhythm(state)),
    response: await state.open(responses).get(alertId(channelId, subject)),
    contact: validator !== undefined && isOpen ? await contactOf(explorer, validator) : undefined,
    now: now(),
  };
};
