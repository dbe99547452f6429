import type { Findings } from "../../delivery/module.js";
import type { State } from "../../storage/state.js";
import { inPieces } from "../../util/event-loop.js";
import { addTo } from "../../util/groups.js";
import { type Alert, alerts, type ValidatorWatch, validatorWatches, watchId } from "./collections.js";
import type { ValidatorEvent } from "./events.js";
import type { Loaded } from "./memory.js";

/** Result of a poll. */
export interface PollFindings {
  readonly events: ValidatorEvent[];
  readonly alerts: Map<string, Alert>;
  readonly watches: Map<string, ValidatorWatch>;
  /** Ids of open groups, by channel. */
  readonly groups: Map<string, string[]>;
}

/** Returns empty findings of a poll. */
export function noFindings({ alerts: known }: Loaded): PollFindings {
  const groups = new Map<string, string[]>();
  for (const [id, { kind, channelId, endedAt }] of known)
    if (kind === "many" && endedAt === undefined) addTo(groups, channelId, id);
  return { events: [], alerts: new Map(), watches: new Map(), groups };
}

/** Adds the subject of the subscription that watches an event's validator. */
function withSubject(event: ValidatorEvent, watched: Loaded["watched"]): ValidatorEvent {
  if (!("validator" in event)) return event;
  const subject = watched.get(watchId(event.channelId, event.validator))?.subscription.subject;
  return subject == null ? event : { ...event, subject };
}

/** Number of channels per commit. Committing thousands at once would block everything else. */
const CHANNELS_PER_STEP = 25;

/** Divides the findings of a poll into commits. All findings of a channel are in the same one. */
export async function* stepsOf(
  state: State,
  { watched }: Loaded,
  found: PollFindings,
): AsyncGenerator<Required<Pick<Findings, "events" | "writes" | "changed">>> {
  const [allWatches, allAlerts] = [state.open(validatorWatches), state.open(alerts)];
  type Step = Omit<PollFindings, "groups">;
  const byChannel = new Map<string, Step>();
  const stepOf = (channelId: string): Step => {
    const step = byChannel.get(channelId) ?? { events: [], alerts: new Map(), watches: new Map() };
    byChannel.set(channelId, step);
    return step;
  };
  for await (const piece of inPieces(found.watches))
    for (const [id, watch] of piece) {
      const channelId = watched.get(id)?.subscription.channelId;
      if (channelId !== undefined) stepOf(channelId).watches.set(id, watch);
    }
  for await (const piece of inPieces(found.alerts))
    for (const [id, alert] of piece) stepOf(alert.channelId).alerts.set(id, alert);
  for await (const piece of inPieces(found.events))
    for (const event of piece) stepOf(event.channelId).events.push(withSubject(event, watched));
  // Documents become text when their write is made, so that is done step by step.
  for await (const together of inPieces(byChannel.values(), CHANNELS_PER_STEP)) {
    const watches = together.flatMap((each) => [...each.watches]);
    const changed = together.flatMap((each) => [...each.alerts]);
    yield {
      events: together.flatMap(({ events }) => events),
      writes: [
        ...watches.map(([id, watch]) => allWatches.put(id, watch)),
        ...changed.map(([id, alert]) => allAlerts.put(id, alert)),
      ],
      changed: changed.map(([, { subject }]) => subject),
    };
  }
}
