import { LRUCache } from "lru-cache";
import { ErrorCode, hasCode } from "../discord/errors.js";
import { LeaseLost } from "../storage/lease.js";
import { StateError } from "../storage/store.js";
import { inPieces, yieldIfBusy } from "../util/event-loop.js";
import { MINUTE, SECOND } from "../util/units.js";
import {
  type CalendarDeps,
  type CalendarEvent,
  type CalendarSource,
  calendarId,
  createScheduledEvents,
  isPostponed,
  isRefusal,
  isRefusedAt,
  refusalOf,
  SOON_MS,
  type WantedEvent,
} from "./scheduled-events.js";

/**
 * Maximum number of events per server, nearest deadlines first. Discord allows 100 per server, including
 * those of people and other bots.
 */
const MAX_EVENTS = 50;
/** Maximum number of changed events in one run: per server, and in total. The next run continues with the rest. */
const MAX_CHANGES = 5;
const MAX_TOTAL_CHANGES = 200;
/** Maximum delay between two attempts to change an event, in ms. */
const MAX_RETRY_MS = 10 * MINUTE;

/** The events that one server's calendar should contain. */
interface ServerCalendar {
  /** An open subject has none if its deadline has passed, or if it is later than those of the maximum. */
  readonly events: readonly WantedEvent[];
  readonly openKeys: ReadonlySet<string>;
  /** False if no subscription in the server asks for events. */
  readonly isWanted: boolean;
}

/**
 * Keeps a feed's events in the calendars of servers. An event is stored before it is created. A
 * stored event without Discord's id is looked up at Discord first. An event that a person deleted is not created again.
 */
export function createCalendar(deps: CalendarDeps, source: CalendarSource) {
  const { state, log, now } = deps;
  const calendar = state.open(source.collection);
  const { create, moveEvent, endEvent, storeEvent, afterRefusal } = createScheduledEvents(deps, source);

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
        const isSameRefusal = known?.notBefore !== undefined && known.refusal === refusal;
        log[isSameRefusal ? "debug" : "warn"](
          { err: error, guild: guildId },
          "Discord refused a calendar event; retrying",
        );
        const { key, name, endsAt } = wanted;
        const { refusal: _, ...rest } = { guildId, key, name, endsAt, ...known };
        await storeEvent(id, { ...rest, notBefore: afterRefusal(error), ...(refusal && { refusal }) });
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
    { events, openKeys, isWanted }: ServerCalendar,
    own: ReadonlyMap<string, CalendarEvent>,
    mayChange: () => boolean,
  ) => {
    await yieldIfBusy();
    for (const [id, event] of own) {
      const isOpen = openKeys.has(event.key);
      // A deleted event is remembered while its subject is open.
      if (isOpen && (event.isGone || (isWanted && events.some(({ key }) => key === event.key)))) continue;
      // Discord ends it at its deadline.
      if (isOpen && isWanted && event.endsAt < now() + 2 * SOON_MS) continue;
      if (isWaiting(id) || isPostponed(event, now())) continue;
      const mayBeOpen = !isOpen && isWanted && event.endsAt > now();
      if (mayBeOpen && (await source.isUnknown(event.key))) continue;
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
      return serve(guildId, { events: nearest, openKeys, isWanted: guilds.has(guildId) }, own, mayChange);
    });
    for (const run of await Promise.allSettled(runs)) if (run.status === "rejected") throw run.reason;
  };
}

/** True if an event must be created or updated now. */
function isDue(wanted: WantedEvent, known: CalendarEvent | undefined, now: number): boolean {
  if (known?.isGone || (known && isPostponed(known, now))) return false;
  return known?.eventId === undefined || known.name !== wanted.name || known.endsAt !== wanted.endsAt;
}
