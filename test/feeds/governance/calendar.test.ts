import { REST } from "discord.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newDataDir } from "../../../sandbox/bot-process.js";
import { DiscordError } from "../../../sandbox/discord/errors.js";
import { PERMISSION } from "../../../sandbox/discord/permissions.js";
import { createScheduledEvent, deleteScheduledEvent } from "../../../sandbox/discord/scheduled-events.js";
import { startSandboxDiscord } from "../../../sandbox/discord/server.js";
import type { Channel, ScheduledEvent } from "../../../sandbox/discord/world.js";
import type { VoteRequest } from "../../../sandbox/explorer/model.js";
import { createCalendar } from "../../../src/delivery/calendar.js";
import { createDirectory } from "../../../src/directory/directory.js";
import { createNames } from "../../../src/directory/names.js";
import { createRenderer } from "../../../src/discord/message.js";
import { createPacer } from "../../../src/discord/pacer.js";
import { createExplorerService } from "../../../src/explorer/service.js";
import { voteCalendar } from "../../../src/feeds/governance/calendar.js";
import { calendarEvents, trackedVoteRequests } from "../../../src/feeds/governance/collections.js";
import { createTrackedVoteRequests } from "../../../src/feeds/governance/requests.js";
import { createCache } from "../../../src/storage/cache.js";
import { openFileStore } from "../../../src/storage/file-store.js";
import { LeaseLost } from "../../../src/storage/lease.js";
import { createState } from "../../../src/storage/state.js";
import { DAY, HOUR, MINUTE } from "../../../src/util/units.js";
import { type Harness, newLinks, quiet, startHarness, textOf } from "../../harness.js";
import { tracked } from "../../spec/vote-requests.js";

const STATUS = { scheduled: 1, active: 2, completed: 3, canceled: 4 };

describe("a server's calendar", () => {
  let harness: Harness;
  let channel: Channel;
  const world = () => harness.discord.world;
  const ledger = () => harness.explorer.ledger;
  const events = (): ScheduledEvent[] => world().scheduledEvents.get(harness.discord.guild.id) ?? [];
  const named = (name: string) => events().filter((event) => event.name === name);
  const until = <T>(what: () => T | undefined | false, words: string) => world().until(what, words);
  const ask = (command: string, given: Record<string, string | boolean> = {}) => {
    const { driver, people, channels } = harness.discord;
    return driver.ask({ user: people.owner, channel: channels.general }, command, given);
  };
  const polls = async (count = 2) => {
    const reads = () =>
      harness.explorer.requests.filter(({ path }) => path.endsWith("/vote-requests")).length;
    const before = reads();
    await world().until(() => reads() > before + count, `${count} polls`);
  };
  const open = (title: string, lastsMs = 2 * DAY, effectiveInMs: number | null = 3 * DAY): VoteRequest =>
    ledger().openVoteRequest({ title, motion: "feature", lastsMs, effectiveInMs });

  beforeAll(async () => {
    harness = await startHarness({
      explorer: {
        size: { validators: 20, parties: 40, voteRequests: 0, superValidators: 13, updates: 2, tokens: 1 },
      },
      env: () => ({ GOVERNANCE_POLL_SECONDS: "1" }),
    });
    open("Baseline motion");
    channel = world().addChannel({ type: 0, guild_id: harness.discord.guild.id, name: "votes" });
  });
  afterAll(() => harness.close());

  it("is available only in servers, and names missing permissions", async () => {
    expect(textOf(await ask("/subscribe governance", { channel: channel.id }))).toContain("Subscribed");
    const refused = await ask("/subscribe governance", { channel: channel.id, calendar: true });
    expect(textOf(refused)).toContain("I need **Create Events**");
    const everyone = harness.discord.guild.roles[0];
    if (!everyone) throw new Error("No role");
    everyone.permissions = String(BigInt(everyone.permissions) | PERMISSION.createEvents);
    const changed = await ask("/subscribe governance", { channel: channel.id, calendar: true });
    expect(textOf(changed)).toContain("server events");
  });

  it("has an event for each open vote request, named after it and ending at the quorum date", async () => {
    const request = open("Dated motion");
    const event = await until(() => named("Dated motion")[0], "its event");
    expect(Date.parse(event.scheduled_end_time)).toBe(request.voteBefore);
    expect(event.description).toContain(request.firstContractId);
    await until(() => named("Baseline motion")[0], "the event of one that was open before");
    await polls();
    expect(events()).toHaveLength(2);
  });

  it("has an event although Discord takes 300 ms to create it", async () => {
    harness.discord.trap({ method: "POST", path: /scheduled-events$/, times: 1, delayMs: 300 });
    const created = () =>
      harness.discord.requests.filter(
        ({ method, path }) => method === "POST" && path.endsWith("/scheduled-events"),
      ).length;
    const before = created();
    open("Slow motion");
    await until(() => named("Slow motion")[0], "its event");
    await polls();
    expect(named("Slow motion")).toHaveLength(1);
    expect(created()).toBe(before + 1);
    expect(harness.bot().output()).not.toContain("A calendar could not be updated");
  });

  it("finds an event again that the bot could not end, as after it was removed from the server", async () => {
    open("Kept motion");
    await until(() => named("Kept motion")[0], "its event");
    await polls();
    const count = events().length;
    const error = new DiscordError(403, 50_013, "Missing Permissions");
    const refusal = { method: "PATCH", path: /scheduled-events/, times: 1_000, error };
    harness.discord.trap(refusal);
    await ask("/subscribe governance", { channel: channel.id, calendar: false });
    await until(() => refusal.times === 1_000 - count, "the end of each");
    await polls();
    refusal.times = 0;
    world().refusals.splice(0);
    await ask("/subscribe governance", { channel: channel.id, calendar: true });
    const added = open("Added motion");
    await until(() => named("Added motion")[0], "the event of another");
    await polls(4);
    expect(named("Kept motion")).toHaveLength(1);
    expect(events()).toHaveLength(count + 1);
    ledger().closeVoteRequest(added, "Rejected");
  });

  it("moves an event when its deadline changes, and to the effective date once enough have voted", async () => {
    const request = open("Moved motion");
    const event = await until(() => named("Moved motion")[0], "its event");
    request.voteBefore += 5 * HOUR;
    await until(() => Date.parse(event.scheduled_end_time) === request.voteBefore, "the later deadline");
    for (let votes = 0; votes < 9; votes += 1) ledger().castVote(request, votes % 2 === 0);
    await until(
      () => Date.parse(event.scheduled_end_time) === request.targetEffectiveAt,
      "the effective date",
    );
    expect(named("Moved motion")).toHaveLength(1);
  });

  it("cancels an upcoming event, and completes a running one, when the vote ends", async () => {
    const early = open("Early motion");
    const late = open("Late motion", 90 * 60_000, null);
    const [cancelled, completed] = [
      await until(() => named("Early motion")[0], "an event"),
      await until(() => named("Late motion")[0], "another"),
    ];
    ledger().closeVoteRequest(early, "Rejected");
    await until(() => cancelled.status === STATUS.canceled, "the cancelled event");
    harness.pass(HOUR);
    ledger().closeVoteRequest(late, "Rejected");
    await until(() => completed.status === STATUS.completed, "the completed event");
  });

  it("creates each event only once despite interruptions, and does not recreate a deleted event", async () => {
    harness.discord.trap({
      method: "POST",
      path: /scheduled-events$/,
      times: 1,
      error: "lost",
    });
    open("Interrupted motion");
    await until(() => named("Interrupted motion")[0], "its event");
    await polls(1);
    expect(named("Interrupted motion")).toHaveLength(1);
    const request = open("Deleted motion");
    const event = await until(() => named("Deleted motion")[0], "its event");
    await polls();
    deleteScheduledEvent(world(), harness.discord.guild, event.id);
    request.voteBefore += HOUR;
    await polls(2);
    await harness.restart();
    await polls(2);
    expect(named("Deleted motion")).toEqual([]);
    expect(named("Interrupted motion")).toHaveLength(1);
  });

  it("says that the bot lacks the permission, and creates the events soon after it is granted", async () => {
    const [everyone] = harness.discord.guild.roles;
    const allowed = everyone?.permissions ?? "0";
    if (everyone) everyone.permissions = String(BigInt(allowed) & ~PERMISSION.createEvents);
    const before = world().refusals.length;
    open("Forbidden motion");
    open("Forbidden too");
    const line = /⚠️ Calendar \(set in <#\d+>\): Discord refuses server events. Give me \*\*Create Events/;
    await expect.poll(async () => textOf(await ask("/setup", {}))).toMatch(line);
    expect(textOf(await ask("/subscribe list", {}))).toContain("Discord refuses server events");
    await polls(3);
    expect(
      world()
        .refusals.slice(before)
        .filter(({ path }) => path.includes("scheduled-events")),
    ).toHaveLength(1);
    if (everyone) everyone.permissions = allowed;
    harness.pass(11 * MINUTE);
    await until(() => named("Forbidden motion")[0] && named("Forbidden too")[0], "its events");
    expect(textOf(await ask("/setup", {}))).not.toMatch(line);
  });

  it("retries later if the server has too many events, and is empty without subscribers", async () => {
    const { guild } = harness.discord;
    const room = 100 - events().filter(({ status }) => status <= 2).length;
    const at = (ms: number) => new Date(harness.now() + ms).toISOString();
    const others = Array.from({ length: room }, (_, index) =>
      createScheduledEvent(world(), guild, {
        name: `Party ${index}`,
        scheduled_start_time: at(DAY),
        scheduled_end_time: at(2 * DAY),
        entity_type: 3,
        privacy_level: 2,
        entity_metadata: { location: "Here" },
      }),
    );
    open("Crowded motion");
    await until(
      () => world().refusals.some(({ body }) => JSON.stringify(body).includes("30038")),
      "the refusal",
    );
    for (const { id } of others) deleteScheduledEvent(world(), guild, id);
    harness.pass(HOUR + 60_000);
    await until(() => named("Crowded motion")[0], "its event, an hour later");
    await ask("/subscribe governance", { channel: channel.id, calendar: false });
    await until(() => events().every(({ status }) => status > 2), "an empty calendar");
  });
});

describe("a calendar's own requests", () => {
  /** Starts Discord, and keeps the calendars of its servers for one vote request. */
  const startCalendar = async (validUntil: () => number = () => Date.now() + HOUR) => {
    const discord = await startSandboxDiscord();
    const everyone = discord.guild.roles[0];
    if (everyone) everyone.permissions = String(BigInt(everyone.permissions) | PERMISSION.createEvents);
    const store = openFileStore(newDataDir());
    const state = createState(store, { log: quiet });
    let passedMs = 0;
    const now = () => Date.now() + passedMs;
    const requests = createTrackedVoteRequests(state);
    await state.commit([requests.put("a", tracked({ phase: "open" }, { voteBefore: Date.now() + DAY }))]);
    const directory = createDirectory();
    const explorer = createExplorerService({
      upstream: () => Promise.reject(new Error("No explorer")),
      cache: createCache({ memoryMb: 1, log: quiet }),
    });
    const rest = new REST({ api: discord.url, retries: 0, offset: 0, rejectOnRateLimit: () => true });
    const keep = createCalendar(
      {
        rest: rest.setToken(discord.token),
        pacer: createPacer(),
        state,
        lease: { validUntil },
        log: quiet,
        now,
      },
      voteCalendar({
        requests,
        superValidators: async () => 13,
        names: createNames({ directory, explorer: explorer.for("background"), state, log: quiet }),
        renderer: createRenderer(newLinks()),
        now,
      }),
    );
    const made = (guildId: string) => discord.world.scheduledEvents.get(guildId) ?? [];
    const pass = (ms: number) => {
      passedMs += ms;
    };
    return { discord, keep, made, store, state, reread: requests.reread, pass };
  };

  it("find an event whose creation got no answer, although its vote request's id is not shown as it is", async () => {
    const { discord, keep, made, state, reread } = await startCalendar();
    const identity = "a`b  c";
    const request = tracked({ identity, phase: "open" }, { voteBefore: Date.now() + DAY });
    await state.commit([createTrackedVoteRequests(state).put("a", request)]);
    reread();
    discord.trap({ method: "POST", path: /scheduled-events$/, times: 1, error: "lost" });
    const subscribers = new Set([discord.guild.id]);
    const stored = async () =>
      [...(await state.open(calendarEvents).list()).values()].flatMap(({ eventId }) => eventId ?? []);
    await expect
      .poll(async () => {
        await keep(subscribers);
        return (await stored()).length;
      })
      .toBe(1);
    expect(made(discord.guild.id).map(({ id }) => id)).toEqual(await stored());
    await discord.close();
  });

  it("end the events with the latest deadlines if there are more than fifty", async () => {
    const { discord, keep, made, state } = await startCalendar();
    const guildId = discord.guild.id;
    const calendar = state.open(calendarEvents);
    const requests = createTrackedVoteRequests(state);
    const far = Array.from({ length: 51 }, (_, at) => [`far ${at}`, Date.now() + (3 + at) * DAY] as const);
    await state.commit(
      far.flatMap(([key, endsAt]) => [
        requests.put(key, tracked({ phase: "open" }, { voteBefore: endsAt })),
        calendar.put(`${guildId}/${key}`, {
          guildId,
          key,
          name: "A title",
          endsAt,
          eventId: "1",
          startsAt: endsAt,
        }),
      ]),
    );
    await keep(new Set([guildId]));
    expect(made(guildId)).toHaveLength(1);
    const keys = [...(await calendar.list()).values()].map(({ key }) => key);
    expect(keys).toHaveLength(50);
    expect(keys).toContain("far 48");
    await discord.close();
  });

  it("say that the votes have decided a request", async () => {
    const { discord, keep, made, state, reread } = await startCalendar();
    const guildId = discord.guild.id;
    await keep(new Set([guildId]));
    expect(made(guildId).map(({ name }) => name)).toEqual(["A title"]);
    const rejected = tracked({ phase: "open", yes: 1, no: 9, pending: 3 }, { voteBefore: Date.now() + DAY });
    await state.commit([createTrackedVoteRequests(state).put("a", rejected)]);
    reread();
    await keep(new Set([guildId]));
    expect(made(guildId).map(({ name }) => name)).toEqual(["❌ Rejected by the votes: A title"]);
    await discord.close();
  });

  it("move an event although the server gets no new ones", async () => {
    const { discord, keep, made, state, reread } = await startCalendar();
    const guildId = discord.guild.id;
    const subscribers = new Set([guildId]);
    await keep(subscribers);
    const requests = createTrackedVoteRequests(state);
    const endsAt = Date.now() + 2 * DAY;
    const refused = {
      guildId,
      key: "b",
      name: "b",
      endsAt: 1,
      notBefore: Date.now() + HOUR,
      refusal: "full",
    } as const;
    await state.commit([
      requests.put("a", tracked({ phase: "open" }, { voteBefore: endsAt })),
      requests.put("b", tracked({ phase: "open" }, { voteBefore: endsAt + DAY })),
      state.open(calendarEvents).put(`${guildId}/b`, refused),
    ]);
    reread();
    await keep(subscribers);
    expect(made(guildId).map((event) => Date.parse(event.scheduled_end_time))).toEqual([endsAt]);
    await discord.close();
  });

  it("leave an event alone that a person has cancelled", async () => {
    const { discord, keep, made, state, reread } = await startCalendar();
    const subscribers = new Set([discord.guild.id]);
    await keep(subscribers);
    const [event] = made(discord.guild.id);
    if (event) event.status = STATUS.canceled;
    const moved = tracked({ phase: "open" }, { voteBefore: Date.now() + 2 * DAY });
    await state.commit([createTrackedVoteRequests(state).put("a", moved)]);
    reread();
    await keep(subscribers);
    await keep(subscribers);
    expect(discord.world.refusals).toHaveLength(1);
    await discord.close();
  });

  it("end and move an event that a person has started early", async () => {
    const { discord, keep, made, state, reread } = await startCalendar();
    const subscribers = new Set([discord.guild.id]);
    await keep(subscribers);
    const [event] = made(discord.guild.id);
    if (event) event.status = STATUS.active;
    const ends = Date.now() + 2 * DAY;
    const put = (next: ReturnType<typeof tracked>) =>
      state.commit([createTrackedVoteRequests(state).put("a", next)]);
    await put(tracked({ phase: "open" }, { voteBefore: ends }));
    reread();
    await keep(subscribers);
    expect(made(discord.guild.id).map((each) => Date.parse(each.scheduled_end_time))).toEqual([ends]);
    await put(tracked({ phase: "closed" }));
    reread();
    await keep(subscribers);
    await keep(subscribers);
    expect(made(discord.guild.id).map(({ status }) => status)).toEqual([STATUS.completed]);
    await discord.close();
  });

  it("end an event of a closed vote later if the bot lacks the permission at first", async () => {
    const { discord, keep, made, state, reread, pass } = await startCalendar();
    const subscribers = new Set([discord.guild.id]);
    await keep(subscribers);
    const [everyone] = discord.guild.roles;
    const allowed = everyone?.permissions ?? "0";
    if (everyone) everyone.permissions = String(BigInt(allowed) & ~PERMISSION.createEvents);
    await state.commit([createTrackedVoteRequests(state).put("a", tracked({ phase: "closed" }))]);
    reread();
    await keep(subscribers);
    await keep(subscribers);
    expect(discord.world.refusals).toHaveLength(1);
    if (everyone) everyone.permissions = allowed;
    pass(11 * MINUTE);
    await keep(subscribers);
    expect(made(discord.guild.id).map(({ status }) => status)).toEqual([STATUS.canceled]);
    expect(await state.open(calendarEvents).list()).toEqual(new Map());
    await discord.close();
  });

  it("leave the event of a vote request alone whose document cannot be read", async () => {
    const { discord, keep, made, store, reread } = await startCalendar();
    const subscribers = new Set([discord.guild.id]);
    await keep(subscribers);
    await store.commit([{ op: "put", collection: trackedVoteRequests.name, id: "a", text: "{}" }]);
    reread();
    await keep(subscribers);
    expect(made(discord.guild.id).map(({ status }) => status)).toEqual([STATUS.scheduled]);
    // Nobody wants it any more.
    await keep(new Set());
    expect(made(discord.guild.id).map(({ status }) => status)).toEqual([STATUS.canceled]);
    await discord.close();
  });

  it("create no event if the process was frozen until its lease expired", async () => {
    /** True if this process still holds its lease after it has recorded the event. */
    let isHeld = false;
    const { discord, keep, made } = await startCalendar(() => Date.now() + (isHeld ? HOUR : -1));
    const subscribers = new Set([discord.guild.id]);
    await expect(keep(subscribers)).rejects.toThrow(LeaseLost);
    expect(made(discord.guild.id)).toEqual([]);
    isHeld = true;
    await keep(subscribers);
    expect(made(discord.guild.id)).toHaveLength(1);
    await discord.close();
  });

  const store = (
    { state }: Pick<Awaited<ReturnType<typeof startCalendar>>, "state">,
    next: ReturnType<typeof tracked>,
  ) => state.commit([createTrackedVoteRequests(state).put("a", next)]);

  it("rename an event that was found after its creation got no answer", async () => {
    const { discord, keep, made, state, reread } = await startCalendar();
    const voteBefore = Date.now() + DAY;
    const guilds = new Set([discord.guild.id]);
    await store({ state }, tracked({ phase: "open" }, { title: "First title", voteBefore }));
    reread();
    discord.trap({ method: "POST", path: /scheduled-events$/, times: 1, error: "lost" });
    await keep(guilds);
    await store({ state }, tracked({ phase: "open" }, { title: "Second title", voteBefore }));
    reread();
    const names = async () => {
      await keep(guilds);
      return made(discord.guild.id).map(({ name }) => name);
    };
    await expect.poll(names, { timeout: 20_000 }).toEqual(["Second title"]);
    await discord.close();
  });

  it.each([
    ["keep one event while votes are changed around the number that is needed", false, [STATUS.scheduled]],
    ["do not create an event again that a person has deleted", true, []],
  ])("%s", async (_, isDeleted, expected) => {
    const { discord, keep, made, state, reread } = await startCalendar();
    const guilds = new Set([discord.guild.id]);
    const voteBefore = Date.now() + DAY;
    for (const yes of [8, 9, 8, 9]) {
      await store({ state }, tracked({ phase: "open", yes, no: 0, pending: 13 - yes }, { voteBefore }));
      reread();
      await keep(guilds);
      const [event] = made(discord.guild.id);
      if (isDeleted && event) deleteScheduledEvent(discord.world, discord.guild, event.id);
    }
    expect(made(discord.guild.id).map(({ status }) => status)).toEqual(expected);
    await discord.close();
  });

  it("end an event whose deadline was moved to within minutes, or into the past", async () => {
    for (const at of [3 * MINUTE, -HOUR]) {
      const { discord, keep, made, state, reread } = await startCalendar();
      const guilds = new Set([discord.guild.id]);
      await keep(guilds);
      await store({ state }, tracked({ phase: "open" }, { voteBefore: Date.now() + at }));
      reread();
      await keep(guilds);
      expect(made(discord.guild.id).map(({ status }) => status)).toEqual([STATUS.canceled]);
      await discord.close();
    }
  });

  it("keep to Discord's pace, so that each of many servers gets its event", async () => {
    const { discord, keep, made } = await startCalendar();
    const { world, people } = discord;
    const bits = PERMISSION.createEvents | PERMISSION.viewChannel;
    const guilds = Array.from({ length: 80 }, (_, index) =>
      world.addGuild(`Server ${index}`, people.owner, bits),
    );
    for (const { members } of guilds) members.set(world.bot.id, []);
    await keep(new Set(guilds.map(({ id }) => id)));
    expect(guilds.map(({ id }) => made(id).length)).toEqual(guilds.map(() => 1));
    expect(discord.limits.refused).toBe(0);
    await discord.close();
  });
});
