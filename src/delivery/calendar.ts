import {
  type APIGuildScheduledEvent,
  type APIUser,
  GuildScheduledEventEntityType,
  GuildScheduledEventPrivacyLevel,
  GuildScheduledEventStatus,
  type RESTPatchAPIGuildScheduledEventJSONBody,
  type RESTPostAPIGuildScheduledEventJSONBody,
  Routes,
} from "discord.js";
import { LRUCache } from "lru-cache";
import * as z from "zod";
import { ErrorCode, hasCode } from "../discord/errors.js";
import { checkAnswer, createdId } from "../discord/post.js";
import { isTemporary, problemOf } from "../discord/problems.js";
import { type CollectionDefinition, type DocumentOf, defineCollection } from "../storage/collection.js";
import { LeaseLost } from "../storage/lease.js";
import type { State } from "../storage/state.js";
import { StateError } from "../storage/store.js";
import { timestampSchema } from "../storage/timestamp.js";
import { believed } from "../util/clock.js";
import { inPieces, yieldIfBusy } from "../util/event-loop.js";
import { lazy } from "../util/single-flight.js";
import { withDeadline } from "../util/timeouts.js";
import { HOUR, MINUTE, SECOND } from "../util/units.js";
import type { FeedDeps } from "./module.js";

/** An event in a server's calendar, for one subject of a feed. */
const calendarEvent = z.object({
  guildId: z.string(),
  /** Key of the subject. */
  key: z.string(),
  name: z.string(),
  endsAt: timestampSchema,
  /** Missing until Discord has confirmed that the event was created. */
  eventId: z.string().min(1).exactOptional(),
  startsAt: timestampSchema.exactOptional(),
  /** True if a person deleted or ended it. It is not created again. */
  isGone: z.boolean().exactOptional(),
  notBefore: timestampSchema.exactOptional(),
  /** Why Discord refused it until then: the bot may not create events, or the server has as many as Discord allows. */
  refusal: z.enum(["permission", "full"]).exactOptional(),
});

/** Defines the collection of a feed's scheduled events, by server and subject. */
export const defineCalendar = (name: string, lifetime: string) =>
  defineCollection({ name, schema: calendarEvent, lifetime });

/** An event in a server's calendar. */
type CalendarEvent = DocumentOf<ReturnType<typeof defineCalendar>>;

/**
 * Maximum number of events per server, nearest deadlines first. Discord allows 100 per server, including
 * those of people and other bots.
 */
const MAX_EVENTS = 50;
/** Maximum number of changed events in one run: per server, and in total. The next run continues with the rest. */
const MAX_CHANGES = 5;
const MAX_TOTAL_CHANGES = 200;
/** Events that would begin or end sooner than this are not created, in ms. */
const SOON_MS = 2 * MINUTE;
/** Maximum delay between two attempts to change an event, in ms. */
const MAX_RETRY_MS = 10 * MINUTE;
/** Delay before a retry after Discord has refused an event, in ms. A missing permission is shown to people, who grant it. */
const REFUSED_MS = HOUR;
const FORBIDDEN_MS = 10 * MINUTE;

/** The desired state of an event. */
export interface WantedEvent {
  /** Key of its subject. */
  readonly key: string;
  readonly name: string;
  readonly description: string;
  /** Epoch ms. */
  readonly startsAt: number;
  readonly endsAt: number;
}

/** A feed's subjects that have events. */
export interface CalendarSource {
  readonly collection: CollectionDefinition<CalendarEvent>;
  /** Place of the events, in words. */
  readonly location: string;
  /** Returns the events that each server should have, and the keys of all open subjects. */
  wanted(): Promise<{ readonly events: readonly WantedEvent[]; readonly openKeys: ReadonlySet<string> }>;
  /** Returns the text in a description by which the subject's event is found. Empty if it is unknown. */
  markOf(key: string): Promise<string>;
}

type CalendarDeps = Pick<FeedDeps, "rest" | "pacer" | "state" | "lease" | "log" | "now">;

/** The events that one server's calendar should contain. */
interface ServerCalendar {
  readonly events: readonly WantedEvent[];
  readonly openKeys: ReadonlySet<string>;
  /** Keys of open subjects beyond the maximum, whose deadlines are later than those of all events. */
  readonly laterKeys: ReadonlySet<string>;
  /** False if no subscription in the server asks for events. */
  readonly isWanted: boolean;
}

/**
 * Keeps a feed's events in the calendars of servers. An event is stored before it is created. A
 * stored event without Discord's id is looked up at Discord first. An event that a person deleted is not created again.
 */
export function createCalendar(deps: CalendarDeps, source: CalendarSource) {
  const { rest, pacer, state, lease, log, now } = deps;
  const calendar = state.open(source.collection);
  const botUserId = lazy(async () => ((await rest.get(Routes.user())) as APIUser).id);
  const turn = (guildId: string) => pacer.turn(guildId, "edit");

  const timesOf = ({ startsAt, endsAt }: WantedEvent) => ({
    scheduled_start_time: new Date(Math.max(startsAt, now() + SOON_MS)).toISOString(),
    scheduled_end_time: new Date(endsAt).toISOString(),
  });

  /** Finds an event at Discord that was stored, and may have been created. */
  const findEvent = async (guildId: string, key: string): Promise<APIGuildScheduledEvent | undefined> => {
    const mark = await source.markOf(key);
    // Every description contains the empty string.
    if (mark === "") return undefined;
    await turn(guildId);
    const events = (await rest.get(Routes.guildScheduledEvents(guildId))) as APIGuildScheduledEvent[];
    const ownUserId = await botUserId();
    return events.find((each) => each.creator_id === ownUserId && each.description?.includes(mark));
  };

  const makeEvent = async (guildId: string, wanted: WantedEvent): Promise<APIGuildScheduledEvent> => {
    const eventBody: RESTPostAPIGuildScheduledEventJSONBody = {
      name: wanted.name,
      description: wanted.description,
      ...timesOf(wanted),
      entity_type: GuildScheduledEventEntityType.External,
      privacy_level: GuildScheduledEventPrivacyLevel.GuildOnly,
      entity_metadata: { location: source.location },
    };
    await turn(guildId);
    const remainingMs = lease.validUntil() - now();
    // Discord has no nonce for events. A process that was suspended after it stored the event must not create
    // it, because the process that took over may have done so.
    if (remainingMs <= 0) throw new LeaseLost("The lease ended before the calendar event was created");
    return withDeadline(remainingMs, undefined, async (signal) => {
      const answer = await rest.post(Routes.guildScheduledEvents(guildId), { body: eventBody, signal });
      createdId(answer);
      return answer as APIGuildScheduledEvent;
    });
  };

  const patch = async (guildId: string, eventId: string, body: RESTPatchAPIGuildScheduledEventJSONBody) => {
    await turn(guildId);
    checkAnswer(await rest.patch(Routes.guildScheduledEvent(guildId, eventId), { body }));
  };

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
    // Discord may have an event whose creation was interrupted, or that the bot could not end because it had left the server.
    const mayExist = known?.eventId === undefined;
    if (!known || !mayExist) await storeEvent(id, begun);
    const foundEvent = mayExist ? await findEvent(guildId, key) : undefined;
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
    await patch(guildId, eventId, {
      name: wanted.name,
      description: wanted.description,
      ...moved,
    });
    const beginsAt = startsAt > now() ? Date.parse(eventTimes.scheduled_start_time) : startsAt;
    await storeEvent(id, { ...event, name: wanted.name, endsAt: wanted.endsAt, startsAt: beginsAt });
  };

  /** Ends an event whose subject is over. An event that has begun is completed, any other is canceled. */
  const endEvent = async (id: string, event: CalendarEvent) => {
    const { guildId, key, endsAt, isGone } = event;
    if (!isGone && endsAt > now()) {
      try {
        // An event may have been created even if its id was not stored.
        const foundEvent = event.eventId === undefined ? await findEvent(guildId, key) : undefined;
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

  /** Creates or updates an event. Returns true if Discord refuses all new events of the server. */
  const settle = async (guildId: string, wanted: WantedEvent, known: CalendarEvent | undefined) => {
    const id = calendarId(guildId, wanted.key);
    try {
      // An event that has ended is replaced by one for the next deadline.
      if (known?.eventId !== undefined && known.endsAt > now()) await moveEvent(id, known, wanted);
      else await create(id, guildId, wanted, known);
    } catch (error) {
      if (known && hasCode(error, ErrorCode.UnknownGuildScheduledEvent, ErrorCode.CannotUpdateAFinishedEvent))
        await storeEvent(id, { ...known, isGone: true });
      else if (isRefusal(error)) {
        const refusal = refusalOf(error);
        const again = known?.notBefore !== undefined && known.refusal === refusal;
        log[again ? "debug" : "warn"](
          { err: error, guild: guildId },
          "Discord refused a calendar event; retrying",
        );
        const { key, name, endsAt } = wanted;
        const { refusal: _, ...rest } = { guildId, key, name, endsAt, ...known };
        const notBefore = now() + (hasCode(error, ErrorCode.MissingPermissions) ? FORBIDDEN_MS : REFUSED_MS);
        await storeEvent(id, { ...rest, notBefore, ...(refusal && { refusal }) });
        return refusal !== undefined;
      } else throw error;
    }
    return false;
  };

  /** Consecutive failures by event, and the time of the next attempt (monotonic clock, ms). */
  const failures = new LRUCache<string, { readonly count: number; readonly retryAt: number }>({
    max: 10_000,
  });
  const isWaiting = (id: string): boolean => (failures.get(id)?.retryAt ?? 0) > performance.now();
  /** Does some work for one event. A failure does not affect other events. */
  const attempt = async (id: string, guildId: string, work: () => Promise<void>): Promise<void> => {
    try {
      await work();
      failures.delete(id);
    } catch (error) {
      if (error instanceof LeaseLost || error instanceof StateError) throw error;
      const count = (failures.get(id)?.count ?? 0) + 1;
      failures.set(id, { count, retryAt: performance.now() + Math.min(SECOND * 2 ** count, MAX_RETRY_MS) });
      log.warn({ err: error, guild: guildId }, "A calendar could not be updated; retrying");
    }
  };

  /**
   * Updates one server's calendar.
   * @param own the server's stored events
   * @param mayChange true if another event may be changed in this run
   */
  const serve = async (
    guildId: string,
    { events, openKeys, laterKeys, isWanted }: ServerCalendar,
    own: ReadonlyMap<string, CalendarEvent>,
    mayChange: () => boolean,
  ) => {
    await yieldIfBusy();
    for (const [id, event] of own) {
      const isOpen = openKeys.has(event.key);
      // A deleted event is remembered while its subject is open.
      if (isOpen && (event.isGone || (isWanted && !laterKeys.has(event.key)))) continue;
      if (isWaiting(id)) continue;
      if (!mayChange()) return;
      await attempt(id, guildId, () => endEvent(id, event));
    }
    let isRefused = [...own.values()].some((event) => isRefusedAt(event, now()));
    for (const each of isWanted ? events : []) {
      const id = calendarId(guildId, each.key);
      const event = own.get(id);
      // The other new events of the server would be refused, too.
      if (isRefused && event?.eventId === undefined) continue;
      if (isWaiting(id) || !isDue(each, event, now())) continue;
      if (!mayChange()) return;
      await attempt(id, guildId, async () => {
        if (await settle(guildId, each, event)) isRefused = true;
      });
    }
  };

  /** Updates the calendars of these servers, and ends the events of all others. */
  return async (guilds: ReadonlySet<string>): Promise<void> => {
    const knownEvents = await calendar.list();
    if (guilds.size === 0 && knownEvents.size === 0) return;
    const { events, openKeys } = await source.wanted();
    const sortedEvents = events
      .filter(({ endsAt }) => endsAt >= now() + 2 * SOON_MS)
      .toSorted((a, b) => a.endsAt - b.endsAt);
    const nearest = sortedEvents.slice(0, MAX_EVENTS);
    const laterKeys = new Set(sortedEvents.slice(MAX_EVENTS).map(({ key }) => key));
    const byGuild = new Map([...guilds].map((guildId) => [guildId, new Map<string, CalendarEvent>()]));
    for await (const piece of inPieces(knownEvents))
      for (const [id, event] of piece)
        byGuild.set(event.guildId, (byGuild.get(event.guildId) ?? new Map()).set(id, event));
    let changes = 0;
    const runs = [...byGuild].map(([guildId, own]) => {
      let ownChanges = 0;
      const mayChange = () => {
        if (ownChanges >= MAX_CHANGES || changes >= MAX_TOTAL_CHANGES) return false;
        ownChanges += 1;
        changes += 1;
        return true;
      };
      return serve(
        guildId,
        { events: nearest, openKeys, laterKeys, isWanted: guilds.has(guildId) },
        own,
        mayChange,
      );
    });
    for (const run of await Promise.allSettled(runs)) if (run.status === "rejected") throw run.reason;
  };
}

/** Returns why a server's events are refused. `undefined` if the reason concerns only one of them. */
function refusalOf(error: unknown): CalendarEvent["refusal"] {
  if (hasCode(error, ErrorCode.MaximumNumberOfUncompletedGuildScheduledEventsReached)) return "full";
  return hasCode(error, ErrorCode.MissingPermissions, ErrorCode.MissingAccess, ErrorCode.UnknownGuild)
    ? "permission"
    : undefined;
}

/** Returns why Discord refuses a server's events at the moment. `undefined` if it does not. @throws {StateError} */
export async function calendarRefusal(
  state: State,
  collection: CalendarSource["collection"],
  guildId: string,
  now: number,
): Promise<CalendarEvent["refusal"]> {
  const events = await state.open(collection).startingWith(calendarId(guildId, ""));
  return [...events.values()].find((each) => isRefusedAt(each, now))?.refusal;
}

const isRefusedAt = ({ refusal, notBefore = 0 }: CalendarEvent, now: number): boolean =>
  refusal !== undefined && believed(notBefore, now, REFUSED_MS) > now;

/** True if Discord would refuse the same request again. */
const isRefusal = (error: unknown): boolean => !isTemporary(problemOf(error));

/** True if an event must be created or updated now. */
function isDue(wanted: WantedEvent, known: CalendarEvent | undefined, now: number): boolean {
  if (known?.isGone || believed(known?.notBefore ?? 0, now, REFUSED_MS) > now) return false;
  return known?.eventId === undefined || known.name !== wanted.name || known.endsAt !== wanted.endsAt;
}

/** Returns an event's id in the state. */
const calendarId = (guildId: string, key: string): string => `${guildId}/${key}`;
