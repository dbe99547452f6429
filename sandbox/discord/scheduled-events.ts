import { DiscordError, type Faults, invalidForm, missingAccess, missingPermissions } from "./errors.js";
import { ALL, PERMISSION } from "./permissions.js";
import type { Guild, ScheduledEvent, World } from "./world.js";

/** Statuses of an event, and the transitions that Discord allows. */
const STATUS = { scheduled: 1, active: 2, completed: 3, canceled: 4 } as const;
const NEXT: Readonly<Record<number, readonly number[]>> = {
  [STATUS.scheduled]: [STATUS.active, STATUS.canceled],
  [STATUS.active]: [STATUS.completed],
};
const EXTERNAL = 3;
const GUILD_ONLY = 2;
/** Discord's limit of scheduled and active events per server. */
const MAX_EVENTS = 100;

type Fields = Readonly<Record<string, unknown>>;

const isOver = ({ status }: ScheduledEvent): boolean =>
  status === STATUS.completed || status === STATUS.canceled;

/** Returns the bot's server permissions. */
function heldBy(world: World, guild: Guild): bigint {
  const roles = guild.members.get(world.bot.id);
  if (!roles) throw missingAccess();
  const base = guild.roles
    .filter(({ id }) => id === guild.id || roles.includes(id))
    .reduce((sum, role) => sum | BigInt(role.permissions), 0n);
  return base & PERMISSION.administrator ? ALL : base;
}

/**
 * Starts and ends external events automatically (Discord: "Guild Scheduled Event Status Update Automation").
 */
function bringUpToDate(world: World, guild: Guild): ScheduledEvent[] {
  const events = world.scheduledEvents.get(guild.id) ?? [];
  world.scheduledEvents.set(guild.id, events);
  for (const event of events) {
    if (isOver(event)) continue;
    if (Date.parse(event.scheduled_end_time) <= world.now()) event.status = STATUS.completed;
    else if (Date.parse(event.scheduled_start_time) <= world.now()) event.status = STATUS.active;
  }
  return events;
}

function checkText(faults: Faults, body: Fields, name: string, most: number, isRequired: boolean): void {
  const value = body[name];
  if (value === undefined && !isRequired) return;
  if (typeof value !== "string" || value.length < 1 || value.length > most)
    faults.set(name, `Must be between 1 and ${most} in length.`);
}

/** @throws {DiscordError} 50035 */
function checkTimes(world: World, faults: Faults, body: Fields, before: ScheduledEvent | undefined): void {
  const time = (name: "scheduled_start_time" | "scheduled_end_time") => {
    const value = body[name] ?? before?.[name];
    const at = typeof value === "string" ? Date.parse(value) : Number.NaN;
    if (Number.isNaN(at)) faults.set(name, "This field is required");
    return at;
  };
  const [start, end] = [time("scheduled_start_time"), time("scheduled_end_time")];
  if (body.scheduled_start_time !== undefined && start <= world.now())
    faults.set("scheduled_start_time", "Cannot schedule event in the past.");
  if (end <= start) faults.set("scheduled_end_time", "Cannot schedule event that ends before it begins.");
  if (end <= world.now()) faults.set("scheduled_end_time", "Cannot schedule event in the past.");
}

function check(world: World, body: Fields, before?: ScheduledEvent): void {
  const faults: Faults = new Map();
  checkText(faults, body, "name", 100, before === undefined);
  if (body.description !== null) checkText(faults, body, "description", 1_000, false);
  if (!before) {
    if (body.entity_type !== EXTERNAL) faults.set("entity_type", "This sandbox knows external events only.");
    if (body.privacy_level !== GUILD_ONLY) faults.set("privacy_level", "Must be one of (2,).");
    const place = (body.entity_metadata as Fields | undefined)?.location;
    if (typeof place !== "string" || place.length < 1 || place.length > 100)
      faults.set("entity_metadata.location", "Must be between 1 and 100 in length.");
  }
  const movesTimes = body.scheduled_start_time !== undefined || body.scheduled_end_time !== undefined;
  if (!before || movesTimes) checkTimes(world, faults, body, before);
  if (faults.size > 0) throw invalidForm(faults);
}

const text = (body: Fields, name: string, otherwise: string): string =>
  typeof body[name] === "string" ? body[name] : otherwise;

/**
 * Returns the scheduled and active events of a server.
 * @throws {DiscordError}
 */
export function listScheduledEvents(world: World, guild: Guild): ScheduledEvent[] {
  heldBy(world, guild);
  return bringUpToDate(world, guild).filter((event) => !isOver(event));
}

/** @throws {DiscordError} */
export function createScheduledEvent(world: World, guild: Guild, body: Fields): ScheduledEvent {
  if (!(heldBy(world, guild) & PERMISSION.createEvents)) throw missingPermissions();
  check(world, body);
  const events = bringUpToDate(world, guild);
  if (events.filter((event) => !isOver(event)).length >= MAX_EVENTS)
    throw new DiscordError(400, 30_038, "Maximum number of uncompleted guild scheduled events reached (100)");
  const event: ScheduledEvent = {
    id: world.snowflake(),
    guild_id: guild.id,
    creator_id: world.bot.id,
    name: text(body, "name", ""),
    description: text(body, "description", ""),
    scheduled_start_time: text(body, "scheduled_start_time", ""),
    scheduled_end_time: text(body, "scheduled_end_time", ""),
    status: STATUS.scheduled,
    entity_type: EXTERNAL,
    privacy_level: GUILD_ONLY,
    entity_metadata: { location: String((body.entity_metadata as Fields).location) },
  };
  events.push(event);
  world.changed();
  return event;
}

/**
 * Changes the time, the name or the status of an event.
 * @throws {DiscordError}
 */
export function editScheduledEvent(
  world: World,
  guild: Guild,
  id: string | undefined,
  body: Fields,
): ScheduledEvent {
  const held = heldBy(world, guild);
  const event = bringUpToDate(world, guild).find((each) => each.id === id);
  if (!event) throw new DiscordError(404, 10_070, "Unknown Guild Scheduled Event");
  const isOwn = event.creator_id === world.bot.id && (held & PERMISSION.createEvents) !== 0n;
  if (!isOwn && !(held & PERMISSION.manageEvents)) throw missingPermissions();
  if (isOver(event)) throw new DiscordError(400, 180_000, "Cannot update a finished event");
  check(world, body, event);
  const { status } = body;
  if (status !== undefined && status !== null) {
    if (!NEXT[event.status]?.includes(Number(status)))
      throw invalidForm(new Map([["status", "Invalid Guild Scheduled Event Status Transition"]]));
    event.status = Number(status);
  }
  if (event.status === STATUS.active && body.scheduled_start_time !== undefined)
    throw invalidForm(new Map([["scheduled_start_time", "Cannot update start time of an active event"]]));
  event.name = text(body, "name", event.name);
  event.description = text(body, "description", event.description);
  event.scheduled_start_time = text(body, "scheduled_start_time", event.scheduled_start_time);
  event.scheduled_end_time = text(body, "scheduled_end_time", event.scheduled_end_time);
  world.changed();
  return event;
}

/** Deletes an event as a person would. */
export function deleteScheduledEvent(world: World, guild: Guild, id: string): void {
  const events = world.scheduledEvents.get(guild.id) ?? [];
  world.scheduledEvents.set(
    guild.id,
    events.filter((event) => event.id !== id),
  );
  world.changed();
}
