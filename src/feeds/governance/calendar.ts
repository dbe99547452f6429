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
import { hasTopic, type Publisher } from "../../delivery/feed.js";
import type { Names } from "../../directory/names.js";
import { DISCORD, hasCode } from "../../discord/errors.js";
import type { Renderer } from "../../discord/message.js";
import { problemOf } from "../../discord/problems.js";
import { neededFor, nextDeadline } from "../../ledger/vote-rules.js";
import type { Log } from "../../log.js";
import type { CalendarEvent, TrackedVoteRequest } from "../../storage/catalogue.js";
import { type LeasedState, LeaseLost } from "../../storage/lease.js";
import { StateError } from "../../storage/store.js";
import { code, md, timestamp } from "../../text/markdown.js";
import { clean } from "../../text/plain.js";
import { believed } from "../../util/clock.js";
import { lazy } from "../../util/single-flight.js";
import { HOUR, MINUTE } from "../../util/units.js";
import { definition } from "./definition.js";
import type { TrackedVoteRequests } from "./requests.js";
import { toVoteRequest } from "./tracking.js";

/** Events of one server's at the most, the nearest deadlines first (Discord: 100, which others want too). */
const MAX_EVENTS = 50;
/** Requests to Discord in one run, for one server. */
const MAX_CHANGES = 5;
/** An event begins so long before the deadline that it ends at, in ms. */
const LASTS_MS = HOUR;
/** One that would begin or end sooner than this is not worth making, in ms. */
const SOON_MS = 2 * MINUTE;
/** After a refusal that will not pass by itself, in ms. */
const REFUSED_MS = HOUR;
const LOCATION = "A vote of the super validators";

interface CalendarDeps {
  /** Without retries inside: what fails is tried again at the next run. */
  readonly rest: REST;
  readonly state: LeasedState;
  readonly requests: TrackedVoteRequests;
  readonly names: Names;
  readonly renderer: Renderer;
  readonly log: Log;
  readonly now: () => number;
}

/** An event as it should be. */
interface Wanted {
  readonly key: string;
  readonly identity: string;
  readonly name: string;
  readonly endsAt: number;
}

/**
 * Keeps an event in the calendar of each server that wants it, for each open vote request. An event is written down before it is
 * made: whoever finds one written down and not made looks for it at Discord first. One that somebody deleted stays deleted.
 */
export function createCalendar({ rest, state, requests, names, renderer, log, now }: CalendarDeps) {
  const { calendar } = state;
  const me = lazy(async () => ((await rest.get(Routes.user())) as APIUser).id);

  const wantedOf = ([key, request]: readonly [string, TrackedVoteRequest]): Wanted[] => {
    if (request.phase !== "open") return [];
    const { identity } = request;
    const of = toVoteRequest(request);
    const endsAt = nextDeadline(of, of, neededFor(of, undefined), now());
    if (endsAt === null || endsAt < now() + 2 * SOON_MS) return [];
    const title = names.voteRequest({ identity, title: request.terms.title });
    return [{ key, identity, name: renderer.title(clean(title)), endsAt }];
  };

  const timesOf = ({ endsAt }: Wanted) => ({
    scheduled_start_time: new Date(Math.max(endsAt - LASTS_MS, now() + SOON_MS)).toISOString(),
    scheduled_end_time: new Date(endsAt).toISOString(),
  });

  /** An event that was written down, and may have been made. */
  const find = async (
    guildId: string,
    { identity }: Pick<Wanted, "identity">,
  ): Promise<APIGuildScheduledEvent | undefined> => {
    // Every description holds an empty text.
    if (identity === "") return undefined;
    const events = (await rest.get(Routes.guildScheduledEvents(guildId))) as APIGuildScheduledEvent[];
    const own = await me();
    return events.find((each) => each.creator_id === own && each.description?.includes(identity));
  };

  const make = async (guildId: string, wanted: Wanted): Promise<APIGuildScheduledEvent> => {
    const body: RESTPostAPIGuildScheduledEventJSONBody = {
      name: wanted.name,
      description:
        md`Super validators vote until ${timestamp(wanted.endsAt, "f")}.\n${code(wanted.identity, 300)}`.toString(),
      ...timesOf(wanted),
      entity_type: GuildScheduledEventEntityType.External,
      privacy_level: GuildScheduledEventPrivacyLevel.GuildOnly,
      entity_metadata: { location: LOCATION },
    };
    return (await rest.post(Routes.guildScheduledEvents(guildId), { body })) as APIGuildScheduledEvent;
  };

  const patch = (guildId: string, eventId: string, body: RESTPatchAPIGuildScheduledEventJSONBody) =>
    rest.patch(Routes.guildScheduledEvent(guildId, eventId), { body });

  const keep = (id: string, event: CalendarEvent | undefined) =>
    state.commit([event ? calendar.put(id, event) : calendar.delete(id)]);

  const create = async (id: string, guildId: string, wanted: Wanted, known: CalendarEvent | undefined) => {
    const { key, name, endsAt } = wanted;
    const begun: CalendarEvent = { guildId, key, name, endsAt };
    const isInterrupted = known !== undefined && known.eventId === undefined;
    if (!isInterrupted) await keep(id, begun);
    const found = isInterrupted ? await find(guildId, wanted) : undefined;
    const event = found ?? (await make(guildId, wanted));
    await keep(id, {
      ...begun,
      // One that was found may be of an earlier deadline: then the next run moves it.
      ...(found ? { endsAt: Date.parse(found.scheduled_end_time ?? "") || endsAt } : {}),
      eventId: event.id,
      startsAt: Date.parse(event.scheduled_start_time),
    });
  };

  const move = async (id: string, event: CalendarEvent, wanted: Wanted) => {
    const { eventId = "", startsAt = 0, guildId } = event;
    const times = timesOf(wanted);
    // Of one that has begun, only the end can be moved.
    const moved = startsAt > now() ? times : { scheduled_end_time: times.scheduled_end_time };
    await patch(guildId, eventId, { name: wanted.name, description: describe(wanted), ...moved });
    const begins = startsAt > now() ? Date.parse(times.scheduled_start_time) : startsAt;
    await keep(id, { ...event, name: wanted.name, endsAt: wanted.endsAt, startsAt: begins });
  };

  /** Ends an event whose vote is over: one that has begun is completed, and any other is cancelled. */
  const end = async (id: string, event: CalendarEvent) => {
    const { guildId, key, endsAt, isGone } = event;
    const { identity = "" } = (await requests.get(key)) ?? {};
    if (!isGone && endsAt > now()) {
      try {
        // One that was written down and not known to be made may have been.
        const found = event.eventId === undefined ? await find(guildId, { identity }) : undefined;
        const eventId = event.eventId ?? found?.id;
        const startsAt = event.startsAt ?? Date.parse(found?.scheduled_start_time ?? "");
        const { Completed, Canceled } = GuildScheduledEventStatus;
        if (eventId !== undefined)
          await patch(guildId, eventId, { status: startsAt <= now() ? Completed : Canceled });
      } catch (error) {
        // Deleted, or ended already; or the bot has left the server.
        if (!isRefusal(error)) throw error;
      }
    }
    await keep(id, undefined);
  };

  /** One step for one event; whether anything was to be done. */
  const settle = async (
    guildId: string,
    wanted: Wanted,
    known: CalendarEvent | undefined,
  ): Promise<boolean> => {
    const id = calendarId(guildId, wanted.key);
    if (known?.isGone || believed(known?.notBefore ?? 0, now(), REFUSED_MS) > now()) return false;
    if (known?.eventId !== undefined && known.name === wanted.name && known.endsAt === wanted.endsAt)
      return false;
    try {
      // One that has ended by itself gives way to the next deadline's.
      if (known?.eventId !== undefined && known.endsAt > now()) await move(id, known, wanted);
      else await create(id, guildId, wanted, known);
    } catch (error) {
      if (known && hasCode(error, DISCORD.unknownScheduledEvent)) await keep(id, { ...known, isGone: true });
      else if (isRefusal(error)) {
        log.warn(
          { err: error, guild: guildId },
          "Discord refuses a calendar event; it is tried again in an hour",
        );
        const { key, name, endsAt } = wanted;
        await keep(id, { guildId, key, name, endsAt, ...known, notBefore: now() + REFUSED_MS });
      } else throw error;
    }
    return true;
  };

  const serve = async (
    guildId: string,
    isWanted: boolean,
    wanted: readonly Wanted[],
    open: ReadonlySet<string>,
    known: ReadonlyMap<string, CalendarEvent>,
  ) => {
    let changes = 0;
    for (const [id, event] of known) {
      const isOpen = open.has(event.key);
      // That somebody deleted it is remembered for as long as its request is open.
      if (event.guildId !== guildId || (isOpen && (isWanted || event.isGone)) || changes >= MAX_CHANGES)
        continue;
      await end(id, event);
      changes += 1;
    }
    for (const each of isWanted ? wanted : []) {
      if (changes >= MAX_CHANGES) return;
      if (await settle(guildId, each, known.get(calendarId(guildId, each.key)))) changes += 1;
    }
  };

  return async (publisher: Publisher): Promise<void> => {
    const subscribed = (await publisher.subscriptions()).filter((each) =>
      hasTopic(each, definition, "calendar"),
    );
    const guilds = new Set(subscribed.flatMap(({ guildId }) => guildId ?? []));
    const known = await calendar.list();
    if (guilds.size === 0 && known.size === 0) return;
    const all = [...(await requests.all())];
    const open = new Set(all.filter(([, { phase }]) => phase === "open").map(([key]) => key));
    const wanted = all
      .flatMap(wantedOf)
      .sort((a, b) => a.endsAt - b.endsAt)
      .slice(0, MAX_EVENTS);
    const served = new Set([...guilds, ...[...known.values()].map(({ guildId }) => guildId)]);
    const runs = [...served].map((guildId) => serve(guildId, guilds.has(guildId), wanted, open, known));
    for (const run of await Promise.allSettled(runs)) {
      if (run.status === "fulfilled") continue;
      if (run.reason instanceof LeaseLost || run.reason instanceof StateError) throw run.reason;
      log.warn({ err: run.reason }, "A calendar could not be kept; it is tried again");
    }
  };
}

/** What an event says of itself; its vote request's id is what it is found by. */
const describe = ({ endsAt, identity }: Wanted): string =>
  md`Super validators vote until ${timestamp(endsAt, "f")}.\n${code(identity, 300)}`.toString();

/** Whether Discord's answer will be the same if it is asked again at once. */
const isRefusal = (error: unknown): boolean => {
  const problem = problemOf(error);
  return problem !== "unknown" && problem !== "refused-for-now";
};

/** An event's id in the state. */
const calendarId = (guildId: string, key: string): string => `${guildId}/${key}`;
