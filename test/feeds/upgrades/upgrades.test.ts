import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DiscordError } from "../../../sandbox/discord/errors.js";
import { PERMISSION } from "../../../sandbox/discord/permissions.js";
import type { Channel } from "../../../sandbox/discord/world.js";
import { type UpgradeSetting, upgradeMotion, upgradeSetting } from "../../../sandbox/explorer/actions.js";
import { makeStack } from "../../../sandbox/stack.js";
import { toRecord } from "../../../src/explorer/values.js";
import { DAY, HOUR, MINUTE } from "../../../src/util/units.js";
import { type Harness, SMALL, startHarness, textOf } from "../../harness.js";

describe("upgrades of the network", () => {
  let harness: Harness;
  let channel: Channel;
  let both: Channel;
  const ask = (command: string, given: Record<string, string | boolean> = {}) => {
    const { driver, people, channels } = harness.discord;
    return driver.ask({ user: people.owner, channel: channels.general }, command, given);
  };
  const told = (where = channel) => harness.discord.world.read(where);
  const untilTold = (pattern: RegExp, where = channel) =>
    harness.discord.world.until(
      () => told(where).find((message) => pattern.test(textOf(message))),
      `${pattern} in #${where.name}`,
    );
  const count = (pattern: RegExp, where = channel) =>
    told(where).filter((message) => pattern.test(textOf(message))).length;
  const accept = async (motion: string) => {
    const { ledger } = harness.explorer;
    const request = ledger.openVoteRequest({ motion, effectiveInMs: null });
    // The bot sees it open, and so knows when it was accepted.
    await polled(2);
    ledger.decideVoteRequest(request, "Accepted");
    return request;
  };
  const polled = async (times = 2) => {
    const polls = () =>
      harness.explorer.requests.filter(({ path }) => path.endsWith("/vote-requests")).length;
    const before = polls();
    await harness.discord.world.until(() => polls() > before + times, "polls");
  };
  /** Passes time in steps that are short enough for the bot to follow the rounds. */
  const pass = async (ms: number, step = 15 * MINUTE) => {
    for (let left = ms; left > 0; left -= step) {
      harness.pass(Math.min(step, left));
      await polled(0);
    }
  };

  /** Requests that Discord refused. A bot that was killed meanwhile may end a calendar event again. */
  const refusals = () =>
    harness.discord.world.refusals.filter(({ body }) => !JSON.stringify(body).includes("180000"));

  beforeAll(async () => {
    harness = await startHarness({
      explorer: { lively: true, size: { ...SMALL, voteRequests: 5 } },
      env: () => ({ WATCH_POLL_SECONDS: "1", GOVERNANCE_POLL_SECONDS: "1", REQUESTS_PER_PERSON: "1000" }),
    });
    const { ledger } = harness.explorer;
    ledger.moves = false;
    // Discord limits how fast calendar events are created, so no other request is open.
    for (const each of ledger.voteRequests)
      if (each.status === "In Progress") ledger.closeVoteRequest(each, "Expired");
    const { world, guild } = harness.discord;
    channel = world.addChannel({ type: 0, guild_id: guild.id, name: "upgrades" });
    both = world.addChannel({ type: 0, guild_id: guild.id, name: "ops" });
    await polled();
  });
  afterAll(() => harness.close());

  it("cost no request while nobody subscribes", () => {
    expect(harness.explorer.requests.some(({ path }) => path.includes("dashboard"))).toBe(false);
  });

  it("can be subscribed to, with the version that counts", async () => {
    expect(textOf(await ask("/subscribe upgrades", { channel: channel.id, needs: "latest" }))).toContain(
      "Can't use that version",
    );
    const answer = textOf(await ask("/subscribe upgrades", { channel: channel.id }));
    expect(answer).toMatch(/No upgrade of the network is scheduled/);
    expect(answer).toMatch(/active validators run `/);
    await harness.discord.world.until(
      () => harness.explorer.requests.some(({ path }) => path.includes("dashboard")),
      "a reading of the round",
    );
    await polled(4);
  });

  it("are told when they are scheduled, moved and cancelled, and who is ready", async () => {
    const [follower] = harness.explorer.ledger.validators;
    const behind = harness.explorer.ledger.validators.find(({ version }) => version !== follower?.version);
    for (const each of [follower, behind])
      await ask("/subscribe validator", { channel: both.id, validator: each?.party.id ?? "" });
    await accept("upgrade");
    const scheduled = await untilTold(/Network upgrade scheduled: transactions pause on \d+ \w+ at/);
    expect(textOf(scheduled)).toMatch(/\*\*\d+\*\* of \d+ active validators run `/);
    expect(textOf(scheduled)).toMatch(/Validators this server follows that run an older version: /);
    const digests = harness.discord.world.addChannel({
      type: 0,
      guild_id: harness.discord.guild.id,
      name: "digests",
    });
    await ask("/subscribe digest", { channel: digests.id });
    await ask("/subscribe test", { channel: digests.id });
    const digest = await untilTold(/Weekly digest: network upgrade of/, digests);
    const upgradeAt = /pause on <t:\d+:f>/.exec(textOf(scheduled))?.[0];
    expect(textOf(digest)).toContain(`🛠️ Upgrade: transactions ${upgradeAt}`);
    await ask("/subscribe remove", { channel: digests.id });
    expect(textOf(await ask("/subscribe upgrades", { channel: channel.id, needs: "0.0.1" }))).toContain(
      "needs 0.0.1",
    );
    const second = await accept("upgrade");
    const moved = await untilTold(/Network upgrade moved: transactions pause on .*, not on /);
    expect(textOf(moved)).toMatch(/or newer/);
    expect(textOf(moved)).toMatch(/None of the 2 validators that this server follows is behind/);
    // The first message shows the new time.
    await untilTold(/Moved\. It was scheduled for/);
    // After a restart, the detail of the last decision cannot be read at first.
    await harness.bot().stop("SIGKILL");
    const detail = new RegExp(`${encodeURIComponent(second.firstContractId)}/details`);
    harness.explorer.injectFault({ kind: "status", status: 500 }, { path: detail });
    await harness.start();
    await polled(4);
    harness.explorer.clearFaults();
    await polled(4);
    expect(count(/Network upgrade moved/)).toBe(1);
    // The explorer corrects the outcome of the move, which it must state for an hour.
    second.status = "Rejected";
    await pass(45 * MINUTE);
    expect(count(/Network upgrade moved/)).toBe(1);
    await pass(45 * MINUTE);
    await harness.discord.world.until(() => count(/Network upgrade moved/) === 2, "the first schedule");
    // It is cancelled while the bot is away, and the list of vote requests comes late when the reminder is due.
    const cancel = harness.explorer.ledger.openVoteRequest({ motion: "cancelUpgrade", effectiveInMs: null });
    await polled(2);
    await harness.bot().stop("SIGKILL");
    harness.explorer.ledger.decideVoteRequest(cancel, "Accepted");
    const at = Number(/pause on <t:(\d+):f>/.exec(textOf(scheduled))?.[1]) * 1_000;
    harness.pass(at - 2 * HOUR - DAY + MINUTE - harness.now());
    harness.explorer.injectFault({ kind: "slow", ms: 4_000 }, { path: /vote-requests$/ });
    await harness.start();
    await untilTold(/Network upgrade of .* cancelled/);
    harness.explorer.clearFaults();
    expect(count(/in 1 day/)).toBe(0);
    await harness.discord.world.until(
      () => told().filter(({ content }) => content.includes("cancelled")).length === 2,
      "the edit of the first message",
    );
    expect(textOf(await ask("/subscribe list"))).toContain("No upgrade of the network is scheduled");
  });

  it("are reminded of, once each, also if the bot is killed, until the rounds advance", async () => {
    const { driver, people, channels } = harness.discord;
    const { validators } = harness.explorer.ledger;
    // Most run 0.4.16. Reports change the order of the list.
    const late = validators.find(({ active, version }) => active && version !== "0.4.16");
    const ana = { user: people.ana, channel: channels.general };
    await driver.ask(ana, "/watch validator", { validator: late?.party.id ?? "" });
    const everyone = harness.discord.guild.roles[0];
    if (everyone) everyone.permissions = String(BigInt(everyone.permissions) | PERMISSION.createEvents);
    const governed = await ask("/subscribe governance", { channel: both.id, calendar: true });
    expect(textOf(governed)).toContain("server events");
    const warnings = () =>
      harness.discord.world
        .read(harness.discord.world.directChannel(people.ana))
        .filter((message) => /Network upgrade in .* still runs/.test(textOf(message))).length;
    await accept("upgrade");
    await harness.discord.world.until(() => count(/Network upgrade scheduled/) === 2, "the second upgrade");
    const at = Number(/pause on <t:(\d+):f>/.exec(textOf(told().at(-1) ?? { content: "", embeds: [] }))?.[1]);
    const calendar = () =>
      (harness.discord.world.scheduledEvents.get(harness.discord.guild.id) ?? []).filter(({ name }) =>
        name.startsWith("🛠️ Network upgrade"),
      );
    await harness.discord.world.until(() => calendar().length === 1, "the calendar event");
    expect(Date.parse(calendar()[0]?.scheduled_start_time ?? "")).toBe(at * 1_000);
    const until = (ms: number) => harness.pass(at * 1_000 - ms - harness.now());
    until(2 * DAY - MINUTE);
    await harness.discord.world.until(() => warnings() === 1, "the first private warning");
    until(2 * HOUR + DAY - MINUTE);
    await untilTold(/freeze in 1 day \(no new parties or packages\); transactions pause on/);
    await harness.bot().stop("SIGKILL");
    until(3 * HOUR - MINUTE);
    await harness.start();
    await untilTold(/freeze in 1 h \(no new parties or packages\); transactions pause on/);
    await harness.discord.world.until(() => warnings() === 2, "the second private warning");
    harness.explorer.ledger.rounds = false;
    until(-MINUTE);
    await untilTold(/transactions pause about now/);
    const due = new RegExp(`due (to pause )?on <t:${at}:f>`);
    for (const command of ["/network", "/subscribe list"]) expect(textOf(await ask(command))).toMatch(due);
    await polled(3);
    expect(count(/Rounds are advancing again/)).toBe(0);
    harness.explorer.ledger.rounds = true;
    await pass(12 * MINUTE, 4 * MINUTE);
    await untilTold(/Rounds are advancing again after the scheduled network upgrade/);
    await untilTold(/rounds don't show whether the upgrade took place/);
    for (const each of [/in 1 day/, /in 1 h/, /about now/, /Rounds are advancing again/])
      expect(count(each)).toBe(1);
    expect(warnings()).toBe(2);
    expect(calendar()).toHaveLength(1);
    expect(refusals()).toEqual([]);
  });

  it("are no longer what a person was warned of if they are moved or cancelled", async () => {
    const { people, world } = harness.discord;
    const inPrivate = () => world.read(world.directChannel(people.ana)).map(textOf);
    const timesOf = (pattern: RegExp) => inPrivate().filter((text) => pattern.test(text)).length;
    const warning = /Network upgrade in .* still runs/;
    const untilWarned = (times: number) => world.until(() => timesOf(warning) === times, `warning ${times}`);
    const until = (ms: number) => {
      const { upgradeTime = "" } =
        harness.explorer.ledger.upgrade.nextScheduledLogicalSynchronizerUpgrade ?? {};
      return harness.pass(Date.parse(upgradeTime) - ms - harness.now());
    };
    const before = timesOf(warning);
    await accept("upgrade");
    await until(2 * DAY - MINUTE);
    await untilWarned(before + 1);
    await accept("upgrade");
    await world.until(() => timesOf(/Network upgrade moved: .* You'll be warned again/s) === 1, "the move");
    await until(2 * DAY - MINUTE);
    await untilWarned(before + 2);
    await accept("cancelUpgrade");
    await world.until(
      () => timesOf(/Network upgrade of .* cancelled.* was behind before it/s) === 1,
      "the end",
    );
    await polled(3);
    expect(timesOf(/Network upgrade moved|Network upgrade of/)).toBe(2);
  });

  it("are followed by news of a standstill, told once in each channel, and of its end", async () => {
    await ask("/subscribe upgrades", { channel: both.id });
    // A role that the feed of validators does not ping.
    const { world, guild } = harness.discord;
    const role = world.addRole(guild, "Standby", 0n, { mentionable: true });
    const standby = world.addChannel({ type: 0, guild_id: guild.id, name: "standby" });
    await ask("/subscribe upgrades", { channel: standby.id, role: role.id });
    // Discord accepts no message in this channel until the standstill is over.
    const late = world.addChannel({ type: 0, guild_id: guild.id, name: "late" });
    await ask("/subscribe upgrades", { channel: late.id, role: role.id });
    const trap = {
      method: "POST",
      path: new RegExp(`${late.id}/messages`),
      times: 10_000,
      error: new DiscordError(500, 0, "Internal error"),
    };
    harness.discord.trap(trap);
    const [watched] = harness.explorer.ledger.validators;
    await ask("/subscribe validator", { channel: standby.id, validator: watched?.party.id ?? "" });
    await pass(15 * MINUTE);
    // The rounds stood still around the upgrade, too.
    await polled(4);
    const places = [channel, both];
    const counts = (pattern: RegExp) => places.map((where) => count(pattern, where));
    const untilOneMore = (pattern: RegExp, before: readonly number[]) =>
      harness.discord.world.until(
        () => counts(pattern).every((each, at) => each > (before[at] ?? 0)),
        `one more ${pattern} in both`,
      );
    const [still, moving] = [/The network stands still/, /The network moves again/];
    const before = { still: counts(still), moving: counts(moving) };
    harness.explorer.ledger.rounds = false;
    // Longer than three rounds, however long the bot believes that a round takes: on a slow machine, it misses some.
    const isTold = () => counts(still).every((each, at) => each > (before.still[at] ?? 0));
    for (let hours = 0; hours < 2 || (hours < 12 && !isTold()); hours += 1) await pass(HOUR);
    await untilOneMore(still, before.still);
    await world.until(
      () =>
        world.read(standby).some(({ pings, content }) => still.test(content) && pings.includes("@Standby")),
      "a ping of the role",
    );
    const screens = ["/network", "/validator list"];
    const reads = async () => Promise.all(screens.map(async (each) => textOf(await ask(each))));
    for (const screen of await reads()) {
      expect(screen).toContain("The network stands still:");
      expect(screen).not.toContain("The explorer is behind");
    }
    harness.explorer.ledger.rounds = true;
    await pass(15 * MINUTE, 5 * MINUTE);
    await untilOneMore(moving, before.moving);
    for (const screen of await reads())
      expect(screen).toMatch(/The network moves again.*Validators have until/);
    await harness.discord.world.until(
      () => told().some(({ content }) => content.includes("stood still for about")),
      "the edit",
    );
    expect(counts(moving)).toEqual(before.moving.map((each) => each + 1));
    trap.times = 0;
    await pass(30 * MINUTE);
    const summary = await untilTold(/The network stood still for about/, late);
    expect(summary.pings).toEqual([]);
    await polled(4);
    expect(count(moving, late)).toBe(0);
    const { refusals: all } = world;
    all.splice(0, all.length, ...all.filter(({ path }) => !path.includes(late.id)));
    await ask("/subscribe remove", { channel: late.id });
    expect(count(moving)).toBe(1);
    expect(refusals()).toEqual([]);
  });

  it("are forgotten without subscribers", async () => {
    const standby = [...harness.discord.world.channels.values()].find(({ name }) => name === "standby");
    for (const where of [channel, both, standby])
      await ask("/subscribe remove", { channel: where?.id ?? "", feed: "upgrades" });
    await ask("/subscribe remove", { channel: standby?.id ?? "" });
    const { driver, people, channels } = harness.discord;
    const here = { user: people.owner, channel: channels.general };
    const choices = async () =>
      (await driver.complete(here, "/subscribe remove", "subject", { channel: both.id, subject: "" })).map(
        ({ value }) => String(value),
      );
    const dashboards = () =>
      harness.explorer.requests.filter(({ path }) => path.includes("dashboard")).length;
    await driver.ask({ user: people.ana, channel: channels.general }, "/watch forget");
    for (const choice of await choices())
      await ask("/subscribe remove", { channel: both.id, subject: choice });
    await polled(3);
    const before = dashboards();
    await pass(15 * MINUTE);
    expect(dashboards()).toBe(before);
  });
});

/** Creates a bot with an explorer that has no vote requests yet, and is polled every second. */
const makeEmptyStack = (more: Record<string, string> = {}) =>
  makeStack({
    explorer: { lively: false, size: { ...SMALL, voteRequests: 0 } },
    jobsPerSecond: 5,
    env: () => ({
      WATCH_POLL_SECONDS: "1",
      GOVERNANCE_POLL_SECONDS: "1",
      EXPLORER_REQUESTS_PER_MINUTE: "100000",
      ...more,
    }),
  });

it("does not announce upgrades that were accepted before the bot's first start, although their details take several polls", async () => {
  const harness = await makeEmptyStack();
  const { ledger } = harness.explorer;
  for (let each = 0; each < 2; each += 1)
    ledger.decideVoteRequest(ledger.openVoteRequest({ motion: "upgrade", effectiveInMs: null }), "Accepted");
  for (let each = 0; each < 20; each += 1)
    ledger.decideVoteRequest(ledger.openVoteRequest({ motion: "config", effectiveInMs: null }), "Accepted");
  const { world, guild, driver, people, channels } = harness.discord;
  const channel = world.addChannel({ type: 0, guild_id: guild.id, name: "upgrades" });
  harness.explorer.injectFault({ kind: "slow", ms: 300 }, { path: /details$/ });
  await harness.start();
  const ask = (command: string, given: Record<string, string> = {}) =>
    driver.ask({ user: people.owner, channel: channels.general }, command, given);
  await ask("/subscribe upgrades", { channel: channel.id });
  const isKnown = async () => textOf(await ask("/subscribe list")).includes("Next upgrade");
  await expect.poll(isKnown).toBe(true);
  // Every detail has been read by then, five at each poll.
  const details = () => harness.explorer.requests.filter(({ path }) => path.endsWith("/details")).length;
  await expect.poll(details).toBeGreaterThanOrEqual(22);
  const told = () => world.read(channel).map(({ content }) => content.replace(/:.*/, ""));
  const request = ledger.openVoteRequest({ motion: "upgrade", effectiveInMs: null });
  await expect.poll(details).toBeGreaterThan(22);
  ledger.decideVoteRequest(request, "Accepted");
  await expect.poll(told).toContain("🛠️ Network upgrade moved");
  expect(told()).toEqual(["🛠️ Network upgrade moved"]);
  await harness.close();
});

it("reads details again that could not be read, and announces only what was decided since the first reading", async () => {
  const harness = await makeEmptyStack();
  const { world, guild, driver, people, channels } = harness.discord;
  const { ledger, requests } = harness.explorer;
  ledger.decideVoteRequest(ledger.openVoteRequest({ motion: "upgrade", effectiveInMs: null }), "Accepted");
  const channel = world.addChannel({ type: 0, guild_id: guild.id, name: "upgrades" });
  const told = () => world.read(channel).map(({ content }) => content.replace(/:.*/, ""));
  const ask = (command: string, given: Record<string, string> = {}) =>
    driver.ask({ user: people.owner, channel: channels.general }, command, given);
  const isKnown = async () => textOf(await ask("/subscribe list")).includes("Next upgrade");
  const tries = () => requests.filter(({ path }) => path.endsWith("/details")).length;
  const untilTried = async () => {
    const before = tries();
    await expect.poll(tries).toBeGreaterThan(before);
  };
  harness.explorer.injectFault({ kind: "body", body: "{}", type: "application/json" }, { path: /details$/ });
  await harness.start();
  await ask("/subscribe upgrades", { channel: channel.id });
  await untilTried();
  harness.explorer.clearFaults();
  await harness.pass(2 * MINUTE);
  await expect.poll(isKnown).toBe(true);
  expect(told()).toEqual([]);
  harness.explorer.injectFault({ kind: "body", body: "{}", type: "application/json" }, { path: /details$/ });
  const request = ledger.openVoteRequest({ motion: "upgrade", effectiveInMs: null });
  await untilTried();
  ledger.decideVoteRequest(request, "Accepted");
  harness.explorer.clearFaults();
  await harness.pass(2 * MINUTE);
  await expect.poll(told).toEqual(["🛠️ Network upgrade moved"]);
  await harness.close();
});

it("is not cancelled by a list that lacks an earlier vote about it", async () => {
  const harness = await makeEmptyStack({ SANDBOX_HURRY: "20" });
  const { world, guild, driver, people, channels } = harness.discord;
  const { explorer } = harness;
  const { ledger } = explorer;
  const channel = world.addChannel({ type: 0, guild_id: guild.id, name: "upgrades" });
  const told = () => world.read(channel).map(({ notified }) => notified.replace(/:.*/, ""));
  const reads = (path: string) => explorer.requests.filter((each) => each.path.endsWith(path)).length;
  const untilRead = async (path = "/vote-requests") => {
    const before = reads(path);
    await expect.poll(() => reads(path)).toBeGreaterThan(before + 2);
  };
  await harness.start();
  await driver.ask({ user: people.owner, channel: channels.general }, "/subscribe upgrades", {
    channel: channel.id,
  });
  await untilRead();
  const accept = async (before: UpgradeSetting, after: UpgradeSetting) => {
    const { actionConfig, title = "" } = upgradeMotion(before, after);
    const request = ledger.openVoteRequest({ title, actionConfig, effectiveInMs: null });
    await untilRead();
    ledger.decideVoteRequest(request, "Accepted");
    return request;
  };
  const setting = upgradeSetting(Math.ceil((harness.now() + 14 * DAY) / HOUR) * HOUR);
  const first = await accept({}, setting);
  await expect.poll(told).toEqual(["🛠️ Network upgrade scheduled"]);
  const { nextScheduledLogicalSynchronizerUpgrade: next } = setting;
  const topologyFreezeTime = new Date(Date.parse(next.upgradeTime) - 5 * HOUR).toISOString();
  await accept(setting, { nextScheduledLogicalSynchronizerUpgrade: { ...next, topologyFreezeTime } });
  await expect.poll(told).toHaveLength(2);
  explorer.injectFault(
    { kind: "status", status: 500 },
    { path: new RegExp(`${first.firstContractId}/details$`) },
  );
  const isOther = (row: unknown) => !JSON.stringify(row).includes(first.firstContractId);
  explorer.mood = (answer, path) => {
    const page = toRecord(answer);
    return path.endsWith("/vote-requests") && Array.isArray(page?.content)
      ? { ...page, content: page.content.filter(isOther) }
      : answer;
  };
  await harness.restart();
  // The names are read from the list, too.
  const here = { user: people.owner, channel: channels.general };
  const offered = async () => {
    await harness.pass(5 * MINUTE);
    await untilRead();
    return (await driver.complete(here, "/proposals show", "proposal", { proposal: "upgrade" })).length;
  };
  await expect.poll(offered).toBe(1);
  await offered();
  expect(told()).toHaveLength(2);
  await harness.close();
});
