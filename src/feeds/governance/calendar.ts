import type { Subscription } from "../../delivery/collections.js";
import { hasTopic } from "../../delivery/feed.js";
import type { CalendarSource, WantedEvent } from "../../delivery/scheduled-events.js";
import { type Renderer, titleRoom } from "../../discord/message.js";
import { quorumDate } from "../../ledger/vote-phase.js";
import { PHASE_TEXTS } from "../../screens/vote-parts.js";
import { code, type Markdown, md, timestamp } from "../../text/markdown.js";
import { unbroken } from "../../text/plain.js";
import { HOUR } from "../../util/units.js";
import { calendarEvents, type TrackedVoteRequest } from "./collections.js";
import { definition } from "./definition.js";
import type { RequestDeps } from "./requests.js";
import { neededForTracked, trackedStanding } from "./tracking.js";

/** Duration of an event, in ms. It ends at the deadline. */
const LASTS_MS = HOUR;

interface VoteCalendarDeps extends Omit<RequestDeps, "explorer" | "state"> {
  readonly renderer: Renderer;
}

/** Returns a vote request's id as descriptions show it. Its end is marked, because another's id may begin with it. */
const mark = (identity: string): Markdown => code(identity, 300);

/** Creates the events of open vote requests: one for each, at its next deadline. */
export function voteCalendar(deps: VoteCalendarDeps): CalendarSource {
  const { requests, superValidators, names, renderer, now } = deps;
  const wantedOf = async (key: string, request: TrackedVoteRequest): Promise<WantedEvent[]> => {
    const { identity, terms } = request;
    const standing = trackedStanding(request, await neededForTracked(request, superValidators), now());
    // Votes can still be changed until a ready request is carried out.
    const isReady = standing.phase === "ready" || standing.phase === "overdue";
    const nextDate = standing.next ?? (isReady ? quorumDate(terms) : null);
    if (nextDate === null || nextDate.at <= now()) return [];
    const phaseText = PHASE_TEXTS[standing.phase];
    const prefix = phaseText === undefined ? "" : `${unbroken(phaseText.toString())}: `;
    const room = titleRoom(renderer) - prefix.length;
    const name = renderer.title(
      `${prefix}${unbroken(names.voteRequest({ identity, title: terms.title }, room))}`,
    );
    // Events are found by the vote request's id in their description.
    const description = md`A vote of the super validators: ${nextDate.name} ${timestamp(nextDate.at, "f")}.\n${mark(identity)}`;
    return [
      {
        key,
        name,
        description: description.toString(),
        startsAt: nextDate.at - LASTS_MS,
        endsAt: nextDate.at,
      },
    ];
  };
  return {
    collection: calendarEvents,
    location: "A vote of the super validators",
    async wanted() {
      const open = [...(await requests.all())].filter(([, { phase }]) => phase === "open");
      const events = await Promise.all(open.map(([key, request]) => wantedOf(key, request)));
      return { events: events.flat(), openKeys: new Set(open.map(([key]) => key)) };
    },
    isUnknown: requests.wasSetAside,
    async markOf(key) {
      const known = await requests.get(key);
      return known ? mark(known.identity).toString() : "";
    },
  };
}

/** Returns the servers that have events for votes. */
export const calendarServers = (subscriptions: readonly Subscription[]): ReadonlySet<string> =>
  new Set(
    subscriptions
      .filter((each) => hasTopic(each, definition, "calendar"))
      .flatMap(({ guildId }) => guildId ?? []),
  );
