import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { FieldValues } from "../../../sandbox/discord/driver.js";
import type { Channel, Message } from "../../../sandbox/discord/world.js";
import type { Validator } from "../../../sandbox/explorer/model.js";
import { subscriptionId } from "../../../src/delivery/collections.js";
import { draftOf } from "../../../src/delivery/feed.js";
import { createDirectory, SUPER_VALIDATORS } from "../../../src/directory/directory.js";
import { covers, groupOf, membersOf, ownOf } from "../../../src/directory/groups.js";
import { validatorWatches, watchId } from "../../../src/feeds/validator/collections.js";
import { validator } from "../../../src/feeds/validator/index.js";
import { load } from "../../../src/feeds/validator/memory.js";
import { activities, NETWORK_RHYTHM, rhythms } from "../../../src/ledger/network-rhythm.js";
import { HOUR, MINUTE } from "../../../src/util/units.js";
import { type Harness, newState, startHarness, textOf } from "../../harness.js";

describe("the members of a group", () => {
  const entry = (id: string, active: boolean | null = true, name: string | null = null) => ({
    id,
    name,
    active,
  });
  it("are validators, and super validators that have not left, by party or name", async () => {
    const directory = createDirectory();
    expect(membersOf(SUPER_VALIDATORS, directory)).toBeUndefined();
    const validators = [entry("a"), entry("b", true, "Bee"), entry("c"), entry("d", false)];
    await directory.replace("validator", validators, 1);
    await directory.replace("voter", [entry("a", null), entry("sv-bee", null, "Bee"), entry("c", false)], 1);
    expect(membersOf(SUPER_VALIDATORS, directory)).toEqual(["a", "b"]);
    expect(membersOf("d", directory)).toEqual(["d"]);
    const group = groupOf(["d", "a", "d"]);
    expect(membersOf(group, directory)).toEqual(["a", "d"]);
    for (const [subject, party, isCovered] of [
      [group, "a", true],
      [group, "b", false],
      ["a", "a", true],
      [SUPER_VALIDATORS, "b", true],
      [SUPER_VALIDATORS, "c", false],
    ] as const)
      expect(covers(subject, party, directory)).toBe(isCovered);
  });
});

it("an event concerns a validator's own subscription before its groups, and the one that watches it", () => {
  const directory = createDirectory();
  const { feed } = validator.create(
    { directory, state: newState(), now: () => 0, explorer: { for: () => ({}) } } as never,
    300_000,
  );
  const draft = draftOf(validator.definition, "1");
  const [own, group, all] = ["a", groupOf(["a", "b"]), SUPER_VALIDATORS].map((subject) => ({
    ...draft,
    subject,
  }));
  const silent = (subject?: string) =>
    feed.readEvent({ kind: "silent", channelId: "1", validator: "a", since: 1, ...(subject && { subject }) });
  const concerned = (event: ReturnType<typeof feed.readEvent>) => {
    if (!event) return [];
    const wanting = [own, group, all].flatMap((each) => (each && feed.wants(each, event) ? [each] : []));
    return (feed.nearest?.(wanting, event) ?? wanting).map(({ subject }) => subject);
  };
  expect(concerned(silent())).toEqual(["a"]);
  expect(ownOf([{ subject: "a b" }, { subject: "x" }], ["a"], directory)).toHaveLength(2);
  const many = (...members: string[]) =>
    feed.readEvent({ kind: "many", channelId: "1", since: 1, members, isOfAll: false });
  expect(concerned(many("a"))).toEqual(["a"]);
  expect(concerned(many("b"))).toEqual([groupOf(["a", "b"])]);
  expect(concerned(many("a", "b"))).toEqual(["a", groupOf(["a", "b"])]);
  // The lists do not show yet that it belongs to a super validator.
  const isWantedByAll = (event: ReturnType<typeof feed.readEvent>) => event && all && feed.wants(all, event);
  expect([silent(), silent(SUPER_VALIDATORS)].map(isWantedByAll)).toEqual([false, true]);
});

it("a list shows who has not reported although no alert is open, as while alerts are on hold", async () => {
  const state = newState();
  const [fox, owl] = [`fox::1220${"a".repeat(64)}`, `owl::1220${"b".repeat(64)}`];
  const now = Date.now();
  const gaps = [65, 65, 65].map((minutes) => minutes * MINUTE);
  const seen = (ago: number) => ({
    seenAt: now - ago,
    active: true,
    version: "1.0",
    readAt: now - MINUTE,
    gaps,
  });
  await state.commit([
    state.open(activities).put(fox, seen(26 * HOUR)),
    state.open(activities).put(owl, seen(30 * MINUTE)),
  ]);
  const sources = { state, directory: createDirectory(), names: {} } as never;
  const nowOf = async (subject: string) =>
    String(await validator.definition.nowOf?.(sources, { ...draftOf(validator.definition, "1"), subject }));
  expect(await nowOf(fox)).toMatch(/^🟡 last report .*not alerted yet: alerts are on hold/);
  expect(await nowOf(owl)).toMatch(/^🟢 last report/);
  expect(await nowOf(groupOf([fox, owl]))).toBe(
    "🟡 no recent report from 1 of 2 validators, not alerted yet",
  );
  // Their alerts are older than the last reports, as while the subscription is paused.
  for (const party of [fox, owl])
    await state.commit([state.open(validatorWatches).put(watchId("1", party), { alert: now - 27 * HOUR })]);
  expect(await nowOf(fox)).toMatch(/^🟡 last report/);
  expect(await nowOf(groupOf([fox, owl]))).toContain("🟡 no recent report from 1 of 2");
  for (const party of [fox, owl])
    await state.commit([state.open(activities).put(party, { ...seen(30 * MINUTE), readAt: now - HOUR })]);
  for (const subject of [fox, groupOf([fox, owl])])
    expect(await nowOf(subject)).toMatch(/^⚪ not checked since/);
  await state.close();
});

it("a new subscriber to a group reads which time applies if the chosen one is too early", async () => {
  const state = newState();
  const rhythm = { intervalMs: 65 * MINUTE, learntAt: Date.now(), isLearnt: true };
  await state.commit([state.open(rhythms).put(NETWORK_RHYTHM, rhythm)]);
  const subject = groupOf([`fox::1220${"a".repeat(64)}`, `owl::1220${"b".repeat(64)}`]);
  const wordsFor = async (after: number | "automatic") => {
    const subscription = { ...draftOf(validator.definition, "1"), subject, after, chosen: ["after"] };
    const deps = { state, directory: createDirectory(), now: Date.now() } as never;
    return (await validator.definition.standing(deps, subscription)).join(" ");
  };
  expect(await wordsFor(20 * MINUTE)).toMatch(
    /`20m` is too early for two missed reports: most validators report about every 65 min.*after 2 h 20 min/,
  );
  expect(await wordsFor(3 * HOUR)).toContain("told of each after 3 h without a report");
  expect(await wordsFor("automatic")).toContain("told of each after two missed reports");
  await state.close();
});

it("the id of a group is split between ids, and not within one that contains spaces", () => {
  const [fox, owl] = [`Acme Node 1::1220${"a".repeat(64)}`, `Owl Node::1220${"b".repeat(64)}`];
  const directory = createDirectory();
  expect(membersOf(fox, directory)).toEqual([fox]);
  expect(membersOf(groupOf([owl, fox]), directory)).toEqual([fox, owl]);
});

it("keeps watching as before while the super validators are unknown, and delays nobody else", async () => {
  const state = newState();
  const own = { ...draftOf(validator.definition, "1"), subject: SUPER_VALIDATORS };
  const other = { ...draftOf(validator.definition, "2"), subject: "q" };
  await state.commit([state.open(validatorWatches).put(subscriptionId("1", "validator", "p"), {})]);
  const subscribers = { subscriptions: async () => [own, other], isHeard: async () => true };
  const { watched } = await load(state, subscribers, createDirectory());
  expect([...watched.values()].map((each) => each.validator)).toEqual(["p", "q"]);
  await state.close();
});

it("tells subscribers to all super validators about one that is no longer listed, whose name is not known any more", () => {
  const { feed } = validator.create(
    { directory: createDirectory(), state: newState(), now: () => 0, explorer: { for: () => ({}) } } as never,
    300_000,
  );
  const subscription = { ...draftOf(validator.definition, "1"), subject: SUPER_VALIDATORS };
  const gone = { kind: "gone", channelId: "1", validator: "b", since: 1, subject: SUPER_VALIDATORS };
  const event = feed.readEvent(gone);
  expect(event && feed.wants(subscription, event)).toBe(true);
  expect(event && feed.wants({ ...subscription, subject: "a" }, event)).toBe(false);
  const many = feed.readEvent({ kind: "many", channelId: "1", since: 1, members: ["b"], isOfAll: true });
  expect(many && feed.wants(subscription, many)).toBe(true);
  expect(many && feed.wants({ ...subscription, subject: "a" }, many)).toBe(false);
});

describe("one subscription to several validators", () => {
  let harness: Harness;
  let ops: Channel;
  let svs: Channel;
  let members: Validator[];
  const quiet = new Set<Validator>();
  const world = () => harness.discord.world;
  const driver = () => harness.discord.driver;
  const olga = () => ({ user: harness.discord.people.owner, channel: harness.discord.channels.general });
  const pass = (ms: number) => {
    const { ledger } = harness.explorer;
    harness.pass(ms);
    for (const each of [...ledger.validators])
      if (quiet.has(each)) each.active = false;
      else ledger.setValidatorActive(each, true);
  };
  const polled = async (count = 2) => {
    const reads = () => harness.explorer.requests.filter(({ path }) => path.endsWith("/validators")).length;
    const before = reads();
    await world().until(() => reads() >= before + count, "readings");
  };
  const until = (where: Channel, pattern: RegExp): Promise<Message> =>
    world().until(
      () =>
        world()
          .read(where)
          .find((each) => pattern.test(textOf(each))),
      String(pattern),
    );
  const add = async (values: FieldValues) => {
    const overview = await driver().ask(olga(), "/setup");
    const menu = driver()
      .components(overview)
      .find(({ placeholder }) => placeholder === "Add…");
    const choice = menu?.options?.find(({ label }) => label === "Validator");
    const interaction = driver().pick(olga(), overview, menu?.custom_id ?? "", choice?.value ?? "");
    const dialog = await world().until(() => interaction.dialog, "the dialog");
    return driver().submit(olga(), { dialog, source: overview }, values);
  };

  beforeAll(async () => {
    harness = await startHarness({ env: () => ({ WATCH_POLL_SECONDS: "1", REQUESTS_PER_PERSON: "1000" }) });
    const { guild } = harness.discord;
    ops = world().addChannel({ type: 0, guild_id: guild.id, name: "ops" });
    svs = world().addChannel({ type: 0, guild_id: guild.id, name: "svs" });
    members = harness.explorer.ledger.validators
      .filter(({ isSv, party }) => !isSv && party.name)
      .slice(0, 25);
    for (const each of harness.explorer.ledger.validators)
      harness.explorer.ledger.setValidatorActive(each, true);
    const hasNames = () => harness.explorer.requests.some(({ path }) => path.endsWith("/parties/top"));
    await world().until(hasNames, "the names");
  });
  afterAll(() => harness.close());

  it("is one row in every list, for as many as a dialog holds, and can be opened, paused and removed", async () => {
    const role = world().addRole(harness.discord.guild, "ops", 0n, { mentionable: true }).id;
    const answer = await add({
      channel: ops.id,
      subjects: members.map(({ party }) => party.id).join(", "),
      role: [role],
    });
    expect(textOf(answer)).toMatch(/✅ Subscribed: .*, .*, .* and \d+ more/);
    expect(textOf(answer)).toContain(`${members.length} validators at the moment`);
    const list = await driver().ask(olga(), "/subscribe list");
    expect(textOf(list).match(/silence \(two missed reports\)/g)).toHaveLength(1);
    const [choice] = driver().components(list)[0]?.options ?? [];
    const opened = await driver().choose(olga(), list, choice?.label ?? "");
    expect(textOf(await driver().click(olga(), opened, "Pause"))).toContain("⏸️ Paused");
    expect(textOf(await driver().click(olga(), opened, "Resume"))).not.toContain("⏸️");
    expect(textOf(await driver().click(olga(), opened, "Test"))).toContain("on its way");
    await until(ops, /🧪 TEST/);
  });

  it("answers with a sentence that fits if a typed name is longer than a message", async () => {
    const answer = await add({ channel: ops.id, subjects: "n".repeat(3_250) });
    expect(answer.content).toContain("nnn…”: ");
    expect(answer.content.length).toBeLessThan(2_000);
  });

  it("alerts about each member, with the subscription's role, whose holders may answer", async () => {
    await polled();
    const [first] = members;
    if (!first) throw new Error("No validator");
    quiet.add(first);
    pass(50 * MINUTE);
    const alert = await until(ops, new RegExp(`> 🔴 ${first.party.name}: no report for`));
    expect(alert.pings).toEqual(["@ops"]);
    const taken = await driver().click({ ...olga(), channel: ops }, alert, "I'm on it");
    expect(textOf(taken)).toContain("has been on it since");
    await world().until(
      async () => textOf(await driver().ask(olga(), "/subscribe list")).includes("🔴 1 of "),
      "the state in the list",
    );
    quiet.delete(first);
    pass(MINUTE);
    await until(ops, /🟢 Back/);
  });

  it("gains and loses members in its dialog, and everything else stays as it was", async () => {
    const [, kept, dropped] = members;
    const late = harness.explorer.ledger.validators.findLast((each) => each.isSv);
    if (!kept || !dropped || !late) throw new Error("Too few validators");
    for (const each of [kept, dropped]) quiet.add(each);
    pass(50 * MINUTE);
    const alertOf = ({ party }: Validator) => until(ops, new RegExp(`> 🔴 ${party.name}: no report for`));
    const [keptAlert, droppedAlert] = [await alertOf(kept), await alertOf(dropped)];
    const openDialog = async () => {
      const list = await driver().ask(olga(), "/subscribe list");
      const [choice] = driver().components(list)[0]?.options ?? [];
      return driver().open(olga(), await driver().choose(olga(), list, choice?.label ?? ""), "Edit");
    };
    const mine = await openDialog();
    const theirs = await openDialog();
    expect(JSON.stringify(mine.dialog)).toContain(`${kept.party.name}, `);
    const wanted = [kept.party.id, late.party.name].join(", ");
    const answer = await driver().submit(olga(), mine, { subjects: wanted, after: "3h" });
    expect(textOf(answer)).toContain("Subscription changed");
    expect(textOf(answer)).toContain(`silence of more than 3h`);
    // The other moderator's dialog is about a group that is gone.
    const refusal = await driver().submit(olga(), theirs, { subjects: dropped.party.id });
    expect(refusal.content).toContain("is about something else now");
    const contentOf = ({ id }: Message) =>
      world()
        .read(ops)
        .find((each) => each.id === id)?.content;
    const closed = `Closed: no longer watched (${dropped.party.name})`;
    await world().until(() => contentOf(droppedAlert)?.includes(closed), "the closed alert");
    await polled();
    expect(contentOf(keptAlert)).toContain("🔴");
    const list = textOf(await driver().ask(olga(), "/subscribe list"));
    expect(list).toContain(`${late.party.name}`);
    expect(list).not.toContain(`${dropped.party.name}`);
    for (const each of [kept, dropped]) quiet.delete(each);
    pass(MINUTE);
    await world().until(
      () => contentOf(keptAlert)?.includes("🟢 Back"),
      "the alert of the member that stayed",
    );
  });

  it("can be to all super validators, also by typing their name", async () => {
    const offered = await driver().complete(olga(), "/subscribe validator", "validator", {
      validator: "all sup",
    });
    expect(offered[0]?.name).toContain("All super validators");
    const answer = await driver().ask(olga(), "/subscribe validator", {
      channel: svs.id,
      validator: "all super validators",
    });
    expect(textOf(answer)).toMatch(/Subscribed.*All super validators.*13 validators at the moment/);
    expect(
      (await add({ channel: svs.id, subjects: `all super validators, ${members[0]?.party.name}` })).content,
    ).toContain("Type it alone");
    await polled();
    const listed = async () => textOf(await driver().ask(olga(), "/subscribe list"));
    expect(await listed()).toContain("none of 13 is silent");
    const sv = harness.explorer.ledger.validators.find(({ isSv }) => isSv);
    if (!sv) throw new Error("No super validator");
    quiet.add(sv);
    pass(110 * MINUTE);
    expect((await until(svs, /no report for/)).content).toContain(sv.party.name);
    expect(await listed()).toContain("1 of 13 validators silent");
    expect(
      world()
        .read(ops)
        .filter(({ content }) => content.includes(sv.party.name ?? "?")),
    ).toEqual([]);
  });

  it("ends with its alerts, and leaves nothing behind", async () => {
    await driver().ask(olga(), "/subscribe remove", { channel: svs.id });
    await world().until(
      () =>
        world()
          .read(svs)
          .some(({ content }) => content.includes("Closed: no longer watched")),
      "the edit",
    );
    expect(textOf(await driver().ask(olga(), "/subscribe list"))).not.toContain("All super validators");
    expect(world().refusals).toEqual([]);
  });
});
