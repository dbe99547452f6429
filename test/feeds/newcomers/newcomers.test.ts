import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Channel } from "../../../sandbox/discord/world.js";
import { type Harness, startHarness, textOf } from "../../harness.js";

describe("new validators", () => {
  let harness: Harness;
  let channel: Channel;
  let later: Channel;
  let role: string;
  const { ask, told, joined, polled } = {
    ask: (command: string, given: Record<string, string | boolean> = {}) => {
      const { driver, people, channels } = harness.discord;
      return driver.ask({ user: people.owner, channel: channels.general }, command, given);
    },
    told: (where: Channel) => harness.discord.world.read(where),
    joined: (...names: string[]) => names.map((name) => harness.explorer.ledger.joinValidator(name)),
    polled: async () => {
      const polls = () =>
        harness.explorer.requests.filter(({ path }) => path.endsWith("/validators/new")).length;
      const before = polls();
      await harness.discord.world.until(() => polls() > before + 1, "two readings");
    },
  };
  const untilTold = (where: Channel, pattern: RegExp) =>
    harness.discord.world.until(
      () => told(where).find((message) => pattern.test(textOf(message))),
      `${pattern} in #${where.name}`,
    );

  beforeAll(async () => {
    harness = await startHarness({
      env: () => ({ WATCH_POLL_SECONDS: "1", GOVERNANCE_POLL_SECONDS: "1" }),
    });
    const { world, guild } = harness.discord;
    channel = world.addChannel({ type: 0, guild_id: guild.id, name: "newcomers" });
    later = world.addChannel({ type: 0, guild_id: guild.id, name: "later" });
    role = world.addRole(guild, "Operators", 0n, { mentionable: true }).id;
  });
  afterAll(() => harness.close());

  it("are not read without subscribers, and the first reading is a silent baseline", async () => {
    await harness.discord.world.until(
      () => harness.explorer.requests.filter(({ path }) => path.endsWith("/vote-requests")).length > 3,
      "some polls",
    );
    expect(harness.explorer.requests.some(({ path }) => path.endsWith("/validators/new"))).toBe(false);
    const answer = await ask("/subscribe newcomers", { channel: channel.id, role });
    expect(textOf(answer)).toMatch(/Subscribed.*new validators.*already on the network aren't announced/);
    await polled();
    expect(told(channel)).toEqual([]);
  });

  it("are announced once, with the role's ping, alone or together", async () => {
    joined("Delta Labs");
    const one = await untilTold(channel, /Validator joined: Delta Labs/);
    expect(one.content).toBe(`<@&${role}> 🆕 Validator joined: Delta Labs`);
    expect(one.pings).toEqual(["@Operators"]);
    joined("Iris Custody", "Onyx Trust", "Quartz Pay", "Cedar Node");
    const several = await untilTold(channel, /4 validators joined/);
    expect(several.content).toMatch(/4 validators joined: .+, .+, .+ and 1 more$/);
    expect(textOf(several)).not.toMatch(/sponsor/);
    await polled();
    expect(told(channel)).toHaveLength(2);
    expect(harness.discord.world.refusals).toEqual([]);
  });

  it("are crossposted if the subscription asks for it", async () => {
    const { world, guild } = harness.discord;
    const news = world.addChannel({ type: 5, guild_id: guild.id, name: "news" });
    await ask("/subscribe newcomers", { channel: news.id, publish: true });
    joined("Published Node");
    await untilTold(news, /Validator joined: Published Node/);
    await world.until(() => told(news)[0]?.flags === 1, "the crosspost");
    await ask("/subscribe remove", { channel: news.id });
  });

  it("can be opened from the menu, and found by autocomplete", async () => {
    const { driver, people, channels } = harness.discord;
    const several = await untilTold(channel, /4 validators joined/);
    const ana = { user: people.ana, channel };
    expect(textOf(await driver.choose(ana, several, "Iris Custody"))).toContain("Iris Custody");
    expect(textOf(await driver.click(ana, several, "Newest validators"))).toContain("Delta Labs");
    const place = { user: people.ana, channel: channels.general };
    const offered = await driver.complete(place, "/validator show", "validator", { validator: "onyx tr" });
    expect(offered[0]?.name).toContain("Onyx Trust");
  });

  it("are announced once even if the bot is killed, and never for an empty or failed reading", async () => {
    await harness.bot().stop("SIGKILL");
    joined("While Away");
    await harness.start();
    await untilTold(channel, /Validator joined: While Away/);
    harness.explorer.mood = (answer, path) => (path.endsWith("/validators/new") ? [] : answer);
    await polled();
    harness.explorer.mood = undefined;
    harness.explorer.injectFault({ kind: "status", status: 500 }, { path: /validators\/new/, times: 3 });
    await polled();
    expect(told(channel)).toHaveLength(4);
  });

  it("are not announced to channels that subscribe later", async () => {
    await polled();
    await ask("/subscribe remove", { channel: channel.id });
    const removedAt = harness.explorer.requests.length;
    const votesSinceReading = () => {
      const paths = harness.explorer.requests.map(({ path }) => path).slice(removedAt);
      const last = paths.findLastIndex((path) => path.endsWith("/validators/new"));
      return paths.slice(last + 1).filter((path) => path.endsWith("/vote-requests")).length;
    };
    // Without subscribers, the feed reads no validators.
    await harness.discord.world.until(() => votesSinceReading() > 5, "some polls without a reading");
    joined("Unseen");
    await ask("/subscribe newcomers", { channel: later.id });
    await polled();
    joined("Seen");
    await untilTold(later, /Validator joined: Seen/);
    expect(told(later)).toHaveLength(1);
    expect(told(channel)).toHaveLength(4);
  });

  it("have a subscription that can be listed, tested and edited, with only its own options", async () => {
    expect(textOf(await ask("/subscribe list"))).toMatch(/newcomers.*new validators.*last checked/);
    expect(textOf(await ask("/subscribe test", { channel: later.id }))).toContain(
      "A test announcement is on its way",
    );
    expect(textOf(await untilTold(later, /🧪 TEST/))).toContain("Nothing has happened");
    expect(textOf(await ask("/subscribe edit", { channel: later.id, thread: true }))).toContain(
      "`thread` doesn't apply to newcomers",
    );
    expect(textOf(await ask("/subscribe edit", { channel: later.id, role }))).toContain(
      "Subscription changed",
    );
  });

  it("are all announced if more join at once than the explorer lists", async () => {
    const before = told(later).length;
    joined(...Array.from({ length: 120 }, (_, at) => `Wave ${at + 1}`));
    const wave = await untilTold(later, /Wave/);
    expect(wave.content).toMatch(/120 validators joined: .+ and 117 more$/);
    joined("After The Wave");
    await untilTold(later, /Validator joined: After The Wave/);
    expect(told(later)).toHaveLength(before + 2);
  });
});
