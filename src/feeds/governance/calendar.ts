import {
  type APIGuildScheduledEvent,
  type APIUser,
  GuildScheduledEventEntityType,
  GuildScheduledEventPrivacyLevel,
  GuildScheduledEventStatus,
  type REST,
  type RESTPatchAPIGuildScheduledEventJSONBody,
  type RESTPostAPIGuildScheduledEventJSONBody,
  Routes,
} from "discord.js";
import { hasTopic } from "../../delivery/feed.js";
import type { Subscribers } from "../../delivery/module.js";
import type { Names } from "../../directory/names.js";
import { DISCORD, hasCode } from "../../discord/errors.js";
import type { Renderer } from "../../discord/message.js";
import { problemOf } from "../../discord/problems.js";
import type { Log } from "../../log.js";
import { type Lease, type LeasedState, LeaseLost } from "../../storage/lease.js";
import { StateError } from "../../storage/store.js";
import { code, md, timestamp } from "../../text/markdown.js";
import { clean } from "../../text/plain.js";
import { believed } from "../../util/clock.js";
import { lazy } from "../../util/single-flight.js";
import { withDeadline } from "../../util/timeouts.js";
import { HOUR, MINUTE } from "../../util/units.js";
import { type CalendarEvent, calendarEvents, type TrackedVoteRequest } from "./collections.js";
import { definition } from "./definition.js";
import type { TrackedVoteRequests } from "./requests.js";
import { neededForTracked, trackedStanding } from "./tracking.js";

/**
 * Maximum number of events per server, nearest deadlines first. Discord allows 100 per server, including
 * those of people and other bots.
 */
const MAX_EVENTS = 50;
/** Maximum number of requests to Discord per server and run. */
const MAX_CHANGES = 5;
/** Duration of an event, in ms. It ends at the deadline. */
const LASTS_MS = HOUR;
/** Events that would begin or end sooner than this are not created, in ms. */
const SOON_MS = 2 * MINUTE;
/** Delay before a retry after Discord has refused an event, in ms. */
const REFUSED_MS = HOUR;
const LOCATION = "A vote of the super validators";

interface CalendarDeps {
  /** Client without retries. Failed requests are repeated at the next run. */
  readonly rest: REST;
  readonly state: LeasedState;
  readonly lease: Pick<Lease, "validUntil">;
  readonly requests: TrackedVoteRequests;
  /** Returns the number of super validators, for tallies that do not contain it. */
  readonly superValidators: () => Promise<number | undefined>;
  readonly names: Names;
  readonly renderer: Renderer;
  readonly log: Log;
  readonly now: () => number;
}

/** The desired state of an event. */
interface WantedEvent {
  readonly key: string;
  readonly identity: string;
  readonly name: string;
  readonly endsAt: number;
  /** Name of the deadline at which the event ends. */
  readonly date: string;
}

/**
 * Keeps an event in the calendar of each subscribed server for each open vote request. An event is stored before it is created. A
 * stored event without Discord's id is looked up at Discord first. An event that a person deleted is not created again.
 */
export function createCalendar(deps: CalendarDeps) {
  const { rest, state, lease, requests, superValidators, names, renderer, log, now } = deps;
  const calendar = state.open(calendarEvents);
  const botUserId = lazy(async () => ((await rest.get(Routes.user())) as APIUser).id);

  const wantedOf = async ([key, request]: readonly [string, TrackedVoteRequest]): Promise<WantedEvent[]> => {
    if (request.phase !== "open") return [];
    const { identity } = request;
    const { next } = trackedStanding(request, await neededForTracked(request, superValidators), now());
    if (!next || next.at < now() + 2 * SOON_MS) return [];
    const { at: endsAt, name: date } = next;
    const title = names.voteRequest({ identity, title: request.terms.title });
    return [{ key, identity, name: renderer.title(clean(title)), endsAt, date }];
  };

  const timesOf = ({ endsAt }: WantedEvent) => ({
    scheduled_start_time: new Date(Math.max(endsAt - LASTS_MS, now() + SOON_MS)).toISOString(),
    scheduled_end_time: new Date(endsAt).toISOString(),
  });

  /** Finds an event at Discord that was stored, and may have been created. */
  const findEvent = async (
    guildId: string,
    { identity }: Pick<WantedEvent, "identity">,
  ): Promise<APIGuildScheduledEvent | undefined> => {
    // Every description contains the empty string.
    if (identity === "") return undefined;
    const events = (await rest.get(Routes.guildScheduledEvents(guildId))) as APIGuildScheduledEvent[];
    const ownUserId = await botUserId();
    return events.find((each) => each.creator_id === ownUserId && each.description?.includes(identity));
  };

  const makeEvent = async (guildId: string, wanted: WantedEvent): Promise<APIGuildScheduledEvent> => {
    const eventBody: RESTPostAPIGuildScheduledEventJSONBody = {
      name: wanted.name,
      description: describe(wanted),
      ...timesOf(wanted),
      entity_type: GuildScheduledEventEntityType.External,
      privacy_level: GuildScheduledEventPrivacyLevel.GuildOnly,
      entity_metadata: { location: LOCATION },
    };
    const remainingMs = lease.validUntil() - now();
    // Discord has no nonce for events. A process that was suspended after it stored the event must not create
    // it, because the process that took over may have done so.
    if (remainingMs <= 0) throw new LeaseLost("The lease ended before the calendar event was created");
    return withDeadline(
      remainingMs,
      undefined,
      async (signal) =>
        (await rest.post(Routes.guildScheduledEvents(guildId), {
          body: eventBody,
          signal,
        })) as APIGuildScheduledEvent,
    );
  };

  const patch = (guildId: string, eventId: string, body: RESTPatchAPIGuildScheduledEventJSONBody) =>
    rest.patch(Routes.guildScheduledEvent(guildId, eventId), { body });

  const storeEvent = (id: string, event: CalendarEvent | undefined) =>
    state.commit([event ? calendar.put(id, event) : calendar.delete(id)]);

  const create = async (
    id: string,
    guildId: string,
    wanted: WantedEvent,
    known: CalendarEvent | undefined,
  ) => {
    const { key, name, endsAt } = wanted;
    const begun: CalendarEvent = { guildId, key, name, endsAt };
    const isInterrupted = known !== undefined && known.eventId === undefined;
    if (!isInterrupted) await storeEvent(id, begun);
    const foundEvent = isInterrupted ? await findEvent(guildId, wanted) : undefined;
    const event = foundEvent ?? (await makeEvent(guildId, wanted));
    await storeEvent(id, {
      ...begun,
      // An event that was found may have an earlier deadline. The next run moves it.
      ...(foundEvent ? { endsAt: Date.parse(foundEvent.scheduled_end_time ?? "") || endsAt } : {}),
      eventId: event.id,
      startsAt: Date.parse(event.scheduled_start_time),
    });
  };

  const moveEvent = async (id: string, event: CalendarEvent, wanted: WantedEvent) => {
    const { eventId = "", startsAt = 0, guildId } = event;
    const eventTimes = timesOf(wanted);
    // If the event has begun, only its end can be moved.
    const moved = startsAt > now() ? eventTimes : { scheduled_end_time: eventTimes.scheduled_end_time };
    await patch(guildId, eventId, { name: wanted.name, description: describe(wanted), ...moved });
    const beginsAt = startsAt > now() ? Date.parse(eventTimes.scheduled_start_time) : startsAt;
    await storeEvent(id, { ...event, name: wanted.name, endsAt: wanted.endsAt, startsAt: beginsAt });
  };

  /** Ends an event whose vote is over. An event that has begun is completed, any other is canceled. */
  const endEvent = async (id: string, event: CalendarEvent) => {
    const { guildId, key, endsAt, isGone } = event;
    const { identity = "" } = (await requests.get(key)) ?? {};
    if (!isGone && endsAt > now()) {
      try {
        // An event may have been created even if its id was not stored.
        const foundEvent = event.eventId === undefined ? await findEvent(guildId, { identity }) : undefined;
        const eventId = event.eventId ?? foundEvent?.id;
        const startsAt = event.startsAt ?? Date.parse(foundEvent?.scheduled_start_time ?? "");
        const { Completed, Canceled } = GuildScheduledEventStatus;
        if (eventId !== undefined)
          await patch(guildId, eventId, { status: startsAt <= now() ? Completed : Canceled });
      } catch (error) {
        // The event was deleted or has ended, or the bot has left the server.
        if (!isRefusal(error)) throw error;
      }
    }
    await storeEvent(id, undefined);
  };

  /** Creates or updates an event. Returns true if a request was sent. */
  const settle = async (
    guildId: string,
    wanted: WantedEvent,
    known: CalendarEvent | undefined,
  ): Promise<boolean> => {
    const id = calendarId(guildId, wanted.key);
    if (known?.isGone || believed(known?.notBefore ?? 0, now(), REFUSED_MS) > now()) return false;
    if (known?.eventId !== undefined && known.name === wanted.name && known.endsAt === wanted.endsAt)
      return false;
    try {
      // An event that has ended is replaced by one for the next deadline.
      if (known?.eventId !== undefined && known.endsAt > now()) await moveEvent(id, known, wanted);
      else await create(id, guildId, wanted, known);
    } catch (error) {
      if (known && hasCode(error, DISCORD.unknownScheduledEvent))
        await storeEvent(id, { ...known, isGone: true });
      else if (isRefusal(error)) {
        log.warn({ err: error, guild: guildId }, "Discord refused a calendar event; retrying in an hour");
        const { key, name, endsAt } = wanted;
        await storeEvent(id, { guildId, key, name, endsAt, ...known, notBefore: now() + REFUSED_MS });
      } else throw error;
    }
    return true;
  };

  const serve = async (
    guildId: string,
    isWanted: boolean,
    wanted: readonly WantedEvent[],
    open: ReadonlySet<string>,
    known: ReadonlyMap<string, CalendarEvent>,
  ) => {
    let changes = 0;
    for (const [id, event] of known) {
      const isOpen = open.has(event.key);
      // A deleted event is remembered while its request is open.
      if (event.guildId !== guildId || (isOpen && (isWanted || event.isGone)) || changes >= MAX_CHANGES)
        continue;
      await endEvent(id, event);
      changes += 1;
    }
    for (const each of isWanted ? wanted : []) {
      if (changes >= MAX_CHANGES) return;
      if (await settle(guildId, each, known.get(calendarId(guildId, each.key)))) changes += 1;
    }
  };

  return async (subscribers: Subscribers): Promise<void> => {
    const subscribedServers = (await subscribers.subscriptions()).filter((each) =>
      hasTopic(each, definition, "calendar"),
    );
    const guilds = new Set(subscribedServers.flatMap(({ guildId }) => guildId ?? []));
    const knownEvents = await calendar.list();
    if (guilds.size === 0 && knownEvents.size === 0) return;
    const allRequests = [...(await requests.all())];
    const openKeys = new Set(allRequests.filter(([, { phase }]) => phase === "open").map(([key]) => key));
    const wantedEvents = (await Promise.all(allRequests.map(wantedOf)))
      .flat()
      .sort((a, b) => a.endsAt - b.endsAt)
      .slice(0, MAX_EVENTS);
    const servedGuilds = new Set([...guilds, ...[...knownEvents.values()].map(({ guildId }) => guildId)]);
    const runs = [...servedGuilds].map((guildId) =>
      serve(guildId, guilds.has(guildId), wantedEvents, openKeys, knownEvents),
    );
    for (const run of await Promise.allSettled(runs)) {
      if (run.status === "fulfilled") continue;
      if (run.reason instanceof LeaseLost || run.reason instanceof StateError) throw run.reason;
      log.warn({ err: run.reason }, "A calendar could not be updated; retrying");
    }
  };
}

/** Returns an event's description. Events are found by the vote request's id in it. */
const describe = ({ endsAt, date, identity }: WantedEvent): string =>
  md`A vote of the super validators: ${date} ${timestamp(endsAt, "f")}.\n${code(identity, 300)}`.toString();

/** True if Discord would refuse the same request again. */
const isRefusal = (error: unknown): boolean => {
  const problem = problemOf(error);
  return problem !== "unknown" && problem !== "refused-for-now";
};

/** Returns an event's id in the state. */
const calendarId = (guildId: string, key: string): string => `${guildId}/${key}`;
