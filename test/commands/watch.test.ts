import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DiscordError } from "../../sandbox/discord/errors.js";
import type { Message, User } from "../../sandbox/discord/world.js";
import { HOUR } from "../../src/util/units.js";
import { type Harness, startHarness, textOf } from "../harness.js";

/** Longer than two of any interval of the reports that the bot may know at the time, in ms. */
const LONG_SILENCE = 5 * HOUR;

describe("/watch", () => {
  let harness: Harness;
  const world = () => harness.discord.world;
  const people = () => harness.discord.people;
  const ledger = () => harness.explorer.ledger;
  const general = () => harness.discord.channels.general;
  const ask = (command: string, given: Record<string, string | boolean> = {}, user: User = people().ana) =>
    harness.discord.driver.ask({ user, channel: general() }, command, given);
  const inPrivate = (user: User = people().ana) => world().read(world().directChannel(user));
  const until = (pattern: RegExp, after = 0, user: User = people().ana): Promise<Message> =>
    world().until(
      () =>
        inPrivate(user)
          .slice(after)
          .find((message) => pattern.test(textOf(message))),
      String(pattern),
    );
  const report = (...except: unknown[]) => {
    for (const each of [...ledger().validators])
      if (!except.includes(each)) ledger().setValidatorActive(each, true);
  };
  const readings = async (path: string, count: number) => {
    const read = () => harness.explorer.requests.filter((each) => each.path.endsWith(path)).length;
    const before = read();
    await world().until(() => read() >= before + count, `${count} readings of ${path}`);
  };
  const watched = () => ledger().validators.find(({ isSv, party }) => !isSv && party.name);

  beforeAll(async () => {
    harness = await startHarness({ env: () => ({ WATCH_POLL_SECONDS: "1", GOVERNANCE_POLL_SECONDS: "1" }) });
    report();
  });
  afterAll(() => harness.close());

  it("sends a direct message when a watch is created, and says which alerts will follow", async () => {
    const answer = await ask("/watch validator", { validator: watched()?.party.id ?? "", after: "1h" });
    expect(answer.visibleTo).toBe(people().ana.id);
    expect(textOf(answer)).toMatch(/Watching.*silence of more than 1h, an old version.*I've sent you a DM/);
    const [first] = inPrivate();
    expect(textOf(first as Message)).toMatch(/Your alerts will arrive here.*silence of more than 1h/);
    expect(textOf(await ask("/watch list"))).toMatch(
      /What you watch: 1 of 20.*validator: .*silence of more than 1h/,
    );
  });

  it("sends a private alert if a validator goes silent, which the person can acknowledge", async () => {
    const before = inPrivate().length;
    const quiet = watched();
    harness.pass(LONG_SILENCE);
    report(quiet);
    const card = await until(/no report for/, before);
    expect(card.pings).toEqual([]);
    const place = { user: people().ana, channel: world().directChannel(people().ana) };
    await harness.discord.driver.click(place, card, "I'm on it");
    expect(textOf(card)).toContain(`<@${people().ana.id}> has been on it`);
    expect(textOf(await ask("/watch list"))).toContain("🔴 silent");
    report();
    await until(/Seen again/, before);
  });

  it("sends a price alert, which can be snoozed", async () => {
    const { price } = ledger();
    ledger().setPrice(price);
    const answer = await ask("/watch price", { when: "above", value: `$${(price * 1.1).toFixed(4)}` });
    expect(textOf(answer)).toMatch(/above 0\.1\d+ USD.*Now: /);
    await readings("get-price", 2);
    const before = inPrivate().length;
    ledger().setPrice(price * 1.2);
    const alert = await until(/Canton Coin (rose|fell) /, before);
    expect(alert.content).toMatch(/^Canton Coin rose above 0\.1\d+ USD: 0\.1\d+ \(\+20%\)$/);
    const place = { user: people().ana, channel: world().directChannel(people().ana) };
    const snoozed = await harness.discord.driver.choose(place, alert, "8 hours");
    expect(textOf(snoozed)).toMatch(/Snoozed.*no more alerts until.*end it earlier in .*\/watch list/);
    const list = await ask("/watch list");
    expect(textOf(list)).toMatch(/💤 snoozed.*last alert/);
    const here = { user: people().ana, channel: harness.discord.channels.general };
    const watch = await harness.discord.driver.choose(here, list, "above");
    const ended = await harness.discord.driver.click(here, watch, "End snooze");
    expect(textOf(ended)).not.toContain("💤");
    expect((await ask("/watch price", { when: "above", value: "soon" })).content).toContain("`0.16`");
  });

  it("sends alerts about the changes and the outcome of the watched vote request only", async () => {
    const request = ledger().openVoteRequest({
      title: "Mine",
      motion: "feature",
      lastsMs: 30 * HOUR,
      effectiveInMs: null,
    });
    await readings("vote-requests", 3);
    const { contractId } = request;
    expect(textOf(await ask("/watch proposal", { proposal: contractId }))).toMatch(
      /Watching.*proposal: .*changes/,
    );
    // It never gets an announcement of a new request, so its drill is none either.
    const place = { user: people().ana, channel: general() };
    const [offered] = await harness.discord.driver.complete(place, "/watch test", "watch", { watch: "Mine" });
    const drilled = inPrivate().length;
    await ask("/watch test", { watch: String(offered?.value) });
    await until(/🧪 TEST: ⏰ .* left to vote: .*Mine/, drilled);
    const before = inPrivate().length;
    ledger().openVoteRequest({ title: "Another", motion: "feature" });
    ledger().castVote(request, true);
    request.voteBefore += HOUR;
    await until(/Changed: .*Quorum by/, before);
    ledger().closeVoteRequest(request, "Rejected");
    await until(/❌ Rejected: /, before);
    const decided = ledger().openVoteRequest({
      title: "Decided",
      lastsMs: 48 * HOUR,
      effectiveInMs: 72 * HOUR,
    });
    for (let votes = 0; votes < 12; votes += 1) ledger().castVote(decided, false);
    const answer = textOf(await ask("/watch proposal", { proposal: decided.contractId }));
    expect(answer).toContain("Rejected by the votes, not closed yet: enough have voted no");
    expect(answer).not.toContain("It's open");
    expect(
      inPrivate()
        .slice(before)
        .every((message) => !textOf(message).includes("Another")),
    ).toBe(true);
  });

  it("is offered by a button on validators and on the price, with default settings", async () => {
    const { driver } = harness.discord;
    const ben = { user: people().ben, channel: general() };
    const validator = await driver.ask(ben, "/validator show", { validator: watched()?.party.id ?? "" });
    const offer = await driver.click(ben, validator, "Watch");
    expect(offer.visibleTo).toBe(people().ben.id);
    expect(textOf(offer)).toMatch(/Watch this\?.*silence \(two missed reports\)/);
    await driver.choose(ben, offer, "3h");
    expect(textOf(offer)).toContain("silence of more than 3h");
    await driver.click(ben, offer, "Watch");
    expect(textOf(offer)).toMatch(/Watching.*silence of more than 3h/);
    const again = await driver.click(ben, validator, "Watch");
    const chosen = () =>
      driver
        .components(again)
        .flatMap(({ options = [] }) => options.filter((each) => each.default))
        .map(({ label }) => label);
    expect(chosen()).toEqual(["After 3h without a report"]);
    await driver.choose(ben, again, "two missed");
    expect(chosen()).toEqual(["After two missed reports"]);
    await driver.click(ben, again, "Watch");
    expect(textOf(again)).toMatch(/Watch changed.*silence \(two missed reports\)/);
    const price = await driver.ask(ben, "/price");
    const moves = await driver.click(ben, price, "Watch");
    expect(textOf(moves)).toContain("up or down 5% in 24h");
    await driver.click(ben, moves, "Watch");
    expect(textOf(await ask("/watch list", {}, people().ben))).toMatch(/2 of 20/);
  });

  it("can pause, resume and remove a watch in the list, also if Discord does not confirm the message", async () => {
    const { driver } = harness.discord;
    const ben = { user: people().ben, channel: general() };
    const list = await driver.ask(ben, "/watch list");
    await driver.choose(ben, list, "validator");
    await driver.click(ben, list, "Pause");
    expect(textOf(list)).toContain("⏸️ paused");
    await driver.click(ben, list, "Resume");
    expect(textOf(list)).not.toContain("⏸️ paused");
    await driver.click(ben, list, "Pause");
    const validator = watched()?.party.id ?? "";
    const typed = textOf(await ask("/watch validator", { validator }, people().ben));
    expect(typed).toContain("▶️ It's no longer paused.");
    expect(textOf(await ask("/watch validator", { validator }, people().ben))).not.toContain(
      "no longer paused",
    );
    const paused = await driver.ask(ben, "/watch list");
    expect(textOf(paused)).not.toContain("⏸️ paused");
    await driver.choose(ben, paused, "validator");
    await driver.click(ben, paused, "Pause");
    const path = new RegExp(`/channels/${world().directChannel(ben.user).id}/messages$`);
    harness.discord.trap({ method: "POST", path, times: 1, error: "lost" });
    const before = inPrivate(ben.user).length;
    await driver.click(ben, list, "Resume");
    await until(/You'll get these alerts again/, before, ben.user);
    expect(textOf(list)).not.toContain("⏸️ paused");
    await driver.click(ben, list, "Pause");
    const flagged = new DiscordError(
      403,
      20_026,
      "This application has been flagged by our anti-spam system",
    );
    harness.discord.trap({ method: "POST", path, times: 1, error: flagged });
    const refused = await driver.click(ben, list, "Resume");
    expect(refused.content).toContain("won't let me message you");
    expect(textOf(list)).toContain("⏸️ paused");
    await driver.click(ben, list, "Remove");
    expect(textOf(list)).toMatch(/Removed: validator[^—]*price/);
  });

  it("sends a drill to the person who asks for one", async () => {
    const before = inPrivate().length;
    expect(textOf(await ask("/watch test"))).toMatch(
      /A test alert is on its way.*the newest of your \d+ watches\. Pick another with/,
    );
    expect((await until(/🧪 TEST/, before)).content).toContain("🧪 TEST");
    // With several watches, autocomplete offers them.
    const place = { user: people().ana, channel: general() };
    const offered = await harness.discord.driver.complete(place, "/watch test", "watch", {
      watch: "validator",
    });
    const answer = await ask("/watch test", { watch: String(offered[0]?.value) });
    expect(textOf(answer)).toMatch(/A test alert is on its way.*validator: /);
    expect(textOf(answer)).not.toContain("the newest of your");
    expect((await ask("/watch price", { when: "above", value: "5%" })).content).toContain("a price in USD");
  });

  it("says so if a person accepts no direct messages, both when they create a watch and on a later command", async () => {
    const { olga } = { olga: world().addUser("Closed") };
    harness.discord.guild.members.set(olga.id, []);
    world().refusing.add(olga.id);
    const id = watched()?.party.id ?? "";
    expect((await ask("/watch validator", { validator: id }, olga)).content).toContain(
      "won't let me message you",
    );
    expect(textOf(await ask("/watch list", {}, olga))).toContain("You aren't watching anything yet");
    world().refusing.delete(olga.id);
    await ask("/watch validator", { validator: id }, olga);
    world().refusing.add(olga.id);
    const quiet = watched();
    harness.pass(LONG_SILENCE);
    report(quiet);
    const { driver } = harness.discord;
    const asked: ReturnType<typeof driver.type>[] = [];
    const told = async () => {
      const next = driver.type({ user: olga, channel: general() }, "/network");
      asked.push(next);
      await driver.answered(next);
      return asked
        .flatMap(({ messages }) => messages)
        .find((message) => textOf(message).includes("your watches are paused"));
    };
    expect((await world().until(told, "the word beside an answer")).visibleTo).toBe(olga.id);
    const paused = async () => textOf(await ask("/watch list", {}, olga)).includes("Everything is paused");
    await world().until(paused, "the pause");
    report();
    world().refusing.delete(olga.id);
    const place = { user: olga, channel: general() };
    const list = await harness.discord.driver.ask(place, "/watch list");
    await harness.discord.driver.choose(place, list, "validator");
    await harness.discord.driver.click(place, list, "Resume");
    expect(textOf(list)).not.toContain("paused");
    world().refusing.add(olga.id);
    harness.pass(LONG_SILENCE);
    report(quiet);
    await world().until(paused, "the second pause");
    world().refusing.delete(olga.id);
    expect(textOf(await ask("/watch validator", { validator: id }, olga))).toContain("Watching again");
    expect(await paused()).toBe(false);
    report();
  });

  it("keeps nothing of simultaneous watches and changes that are all refused", async () => {
    const closed = world().addUser("Double clicker");
    harness.discord.guild.members.set(closed.id, []);
    const validator = watched()?.party.id ?? "";
    const watchAll = async (settings: readonly Record<string, string>[]) => {
      const answers = settings.map((each) => ask("/watch validator", { validator, ...each }, closed));
      for (const { content } of await Promise.all(answers))
        expect(content).toContain("won't let me message you");
    };
    const list = async () => textOf(await ask("/watch list", {}, closed));
    world().refusing.add(closed.id);
    await watchAll([{}, {}, {}]);
    expect(await list()).toContain("You aren't watching anything yet");
    world().refusing.delete(closed.id);
    await ask("/watch validator", { validator, after: "5h" }, closed);
    world().refusing.add(closed.id);
    await watchAll([{ after: "6h" }, { after: "7h" }, { after: "8h" }]);
    expect(await list()).toContain("silence of more than 5h");
    world().refusing.delete(closed.id);
  });

  it("says so if Discord limits how many direct messages are opened", async () => {
    harness.discord.trap({
      method: "POST",
      path: /users\/@me\/channels/,
      times: 1,
      error: new DiscordError(400, 40_003, "You are opening direct messages too fast."),
    });
    const late = world().addUser("Late");
    harness.discord.guild.members.set(late.id, []);
    const answer = await ask("/watch price", { when: "moves", value: "5%" }, late);
    expect(answer.content).toContain("in a few minutes");
  });

  it("starts one watch, with one message, if its button is pressed twice", async () => {
    const hasty = world().addUser("Hasty");
    harness.discord.guild.members.set(hasty.id, []);
    const { driver } = harness.discord;
    const place = { user: hasty, channel: general() };
    const shown = await driver.ask(place, "/validator show", { validator: watched()?.party.id ?? "" });
    const offer = await driver.click(place, shown, "Watch");
    await Promise.all([driver.click(place, offer, "Watch"), driver.click(place, offer, "Watch")]);
    expect(textOf(offer)).toMatch(/"Watching"/);
    expect(inPrivate(hasty)).toHaveLength(1);
    expect(textOf(await driver.ask(place, "/watch list"))).toContain("1 of 20");
  });

  it("keeps both changes if a person makes two at the same time", async () => {
    const here = world().addUser("Two Devices");
    harness.discord.guild.members.set(here.id, []);
    const of = { validator: watched()?.party.id ?? "" };
    await ask("/watch validator", of, here);
    expect(textOf(await ask("/watch validator", of, here))).toContain(
      "Nothing changed: you already watch this",
    );
    const answers = await Promise.all([
      ask("/watch validator", { ...of, after: "5h" }, here),
      ask("/watch validator", { ...of, version: false }, here),
      ask("/watch validator", { ...of, traffic: true }, here),
    ]);
    for (const answer of answers) expect(textOf(answer)).toContain("Watch changed");
    const list = textOf(await ask("/watch list", {}, here));
    expect(list).toMatch(/What you watch: 1 of 20.*silence of more than 5h/);
    expect(list).toContain("traffic");
    expect(list).not.toContain("an old version");
  });

  it("forgets a watch that is being created, too", async () => {
    const user = world().addUser("Hasty");
    harness.discord.guild.members.set(user.id, []);
    const path = /^\/users\/@me\/channels$/;
    harness.discord.trap({ method: "POST", path, delayMs: 2_000, times: 1 });
    const opened = () => harness.discord.requests.filter((each) => path.test(each.path)).length;
    const before = opened();
    const watching = ask("/watch validator", { validator: watched()?.party.id ?? "" }, user);
    await world().until(() => opened() > before, "the request");
    expect(textOf(await ask("/watch forget", {}, user))).toContain("1 watch removed");
    await watching;
    expect(textOf(await ask("/watch list", {}, user))).toContain("0 of 20");
  });

  it("allows twenty watches, and can forget all of them", async () => {
    harness.discord.limits.enforced = false;
    for (let value = 1; value <= 20; value += 1)
      await ask("/watch price", { when: "below", value: `0.0${10 + value}` }, people().owner);
    const more = await ask("/watch price", { when: "below", value: "0.099" }, people().owner);
    expect(more.content).toContain("which is the maximum");
    expect(textOf(await ask("/watch forget", {}, people().owner))).toMatch(
      /Your data is deleted.*20 watches removed/,
    );
    expect(textOf(await ask("/watch list", {}, people().owner))).toContain("0 of 20");
    // Simultaneous commands cannot exceed the limit together, and completion still works at the limit.
    const { driver } = harness.discord;
    const here = { user: people().owner, channel: general() };
    const promises = () =>
      world()
        .read(world().directChannel(here.user))
        .filter((each) => /Your alerts will arrive/.test(textOf(each)));
    const before = promises().length;
    // Discord allows five messages in five seconds, so that most of the promises are late, and so are the answers.
    Object.assign(harness.discord.limits, { enforced: true, channelMs: 5_000 });
    const answers = await Promise.all(
      Array.from({ length: 45 }, (_, at) =>
        driver.answered(driver.type(here, "/watch price", { when: "below", value: `0.0${10 + at}` }), 30_000),
      ),
    );
    expect(answers.filter(({ content }) => content.includes("which is the maximum"))).toHaveLength(25);
    harness.discord.limits.enforced = false;
    expect(textOf(await ask("/watch list", {}, here.user))).toContain("20 of 20");
    expect(promises().length - before).toBeLessThanOrEqual(20);
    expect(await driver.complete(here, "/watch test", "watch", { watch: "" })).toHaveLength(20);
    await ask("/watch forget", {}, here.user);
    expect(world().refusals.filter(({ body }) => !/5000[7]|40003|20026/.test(JSON.stringify(body)))).toEqual(
      [],
    );
  });
});
