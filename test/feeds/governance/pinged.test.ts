import { PermissionFlagsBits } from "discord-api-types/v10";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DiscordError } from "../../../sandbox/discord/errors.js";
import { PERMISSION } from "../../../sandbox/discord/permissions.js";
import type { Channel } from "../../../sandbox/discord/world.js";
import { DAY, HOUR } from "../../../src/util/units.js";
import { type Harness, startHarness, textOf } from "../../harness.js";

describe("a representative, in a server with two channels that ping", () => {
  let harness: Harness;
  let older: Channel;
  let newer: Channel;
  const world = () => harness.discord.world;
  const ask = (command: string, given: Record<string, string | boolean>) => {
    const { driver, people, channels } = harness.discord;
    return driver.ask({ user: people.owner, channel: channels.general }, command, given);
  };
  const seenIn = (where: Channel, pattern: RegExp) =>
    world()
      .read(where)
      .find((each) => pattern.test(textOf(each)));
  /** Maps the first super validator to somebody once the names are loaded. */
  const map = async (who: string) => {
    const [voter] = harness.explorer.ledger.superValidators;
    await world().until(
      async () =>
        textOf(await ask("/voters set", { sv: voter?.name ?? "", who })).includes("Representative set"),
      "a mapping",
    );
  };
  /** Opens a vote request, makes a change, and passes the time until its reminder. Returns what the older channel's pings. */
  const remind = async (change: () => void): Promise<readonly string[]> => {
    harness.explorer.ledger.openVoteRequest({
      title: "Watched",
      motion: "feature",
      lastsMs: 30 * HOUR,
      effectiveInMs: 20 * DAY,
    });
    for (const each of [older, newer])
      await world().until(() => seenIn(each, /New vote request.*Watched/), "the announcement");
    change();
    harness.pass(7 * HOUR);
    return (await world().until(() => seenIn(older, /left to vote: Watched/), "the reminder")).pings;
  };

  beforeEach(async () => {
    harness = await startHarness({ env: () => ({ GOVERNANCE_POLL_SECONDS: "1", SANDBOX_HURRY: "20" }) });
    const { guild } = harness.discord;
    older = world().addChannel({ type: 0, guild_id: guild.id, name: "older" });
    newer = world().addChannel({ type: 0, guild_id: guild.id, name: "newer" });
    for (const { id } of [older, newer])
      await ask("/subscribe governance", { channel: id, missing: "ping", before: "24h" });
  });
  afterEach(() => harness.close());

  it("is looked up once when they are set", async () => {
    const { requests, people, guild } = harness.discord;
    const role = world().addRole(guild, "Not mentionable", 0n);
    guild.members.get(world().bot.id)?.push(world().addRole(guild, "Pinging", PERMISSION.mentionEveryone).id);
    for (const who of [people.ana.id, role.id]) {
      await map(people.ben.id);
      const before = requests.length;
      await map(who);
      const reads = requests.slice(before).flatMap(({ method, path }) => (method === "GET" ? [path] : []));
      expect(reads).toEqual([...new Set(reads)]);
    }
  });

  it("is looked up in no newer channel if they see the older one", async () => {
    const { requests, people } = harness.discord;
    await map(people.ana.id);
    const before = requests.length;
    expect(await remind(() => {})).toEqual(["@ana"]);
    await world().until(() => seenIn(newer, /left to vote: Watched/), "the other reminder");
    const path = `/channels/${newer.id}`;
    const reads = requests.slice(before).filter((each) => each.method === "GET" && each.path.endsWith(path));
    expect(reads).toEqual([]);
  });

  it("is pinged although Discord can't tell what they see", async () => {
    const { ana } = harness.discord.people;
    await map(ana.id);
    const pings = await remind(() =>
      harness.discord.trap({
        method: "GET",
        times: 500,
        path: new RegExp(`/members/${ana.id}$`),
        error: new DiscordError(500, 0, "Internal Server Error"),
      }),
    );
    expect(pings).toEqual(["@ana"]);
  });

  it("is not left to a newer channel in which the bot can't post", async () => {
    const { ana } = harness.discord.people;
    const bits = PermissionFlagsBits;
    await map(ana.id);
    older.permission_overwrites.push({ id: ana.id, type: 1, allow: "0", deny: String(bits.ViewChannel) });
    const pings = await remind(() =>
      newer.permission_overwrites.push({
        id: world().bot.id,
        type: 1,
        allow: "0",
        deny: String(bits.SendMessages),
      }),
    );
    expect(pings).toEqual(["@ana"]);
  });

  it("is pinged in the older channel if it is a role, which may see more than its own permissions allow", async () => {
    const { guild, people } = harness.discord;
    const bits = PermissionFlagsBits;
    const staff = world().addRole(guild, "Staff", 0n);
    const team = world().addRole(guild, "Team", 0n, { mentionable: true });
    guild.members.set(people.ana.id, [team.id, staff.id]);
    const allowed = { allow: String(bits.ViewChannel), deny: "0" };
    older.permission_overwrites.push(
      { id: guild.id, type: 0, allow: "0", deny: String(bits.ViewChannel) },
      { id: staff.id, type: 0, ...allowed },
      { id: world().bot.id, type: 1, ...allowed },
    );
    await map(team.id);
    expect(await remind(() => {})).toEqual(["@Team"]);
    expect(textOf(await ask("/voters list", {}))).not.toContain("can't see");
  });
});
