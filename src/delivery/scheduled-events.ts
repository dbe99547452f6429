import {
  type APIGuildScheduledEvent,
  GuildScheduledEventEntityType,
  GuildScheduledEventPrivacyLevel,
  GuildScheduledEventStatus,
  type RESTPatchAPIGuildScheduledEventJSONBody,
  type RESTPostAPIGuildScheduledEventJSONBody,
  Routes,
} from "discord.js";
import * as z from "zod";
import { ErrorCode, hasCode } from "../discord/errors.js";
import { createOwnId } from "../discord/places.js";
import { checkAnswer, createdId } from "../discord/post.js";
import { isTemporary, problemOf } from "../discord/problems.js";
import { type CollectionDefinition, type DocumentOf, defineCollection } from "../storage/collection.js";
import { LeaseLost } from "../storage/lease.js";
import type { State } from "../storage/state.js";
import { timestampSchema } from "../storage/timestamp.js";
import { believed } from "../util/clock.js";
import { withDeadline } from "../util/timeouts.js";
import { HOUR, MINUTE } from "../util/units.js";
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
export type CalendarEvent = DocumentOf<ReturnType<typeof defineCalendar>>;

/** Events that would begin or end sooner than this are not created, in ms. */
export const SOON_MS = 2 * MINUTE;
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
  /** True if it is not known whether a subject is open, because its document cannot be read. Its event stays. */
  isUnknown(key: string): Promise<boolean>;
  /** Returns the text in a description by which the subject's event is found. Empty if it is unknown. */
  markOf(key: string): Promise<string>;
}

/** Dependencies of a calendar. */
export type CalendarDeps = Pick<FeedDeps, "rest" | "pacer" | "state" | "lease" | "log" | "now">;

/** Changes an event that has begun or not, and again as one that has if Discord refuses it: a person may have started it early. */
const unlessStarted = <T>(hasBegun: boolean, change: (hasBegun: boolean) => Promise<T>): Promise<T> =>
  change(hasBegun).catch((error: unknown) => {
    if (hasBegun || !hasCode(error, ErrorCode.InvalidFormBodyOrContentType)) throw error;
    return change(true);
  });

/** Creates what changes one event: at Discord and in the state. */
export function createScheduledEvents(deps: CalendarDeps, source: CalendarSource) {
  const { rest, pacer, state, lease, now } = deps;
  const calendar = state.open(source.collection);
  const botUserId = createOwnId(rest);
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

  /** Returns when a refused request is tried again, epoch ms. */
  const afterRefusal = (error: unknown): number =>
    now() + (hasCode(error, ErrorCode.MissingPermissions) ? FORBIDDEN_MS : REFUSED_MS);

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
      // An event that was found may have an earlier name and deadline. The next run changes them.
      name: foundEvent?.name ?? name,
      endsAt: Date.parse(foundEvent?.scheduled_end_time ?? "") || endsAt,
      eventId: event.id,
      startsAt: Date.parse(event.scheduled_start_time),
    });
  };

  const moveEvent = async (id: string, event: CalendarEvent, wanted: WantedEvent) => {
    const { eventId = "", startsAt = 0, guildId } = event;
    const eventTimes = timesOf(wanted);
    const { name, description } = wanted;
    /** Changes the event. If it has begun, only its end can be moved. Returns its start. */
    const move = async (hasBegun: boolean): Promise<number> => {
      const movedStart = hasBegun ? undefined : eventTimes.scheduled_start_time;
      await patch(guildId, eventId, { name, description, ...eventTimes, scheduled_start_time: movedStart });
      return movedStart === undefined ? Math.min(startsAt, now()) : Date.parse(movedStart);
    };
    const beginsAt = await unlessStarted(startsAt <= now(), move);
    await storeEvent(id, { ...event, name, endsAt: wanted.endsAt, startsAt: beginsAt });
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
          await unlessStarted(startsAt <= now(), (hasBegun) =>
            patch(guildId, eventId, { status: hasBegun ? Completed : Canceled }),
          );
      } catch (error) {
        // The event may still exist. The bot may get the permission back, or be invited again.
        if (refusalOf(error) === "permission") {
          await storeEvent(id, { ...event, notBefore: afterRefusal(error) });
          return;
        }
        // The event was deleted or has ended.
        if (!isRefusal(error)) throw error;
      }
    }
    await storeEvent(id, undefined);
  };

  return { create, moveEvent, endEvent, storeEvent, afterRefusal };
}

/** Returns why a server's events are refused. `undefined` if the reason concerns only one of them. */
export function refusalOf(error: unknown): CalendarEvent["refusal"] {
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

/** True if the next request for an event has to wait, because Discord has refused one. */
export const isPostponed = ({ notBefore = 0 }: CalendarEvent, now: number): boolean =>
  believed(notBefore, now, REFUSED_MS) > now;

export const isRefusedAt = (event: CalendarEvent, now: number): boolean =>
  event.refusal !== undefined && isPostponed(event, now);

/** True if Discord would refuse the same request again. */
export const isRefusal = (error: unknown): boolean => !isTemporary(problemOf(error));

/** Returns an event's id in the state. */
export const calendarId = (guildId: string, key: string): string => `${guildId}/${key}`;
