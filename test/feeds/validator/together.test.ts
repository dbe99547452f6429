import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Channel, Message } from "../../../sandbox/discord/world.js";
import { eventId, loudnessOf, subjectOf, type ValidatorEvent } from "../../../src/feeds/validator/events.js";
import { isShared, sharedView, together } from "../../../src/feeds/validator/together.js";
import { DAY, HOUR } from "../../../src/util/units.js";
import { type Harness, startHarness, textOf } from "../../harness.js";

const NOW = Date.UTC(2026, 10, 23, 12);
const PARTIES = ["Birch", "Cedar", "Dune", "Elm", "Fjord"];
const [first = ""] = PARTIES;

const gone = (validator: string, isCalm = false): ValidatorEvent => ({
  kind: "gone",
  channelId: "1",
  validator,
  since: NOW - DAY,
  isCalm,
});
const listed = (validator: string): ValidatorEvent => ({
  kind: "listed",
  channelId: "1",
  validator,
  since: NOW - DAY,
});
const old = (validator: string, target = "0.5.0"): ValidatorEvent => ({
  kind: "version",
  channelId: "1",
  validator,
  target,
  running: "0.4.9",
});
const upgrade = (validator: string): ValidatorEvent => ({
  kind: "upgrade",
  channelId: "1",
  validator,
  upgradeAt: NOW + 2 * DAY,
  days: 2,
  target: "0.5.0",
  running: "0.4.9",
});
const rescheduled =
  (upgradeAt: number | undefined) =>
  (validator: string): ValidatorEvent => ({
    kind: "rescheduled",
    channelId: "1",
    validator,
    warnedOf: NOW + DAY,
    decidedAt: NOW - HOUR,
    upgradeAt,
  });
const merge = (events: readonly ValidatorEvent[]) => together(events, () => false, NOW);

it.each<[news: string, of: (validator: string) => ValidatorEvent, headline: string, line: string]>([
  [
    "that they are gone",
    gone,
    "⚪ No longer listed: Birch, Cedar, Dune and 2 more",
    "until they're listed again",
  ],
  ["that they are back", listed, "🟢 Listed again: Birch, Cedar, Dune and 2 more", "alerts about them again"],
  [
    "of old versions",
    old,
    "⚠️ Old versions: Birch, Cedar, Dune and 2 more. Most run 0.5.0",
    "behind for a day, and run 0.4.9",
  ],
  [
    "before an upgrade",
    upgrade,
    "⚠️ Network upgrade in 2 days: Birch, Cedar, Dune and 2 more still run old versions",
    "They run 0.4.9.",
  ],
  [
    "that the upgrade is moved",
    rescheduled(NOW + 3 * DAY),
    "🛠️ Network upgrade moved: transactions pause on 26 November at 12:00 UTC, not on 24 November at 12:00 UTC",
    "that Birch, Cedar, Dune and 2 more were behind before it. You'll be warned again if they still are.",
  ],
  [
    "that the upgrade is cancelled",
    rescheduled(undefined),
    "⚪ Network upgrade of 24 November cancelled",
    "that Birch, Cedar, Dune and 2 more were behind before it. It was scheduled for",
  ],
])("the same news about five validators is one message: %s", (_, of, headline, line) => {
  const [event, ...others] = merge(PARTIES.map((each) => of(each)));
  expect(others).toEqual([]);
  if (!event || !isShared(event)) throw new Error("It is not shared");
  expect(event).toMatchObject({ validator: first, members: PARTIES });
  expect(subjectOf(event)).toBeUndefined();
  const known = {
    called: (party: string) => party,
    activity: undefined,
    interval: undefined,
    response: undefined,
  };
  const { notification, body = [], menus = [] } = sharedView(event, { ...known, now: NOW }, "mark");
  expect(String(notification)).toBe(headline);
  expect(body.join("\n")).toContain(line);
  expect(body.join("\n")).toContain("All 5: Birch, Cedar, Dune, Elm, Fjord");
  // The explorer has no details of validators that it no longer lists.
  const expected = event.kind === "gone" ? undefined : PARTIES;
  expect(menus[0]?.choices.map(({ label }) => label)).toEqual(expected);
});

it.each<[what: string, events: readonly ValidatorEvent[]]>([
  ["four", PARTIES.slice(1).map((each) => gone(each))],
  ["different news", [...PARTIES.slice(1).map((each) => gone(each)), listed(first)]],
  ["different versions", [...PARTIES.slice(1).map((each) => old(each)), old(first, "0.6.0")]],
  ["different channels", [...PARTIES.slice(1).map((each) => gone(each)), { ...gone(first), channelId: "2" }]],
])("news about %s stay apart", (_, events) => {
  expect(merge(events)).toEqual(events);
});

it("shared news about taken alerts does not ping, and stays apart from other news", () => {
  const loudness = (events: readonly ValidatorEvent[]) => merge(events).map((event) => loudnessOf(event, []));
  const others = ["Oak", "Pine", "Quartz", "Reed", "Slate"];
  const both = [...PARTIES.map((each) => gone(each)), ...others.map((each) => gone(each, true))];
  const [loud, calm, ...rest] = loudness(both);
  expect([loud, calm === "ping", rest]).toEqual(["ping", false, []]);
  const four = PARTIES.map((each) => gone(each, each !== first));
  expect(loudness(four).filter((each) => each === "ping")).toHaveLength(1);
  expect(loudness(four)).toHaveLength(5);
});

it("shared news reaches those who follow all super validators, and its ids differ", () => {
  const others = { ...gone("Oak"), channelId: "2" };
  const events = together(
    [...PARTIES.map((each) => gone(each)), ...PARTIES.map(listed), others],
    (channelId, validator) => channelId === "1" && validator === first,
    NOW,
  );
  expect(events.map((event) => isShared(event) && event.isOfAll)).toEqual([true, true, false]);
  expect(new Set(events.map(eventId)).size).toBe(3);
});

describe("the same news about five validators reaches", () => {
  let harness: Harness;
  const world = () => harness.discord.world;
  const place = () => ({ user: harness.discord.people.owner, channel: harness.discord.channels.general });
  const ask = (command: string, given: Record<string, string | boolean>) =>
    harness.discord.driver.ask(place(), command, given);
  const channelNamed = (name: string) =>
    world().addChannel({ type: 0, guild_id: harness.discord.guild.id, name });
  const report = () => {
    const { ledger } = harness.explorer;
    for (const each of [...ledger.validators]) ledger.setValidatorActive(each, true);
  };
  const polls = async (count: number) => {
    const read = () => harness.explorer.requests.filter(({ path }) => path.endsWith("/validators")).length;
    const before = read();
    await world().until(() => read() >= before + count, `${count} readings`);
  };
  const pass = (ms: number) => {
    harness.pass(ms);
    report();
  };
  const until = (channel: Channel, pattern: RegExp): Promise<Message> =>
    world().until(
      () =>
        world()
          .read(channel)
          .find((each) => pattern.test(textOf(each))),
      String(pattern),
    );

  beforeAll(async () => {
    harness = await startHarness({ env: () => ({ WATCH_POLL_SECONDS: "1" }) });
    report();
  });
  afterAll(() => harness.close());

  it("a channel once, with the roles of its subscriptions, and a person once", async () => {
    const { validators } = harness.explorer.ledger;
    const five = validators.filter(({ isSv, party }) => !isSv && party.name).slice(0, 5);
    const channel = channelNamed("five");
    const [one, other] = ["One", "Other"].map(
      (name) => world().addRole(harness.discord.guild, name, 0n, { mentionable: true }).id,
    );
    for (const [at, { party }] of five.entries()) {
      const role = (at === 0 ? one : other) ?? "";
      await ask("/subscribe validator", { validator: party.id, channel: channel.id, role });
      await ask("/watch validator", { validator: party.id });
    }
    const direct = world().directChannel(harness.discord.people.owner);
    await polls(2);
    for (const each of five) validators.splice(validators.indexOf(each), 1);
    await polls(3);
    pass(25 * HOUR);
    const gone = await until(channel, /No longer listed/);
    expect(gone.pings?.toSorted()).toEqual(["@One", "@Other"]);
    for (const { party } of five) expect(textOf(gone)).toContain(party.name);
    expect(textOf(await until(direct, /No longer listed/))).toContain("and 2 more");
    for (const each of five) validators.push(each);
    report();
    expect((await until(channel, /Listed again/)).pings).toEqual([]);
    await until(direct, /Listed again/);
    await polls(2);
    const told = (each: Channel) =>
      world()
        .read(each)
        .filter(({ content }) => /isted/.test(content)).length;
    expect([told(channel), told(direct)]).toEqual([2, 2]);
    expect(world().refusals).toEqual([]);
  });

  it("a channel that watches all super validators once", async () => {
    const channel = channelNamed("all");
    await ask("/subscribe validator", { validator: "all super validators", channel: channel.id });
    await polls(2);
    const { validators } = harness.explorer.ledger;
    const old = new Set(validators.filter(({ isSv }) => isSv).slice(0, 6));
    for (const each of validators) each.version = old.has(each) ? "0.4.1" : "0.9.9";
    await harness.restart();
    await polls(3);
    pass(25 * HOUR);
    const version = await until(channel, /Old version/);
    expect(version.content).toMatch(/^⚠️ Old versions: .* and [123] more\. Most run 0\.9\.9$/);
    expect(version.pings).toEqual([]);
    await polls(2);
    expect(world().read(channel)).toHaveLength(1);
  });
});
