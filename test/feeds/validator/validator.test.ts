import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DiscordError } from "../../../sandbox/discord/errors.js";
import type { Channel, Message, User } from "../../../sandbox/discord/world.js";
import type { Validator } from "../../../sandbox/explorer/model.js";
import { MAX_GAPS } from "../../../src/ledger/rhythm.js";
import { HOUR, MINUTE } from "../../../src/util/units.js";
import { type Harness, startHarness, textOf } from "../../harness.js";

const SILENT_SOUND = 4_096;

describe("a validator that a channel watches", () => {
  let harness: Harness;
  let channel: Channel;
  let role: string;
  let watched: Validator;
  const quiet = new Set<Validator>();
  const world = () => harness.discord.world;
  const nameOf = (validator: Validator) => validator.party.name ?? "";

  /** Advances the clock. All validators that are not in `quiet` report at the end. */
  const pass = (ms: number) => {
    harness.pass(ms);
    report();
  };
  const report = () => {
    const { ledger } = harness.explorer;
    for (const each of [...ledger.validators]) if (!quiet.has(each)) ledger.setValidatorActive(each, true);
  };
  const polls = async (count: number) => {
    const read = () => harness.explorer.requests.filter(({ path }) => path.endsWith("/validators")).length;
    const before = read();
    await world().until(() => read() >= before + count, `${count} readings`);
  };
  const told = () => world().read(channel);
  const until = (pattern: RegExp, after = 0): Promise<Message> =>
    world().until(
      () =>
        told()
          .slice(after)
          .find((message) => pattern.test(textOf(message))),
      String(pattern),
    );
  const ask = (command: string, given: Record<string, string | boolean> = {}, user?: User) =>
    harness.discord.driver.ask(
      { user: user ?? harness.discord.people.owner, channel: harness.discord.channels.general },
      command,
      given,
    );

  beforeAll(async () => {
    harness = await startHarness({ env: () => ({ WATCH_POLL_SECONDS: "1" }) });
    const { guild, people } = harness.discord;
    channel = world().addChannel({ type: 0, guild_id: guild.id, name: "ops" });
    role = world().addRole(guild, "Operators", 0n, { mentionable: true }).id;
    guild.members.get(people.ben.id)?.push(role);
    const { validators } = harness.explorer.ledger;
    watched = validators.find(({ isSv, party }) => !isSv && party.name) as Validator;
    report();
  });
  afterAll(() => harness.close());

  it("can be subscribed to by its id, and the answer shows its status", async () => {
    const answer = await ask("/subscribe validator", {
      validator: watched.party.id,
      channel: channel.id,
      role,
    });
    expect(textOf(answer)).toMatch(
      /Subscribed.*silence \(two missed reports\).*Last report.*most validators report about every 1\d min.*told after 2\d min without a report/,
    );
    const short = await ask("/subscribe validator", {
      validator: watched.party.id,
      channel: channel.id,
      after: "20m",
    });
    expect(textOf(short)).toMatch(
      /`20m` is too early for two missed reports: most validators report about every 1\d min\. You'll be told after 2\d min without a report/,
    );
    await ask("/subscribe validator", { validator: watched.party.id, channel: channel.id, after: "auto" });
    const bad = await ask("/subscribe validator", {
      validator: watched.party.id,
      channel: channel.id,
      after: "5m",
    });
    expect(bad.content).toMatch(/^5m is too short\. The minimum is 20m\. .*`20m` to `24h`/);
    expect(
      (await ask("/subscribe validator", { validator: `${watched.party.id.slice(0, -3)}000` })).content,
    ).toContain("Can't find a validator");
    await polls(2);
    expect(told()).toEqual([]);
  });

  it("is reported as silent once after two readings, with the role's ping in the content", async () => {
    quiet.add(watched);
    pass(50 * MINUTE);
    const card = await until(/no report for/);
    expect(card.content).toMatch(new RegExp(`^<@&${role}> 🔴 ${nameOf(watched)}: no report for \\d+ min$`));
    expect(card.pings).toEqual(["@Operators"]);
    expect(textOf(card)).toMatch(
      /Last report <t:\d+:f>.*Version .*reports? about every.*the explorer calls it/,
    );
    await polls(3);
    expect(told()).toHaveLength(1);
  });

  it("can be acknowledged by people with permission, and everyone sees their names", async () => {
    const { driver, people } = harness.discord;
    const [card] = told();
    if (!card) throw new Error("No card");
    const refused = await driver.click({ user: people.ana, channel }, card, "I'm on it");
    expect(refused.content).toContain(`Only people with <@&${role}>`);
    const presses = [people.ben, people.owner].map((user) =>
      driver.press({ user, channel }, card, "I'm on it"),
    );
    await Promise.all(presses.map((each) => driver.answered(each)));
    const who = /<@(\d+)> has been on it/.exec(textOf(card))?.[1];
    expect([people.ben.id, people.owner.id]).toContain(who);
    expect(textOf(card).match(/has been on it/g)).toHaveLength(1);
    expect(card.content).toMatch(new RegExp(`^<@&${role}> 🔴 ${nameOf(watched)}: no report for`));
    const button = () =>
      driver.components(card).find(({ label }) => / on it$| has it$/.test(label ?? ""))?.label;
    expect(button()).toMatch(/^(Ben|Olga) has it$/);
    await driver.click({ user: people.owner, channel }, card, button() ?? "");
    expect(button()).toBe("I'm on it");
    expect(textOf(card)).not.toContain("has been on it");
    await driver.click({ user: people.ben, channel }, card, "I'm on it");
    expect(button()).toBe("Ben has it");
    expect(told()).toHaveLength(1);
  });

  it("is reported again after six hours, without a ping if acknowledged, and silently when it is back", async () => {
    pass(6 * HOUR);
    const worse = await until(/Still silent/);
    expect(worse.pings).toEqual([]);
    expect(worse.flags & SILENT_SOUND).toBe(0);
    quiet.delete(watched);
    report();
    const back = await until(/Back: .*Seen again/);
    expect(back.flags & SILENT_SOUND).toBe(SILENT_SOUND);
    expect(back.pings).toEqual([]);
    const [card] = told();
    await world().until(() => (card as Message).content.includes("Back: "), "the card's edit");
    expect(harness.discord.driver.components(card as Message).map(({ label }) => label)).toEqual(["Details"]);
    expect(told()).toHaveLength(3);
  });

  it("is not reported as silent while the explorer is behind, and the channel gets one message about the hold", async () => {
    const before = told().length;
    harness.pass(50 * MINUTE);
    const hold = await until(/silence alerts are on hold/, before);
    expect(hold.content).toMatch(/^⏸ The explorer's newest data is 5\d min old; silence alerts are on hold$/);
    // A new subscriber is not told that it is silent.
    const answer = await ask("/subscribe validator", {
      validator: watched.party.id,
      channel: channel.id,
      role,
    });
    expect(textOf(answer)).toMatch(
      /The explorer is behind: its newest report is from <t:\d+:.*You'll be told after/,
    );
    expect(textOf(answer)).not.toContain("It's silent now");
    expect(hold.flags & SILENT_SOUND).toBe(SILENT_SOUND);
    await polls(3);
    report();
    await world().until(() => hold.content.includes("Silence alerts are on again"), "the end of the hold");
    await polls(2);
    expect(told()).toHaveLength(before + 1);
  });

  it("shares one message and one ping with others that go silent at the same time", async () => {
    const before = told().length;
    const { validators } = harness.explorer.ledger;
    for (const each of [watched, ...validators.slice(-8)]) quiet.add(each);
    pass(50 * MINUTE);
    const many = await until(/validators went silent/, before);
    expect(many.content).toMatch(/🔴 \d+ of 45 validators went silent at about \d\d:\d\d UTC, /);
    expect(many.content).toContain(`, including yours: ${nameOf(watched)}`);
    expect(many.pings).toEqual(["@Operators"]);
    const { driver, people } = harness.discord;
    await driver.click({ user: people.ben, channel }, many, "I'm on it");
    expect(textOf(many)).toContain(`<@${people.ben.id}> has been on it`);
    // Six hours later, one message lists the validators that are still silent, without another ping.
    pass(6 * HOUR);
    const still = await until(/Still silent: /, before);
    expect(textOf(still).split(nameOf(watched))).toHaveLength(2);
    expect(still.pings).toEqual([]);
    quiet.clear();
    report();
    await world().until(() => many.content.includes("Back: all of yours"), "its edit");
    expect(told()).toHaveLength(before + 2);
  });

  it("is not reported as silent because of an error, a missing row or a stale answer", async () => {
    const before = told().length;
    harness.explorer.injectFault({ kind: "status", status: 500 }, { path: /validators/, times: 4 });
    await polls(2);
    harness.explorer.mood = (answer, path) =>
      path.endsWith("/v1/validators")
        ? {
            content: (answer as { content: { validator: string }[] }).content.filter(
              ({ validator }) => validator !== watched.party.id,
            ),
            last: true,
          }
        : answer;
    pass(50 * MINUTE);
    harness.explorer.injectFault({ kind: "status", status: 404 }, { path: /validators\/.+::/, times: 20 });
    await polls(3);
    harness.explorer.mood = undefined;
    harness.explorer.clearFaults();
    expect(told()).toHaveLength(before);
  });

  it("is not reported as silent because the bot was frozen while reading", async () => {
    const before = told().length;
    let hasPassed = false;
    // The rows are created before the clock advances, and arrive afterwards.
    harness.explorer.mood = (answer, path) => {
      if (path === "/v1/validators" && !hasPassed) {
        hasPassed = true;
        pass(2 * HOUR);
      }
      return answer;
    };
    await world().until(() => hasPassed, "a reading");
    harness.explorer.mood = undefined;
    await polls(3);
    expect(told()).toHaveLength(before);
  });

  it("is not reported while snoozed, and reported again afterwards", async () => {
    // Without them, the silences of seven hours above might look like the validator's rhythm.
    for (let reports = 0; reports < MAX_GAPS; reports += 1) {
      pass(12 * MINUTE);
      await polls(1);
    }
    const before = told().length;
    quiet.add(watched);
    pass(50 * MINUTE);
    const card = await until(/no report for/, before);
    const { driver, people } = harness.discord;
    await driver.choose({ user: people.ben, channel }, card, "8 hours");
    expect(textOf(card)).toMatch(/Snoozed by <@\d+> until/);
    pass(6.5 * HOUR);
    await polls(3);
    expect(told()).toHaveLength(before + 1);
    pass(2 * HOUR);
    const again = await until(/Still silent/, before);
    expect(again.pings).toEqual(["@Operators"]);
    quiet.delete(watched);
    report();
    await until(/Seen again/, before);
  });

  it("is reported if its traffic is low, and a day after its version fell behind, without a ping", async () => {
    const before = told().length;
    // The next poll reads the traffic, and the one after that comes half an hour later.
    watched.trafficUsed = watched.trafficBought * 0.85;
    await ask("/subscribe edit", { channel: channel.id, traffic: true });
    const traffic = await until(/Low traffic/, before);
    expect(textOf(traffic)).toMatch(/less than 20% left \([\d.]+ MB of [\d.]+ MB\)/);
    for (const each of harness.explorer.ledger.validators)
      each.version = each === watched ? "0.4.1" : "0.9.9";
    // The versions of the other validators are read at the start and every half hour.
    await harness.restart();
    await polls(3);
    pass(25 * HOUR);
    const version = await until(/Old version/, before);
    expect(textOf(version)).toMatch(/runs .*0\.4\.1.* and most run .*0\.9\.9/);
    expect(version.pings).toEqual([]);
    await polls(2);
    expect(told()).toHaveLength(before + 2);
  });

  it("shows soon on the alert who has pressed I'm on it on a later message", async () => {
    const before = told().length;
    quiet.add(watched);
    pass(50 * MINUTE);
    const card = await until(/no report for/, before);
    pass(6 * HOUR);
    const worse = await until(/Still silent/, before);
    await world().until(() => card.content.includes("no report for 6 h"), "its edit");
    const { driver, people } = harness.discord;
    await driver.click({ user: people.ben, channel }, worse, "I'm on it");
    await world().until(() => textOf(card).includes(`<@${people.ben.id}> has been on it`), "who is on it");
    const silent = await ask("/subscribe validator", { validator: watched.party.id, channel: channel.id });
    expect(textOf(silent)).toContain("It's silent now. Its alert is open.");
    await ask("/subscribe validator", { validator: watched.party.id, channel: channel.id, role });
    quiet.delete(watched);
    report();
    await until(/Seen again/, before);
  });

  it("has its alert closed when it is no longer watched, and gets a new alert for a new subscription", async () => {
    const before = told().length;
    quiet.add(watched);
    pass(50 * MINUTE);
    const card = await until(/no report for/, before);
    // Another subscription of the channel keeps its messages.
    const other = harness.explorer.ledger.validators.find((each) => each !== watched && each.party.name);
    await ask("/subscribe validator", { validator: other?.party.id ?? "", channel: channel.id });
    await ask("/subscribe remove", { channel: channel.id, subject: watched.party.id });
    await world().until(
      () => card.content.includes(`Closed: no longer watched (${nameOf(watched)})`),
      "its last edit",
    );
    // Discord returns the earlier message if its nonce is only a few minutes old.
    pass(6 * MINUTE);
    await ask("/subscribe validator", { validator: watched.party.id, channel: channel.id, role });
    await until(/no report for/, before + 1);
    await ask("/subscribe remove", { channel: channel.id, subject: other?.party.id ?? "" });
    quiet.delete(watched);
    report();
    await until(/Seen again/, before);
  });

  it("has its alert marked as closed when the channel's only subscription is removed", async () => {
    const before = told().length;
    quiet.add(watched);
    pass(50 * MINUTE);
    const card = await until(/no report for/, before);
    await ask("/subscribe remove", { channel: channel.id });
    await world().until(
      () => card.content.includes(`Closed: no longer watched (${nameOf(watched)})`),
      "its last edit",
    );
    expect(card.components).toEqual([]);
    quiet.delete(watched);
    report();
    await ask("/subscribe validator", { validator: watched.party.id, channel: channel.id, role });
    await polls(2);
    expect(card.content).toContain(`Closed: no longer watched (${nameOf(watched)})`);
  });

  it("is told in one message, without a ping, if it's back before Discord takes the alert", async () => {
    const before = told().length;
    const path = new RegExp(`/channels/${channel.id}/messages$`);
    const outage = { method: "POST", path, times: 1_000, error: new DiscordError(500, 0, "Down") };
    harness.discord.trap(outage);
    quiet.add(watched);
    pass(50 * MINUTE);
    await world().until(() => outage.times < 1_000, "the refused alert");
    quiet.delete(watched);
    report();
    await polls(3);
    outage.times = 0;
    const late = await until(/🟢 Back: /, before);
    expect(late.content).toMatch(new RegExp(`^🟢 Back: ${nameOf(watched)}, after \\d+ min$`));
    expect(textOf(late)).toContain("Was silent from");
    await polls(3);
    expect(told()).toHaveLength(before + 1);
    // These are the test's own.
    expect(world().refusals.every(({ status }) => status === 500)).toBe(true);
    world().refusals.splice(0);
  });

  it("sends a drill that looks like a real alert, and does not change the state", async () => {
    const before = told().length;
    await ask("/subscribe test", { channel: channel.id });
    const drill = await until(/🧪 TEST/, before);
    expect(drill.content).toMatch(new RegExp(`^<@&${role}> 🧪 TEST: 🔴 ${nameOf(watched)}: no report for`));
    expect(drill.pings).toEqual(["@Operators"]);
    const pressed = await harness.discord.driver.click(
      { user: harness.discord.people.owner, channel },
      drill,
      "I'm on it",
    );
    expect(pressed.content).toContain("it was a test");
    expect(textOf(await ask("/subscribe list"))).toMatch(
      new RegExp(`validator.*${nameOf(watched)}.*Now: 🟢`),
    );
    expect(world().refusals).toEqual([]);
  });

  it("is no longer watched once the explorer does not list it, and is watched again once it does", async () => {
    const { validators } = harness.explorer.ledger;
    const listed = async () =>
      textOf(await ask("/subscribe list")).includes(`**${nameOf(watched)}**`) &&
      textOf(await ask("/subscribe list"));
    validators.splice(validators.indexOf(watched), 1);
    await polls(3);
    pass(40 * MINUTE);
    const gone = await until(/No longer listed/);
    expect(textOf(gone)).toContain("no alerts about it until it's listed again");
    const labels = harness.discord.driver.components(gone).map(({ label }) => label);
    expect(labels).toContain("All validators");
    expect(labels).not.toContain("Details");
    expect(await listed()).toContain("no longer listed since");
    validators.push(watched);
    report();
    const back = await until(/Listed again/);
    expect(back.pings).toEqual([]);
    expect(textOf(back)).toContain("You'll get alerts about it again");
    expect(await listed()).toContain("🟢 last report");
    const before = told().length;
    quiet.add(watched);
    pass(3 * HOUR);
    await until(/no report for/, before);
    quiet.delete(watched);
    report();
    await until(/Back: .*Seen again/, before);
    expect(told()).toHaveLength(before + 2);
  });
});
