import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Given } from "../../sandbox/discord/driver.js";
import { DiscordError } from "../../sandbox/discord/errors.js";
import type { Message } from "../../sandbox/discord/world.js";
import { createRandom } from "../../sandbox/explorer/random.js";
import type { SandboxExplorer } from "../../sandbox/explorer/server.js";
import { readingCommands } from "../../sandbox/reading-commands.js";
import { type Harness, startHarness, textOf } from "../harness.js";

describe("a bot with two networks", () => {
  let harness: Harness;
  let second: SandboxExplorer;
  beforeAll(async () => {
    harness = await startHarness({
      second: {},
      env: () => ({
        GOVERNANCE_POLL_SECONDS: "1",
        WATCH_POLL_SECONDS: "1",
        EXPLORER_LINK_PARTY: "https://scan.example/party/{id}",
        EXPLORER_LINK_PARTY_TEST: "https://test.scan.example/party/{id}",
        EXPLORER_LINK_PROPOSAL_TEST: "https://test.scan.example/vote/{id}",
      }),
    });
    if (!harness.second) throw new Error("There is no second network");
    second = harness.second;
  });
  afterEach(() => {
    harness.explorer.clearFaults();
    second.clearFaults();
    expect(harness.discord.world.refusals.splice(0)).toEqual([]);
  });
  afterAll(() => harness.close());

  const driver = () => harness.discord.driver;
  let guests = 0;
  /** Creates a person who has used no requests yet. */
  const guest = (channel = harness.discord.channels.general) => {
    guests += 1;
    const user = harness.discord.world.addUser(`Guest ${guests}`);
    harness.discord.guild.members.set(user.id, []);
    return { user, channel };
  };
  const owner = (channel = harness.discord.channels.general) => ({
    user: harness.discord.people.owner,
    channel,
  });
  const channelNamed = (name: string) =>
    harness.discord.world.addChannel({ type: 0, guild_id: harness.discord.guild.id, name, position: 9 });
  const titleOf = ({ content, embeds }: Message) => content || (embeds[0] as { title: string }).title;
  const linksOn = (message: Message) =>
    driver()
      .components(message)
      .filter(({ url }) => url === undefined)
      .flatMap(({ custom_id = "", options = [] }) =>
        options.length > 0 ? options.map(({ value }) => value) : [custom_id.slice(1)],
      );
  const posted = ({ id }: { readonly id: string }) => harness.discord.world.messages.get(id) ?? [];
  const asked = async (place: ReturnType<typeof guest>, command: string, given: Given = {}) =>
    driver().ask(place, command, given);

  it("ends the pause of a channel on all networks", async () => {
    const channel = channelNamed("both-networks");
    const place = owner(channel);
    const health = async () => textOf(await asked(place, "/subscribe list"));
    for (const network of ["main", "test"]) await asked(place, "/subscribe governance", { network });
    for (const end of ["/subscribe resume", "/subscribe governance"]) {
      for (const network of ["main", "test"]) {
        const error = new DiscordError(403, 50_013, "Missing Permissions");
        const path = new RegExp(`^/channels/${channel.id}/messages`);
        harness.discord.trap({ method: "POST", path, times: 1, error });
        await asked(place, "/subscribe test", { network });
        await expect
          .poll(async () => (await health()).split("paused").length - 1)
          .toBe(network === "main" ? 1 : 2);
      }
      const answer = textOf(await asked(place, end, { network: "main" }));
      expect(answer).toContain(`Posting to <#${channel.id}> works again, also for its other subscriptions.`);
      expect(await health()).not.toContain("paused");
    }
    for (const network of ["main", "test"]) await asked(place, "/subscribe remove", { network });
    harness.discord.world.refusals.length = 0;
  });

  it("resumes a person's watches on all networks once a direct message arrives", async () => {
    const person = guest();
    const validator = second.ledger.validators[0]?.party.id ?? "";
    const watch = (network: string) => asked(person, "/watch validator", { validator, network });
    for (const network of ["main", "test"]) await watch(network);
    const watches = () => asked(person, "/watch list");
    const inDirectMessages = [...harness.discord.world.channels.values()].find(({ recipients = [] }) =>
      recipients.some(({ id }) => id === person.user.id),
    );
    const resume = async () => {
      const list = await watches();
      await driver().choose(person, list, "validator: ");
      await driver().click(person, list, "Resume");
    };
    for (const end of [resume, () => watch("main")]) {
      for (const network of ["main", "test"]) {
        const error = new DiscordError(403, 50_007, "Cannot send messages to this user");
        const path = new RegExp(`^/channels/${inDirectMessages?.id}/messages`);
        harness.discord.trap({ method: "POST", path, times: 1, error });
        await asked(person, "/watch test", { network });
        const name = network === "main" ? "MainNet" : "TestNet";
        await expect.poll(async () => textOf(await watches())).toContain(`Everything on ${name} is paused`);
      }
      await end();
      expect(textOf(await watches())).not.toContain("paused");
    }
    harness.discord.world.refusals.length = 0;
  });

  it("answers each command from the given network, and labels all but the default network", async () => {
    for (const [network, explorer] of [
      ["main", harness.explorer],
      ["test", second],
    ] as const) {
      for (const [command, given] of readingCommands(explorer.ledger, createRandom(5))) {
        const message = await asked(guest(), command, { ...given(), network });
        expect(message.embeds, command).toHaveLength(1);
        expect(titleOf(message).endsWith(" · TestNet"), `${command}: ${titleOf(message)}`).toBe(
          network === "test",
        );
        for (const link of linksOn(message)) expect(/^te~/.test(link), link).toBe(network === "test");
      }
    }
    for (const { requests, key } of [harness.explorer, second]) {
      expect(requests).not.toEqual([]);
      expect(requests.filter((each) => each.key !== key)).toEqual([]);
    }
  });

  it("opens a pasted link of a network's web explorer on that network", async () => {
    const id = second.ledger.validators[0]?.party.id ?? "";
    for (const [link, isTest] of [
      [`https://test.scan.example/party/${encodeURIComponent(id)}`, true],
      [`https://scan.example/party/${encodeURIComponent(id)}`, false],
      [id, false],
    ] as const) {
      const opened = await asked(guest(), "/party show", { party: link });
      expect(titleOf(opened).endsWith(" · TestNet"), link).toBe(isTest);
    }
  });

  it("offers no choice for a link, because a choice would open on the default network", async () => {
    const proposal = `https://test.scan.example/vote/${second.ledger.voteRequests[0]?.firstContractId}`;
    const { driver } = harness.discord;
    expect(await driver.complete(guest(), "/proposals show", "proposal", { proposal })).toEqual([]);
    expect(titleOf(await asked(guest(), "/proposals show", { proposal }))).toMatch(/ · TestNet$/);
  });

  it("keeps a party's data on two networks apart, each with its own coin", async () => {
    const id = second.ledger.validators[0]?.party.id ?? "";
    expect(harness.explorer.ledger.validators[0]?.party.id).toBe(id);
    const place = guest();
    const [main, test] = [
      textOf(await asked(place, "/party show", { party: id })),
      textOf(await asked(place, "/party show", { party: id, network: "test" })),
    ];
    expect(main).toMatch(/[\d,.]+ CC/);
    expect(test).toMatch(/[\d,.]+ TC/);
    expect(test).not.toMatch(/\d CC/);
    expect(main.match(/# [\d,.]+/)).not.toEqual(test.match(/# [\d,.]+/));
  });

  it("stays on the network in pages, menus, dialogs and when going back", async () => {
    const place = guest();
    const list = await asked(place, "/validator list", { status: "ALL", network: "test" });
    await driver().click(place, list, "▶");
    expect(titleOf(list)).toMatch(/· TestNet$/);
    await driver().submit(place, await driver().open(place, list, "j"), ["3"]);
    expect(driver().find(list, "j").label).toBe("3 / 5");
    const name = driver()
      .components(list)
      .find(({ options }) => options)?.options?.[0]?.value;
    await driver().choose(place, list, name ?? "");
    expect(titleOf(list)).toMatch(/· TestNet$/);
    await driver().click(place, list, "↩️");
    expect(driver().find(list, "j").label).toBe("3 / 5");
    await driver().click(place, list, "🔄");
    expect(titleOf(list)).toMatch(/· TestNet$/);
  });

  it("opens links without a network on the oldest network", async () => {
    const place = guest();
    const message = await asked(place, "/price", { network: "test" });
    const button = driver().find(message, "Refresh");
    expect(button.custom_id).toBe("rte~price");
    button.custom_id = "rprice?over=7d";
    await driver().click(place, message, "rprice");
    expect(titleOf(message)).toBe("Canton Coin, 7 days");
  });

  it("uses the network set for the channel or the server, or last used in a person's direct messages", async () => {
    const place = guest();
    const titleIn = async (where: ReturnType<typeof guest>) => titleOf(await asked(where, "/network"));
    expect(await titleIn(place)).not.toContain("TestNet");
    expect(textOf(await asked(owner(), "/settings", { network: "test" }))).toContain("**TestNet**");
    expect(await titleIn(guest())).toContain("TestNet");
    const quiet = channelNamed("mainnet-only");
    await asked(owner(), "/settings", { network: "main", channel: quiet.id });
    const again = textOf(await asked(owner(), "/settings", { network: "test" }));
    expect(again).toContain(`These channels have their own default: <#${quiet.id}>.`);
    expect(await titleIn(guest(quiet))).not.toContain("TestNet");
    const setup = textOf(await asked(owner(), "/setup", { network: "main" }));
    expect(setup).toContain(`Default network: **TestNet** (<#${quiet.id}>: MainNet). `);
    const thread = harness.discord.world.addChannel({
      type: 11,
      guild_id: harness.discord.guild.id,
      name: "a thread of it",
      parent_id: quiet.id,
    });
    // A failed request for the thread's channel is repeated with the next command, and nothing is saved on a guess.
    const outage = {
      method: "GET",
      path: new RegExp(`/channels/${thread.id}$`),
      times: 1_000,
      error: new DiscordError(403, 50_001, "Missing Access"),
    };
    harness.discord.trap(outage);
    expect(await titleIn(guest(thread))).toContain("TestNet");
    expect((await asked(guest(thread), "/watch price", { when: "above", value: "1" })).content).toMatch(
      /I don't know its network\. Choose one with `network:`/,
    );
    // It is about all networks, and has no such option.
    expect((await asked(guest(thread), "/watch forget")).content).not.toContain("network:");
    outage.times = 0;
    harness.discord.world.refusals.length = 0;
    expect(await titleIn(guest(thread))).not.toContain("TestNet");
    await asked(owner(), "/settings", { network: "-", channel: quiet.id });
    expect(await titleIn(guest(quiet))).toContain("TestNet");
    await asked(owner(), "/settings", { network: "-" });
    expect(await titleIn(guest())).not.toContain("TestNet");

    const { user } = guest();
    const direct = { user, channel: harness.discord.world.directChannel(user) };
    expect(await titleIn(direct)).not.toContain("TestNet");
    await asked(direct, "/price", { network: "test" });
    await expect.poll(() => titleIn(direct)).toContain("TestNet");
    // A person's own choice has no effect in a server.
    expect(await titleIn(guest())).not.toContain("TestNet");
    const forget = driver()
      .commandsIn(harness.discord.channels.general)
      .find(({ name }) => name === "watch")
      ?.options?.find(({ name }) => name === "forget");
    expect(forget?.options ?? []).toEqual([]);
    await asked(direct, "/watch forget");
    expect(await titleIn(direct)).not.toContain("TestNet");
  });

  it("suggests names of the given network, and labels them", async () => {
    const [request] = second.ledger.voteRequests;
    const offered = async (given: Given) =>
      (await driver().complete(guest(), "/proposals show", "proposal", { proposal: "", ...given })).map(
        ({ name }) => name,
      );
    await expect.poll(() => offered({ network: "test" })).not.toEqual([]);
    expect(request).toBeDefined();
    for (const name of await offered({ network: "test" })) expect(name).toMatch(/· TestNet$/);
    for (const name of await offered({})) expect(name).not.toMatch(/TestNet/);
  });

  it("announces both networks in one channel with labels, and lets a person watch both", async () => {
    const channel = channelNamed("both");
    for (const network of ["main", "test"])
      expect(titleOf(await asked(owner(channel), "/subscribe governance", { network, thread: true }))).toBe(
        network === "main" ? "Subscribed" : "Subscribed · TestNet",
      );
    const list = textOf(await asked(owner(channel), "/subscribe list"));
    expect(list).toContain("governance · TestNet");
    const posts = () =>
      posted(channel)
        .map(titleOf)
        .filter((title) => title.includes("One for"));
    harness.explorer.ledger.openVoteRequest({ title: "One for MainNet" });
    second.ledger.openVoteRequest({ title: "One for TestNet" });
    await expect.poll(posts).toHaveLength(2);
    const [main, test] = ["One for MainNet", "One for TestNet"].map((title) =>
      posted(channel).find((each) => titleOf(each).includes(title)),
    );
    if (!main || !test) throw new Error("They were not announced");
    expect(titleOf(main)).not.toContain("· TestNet");
    expect(titleOf(test)).toMatch(/· TestNet$/);
    const threadOf = (message: Message) => harness.discord.world.channels.get(message.id)?.name;
    await expect.poll(() => threadOf(test)).toMatch(/One for TestNet.* · TestNet$/);
    await expect.poll(() => threadOf(main)).toMatch(/One for MainNet$/);

    // With several subscriptions, a menu asks which one.
    const either = await asked(owner(channel), "/subscribe test");
    expect(textOf(either)).toContain("Which subscription?");
    const hints = driver()
      .components(either)[0]
      ?.options?.map(({ description }) => description);
    expect(hints?.filter((hint) => hint?.endsWith("· TestNet"))).toHaveLength(1);
    const labels = (message: Message) =>
      driver()
        .components(message)[0]
        ?.options?.map(({ label }) => label);
    expect(labels(either)).toEqual(["governance", "governance · TestNet"]);
    await asked(owner(), "/settings", { network: "test", channel: channel.id });
    expect(textOf(await asked(owner(channel), "/setup"))).toMatch(
      /Default network: \*\*MainNet\*\*.*Rows without a network are about \*\*MainNet\*\*/,
    );
    expect(labels(await asked(owner(channel), "/subscribe test"))).toEqual(labels(either));
    await asked(owner(), "/settings", { network: "-", channel: channel.id });
    const [voter] = second.ledger.superValidators;
    const mapped = { sv: voter?.name ?? "", who: harness.discord.people.ben.id, network: "test" };
    await asked(owner(channel), "/voters set", mapped);
    expect(textOf(await asked(owner(channel), "/setup"))).toMatch(
      /TestNet: Representatives .*voters list:\d+> with `network: TestNet` shows/,
    );
    expect(textOf(await asked(owner(channel), "/setup"))).toMatch(/Default network: \*\*MainNet\*\*/);
    expect(textOf(await asked(owner(channel), "/setup"))).not.toContain("Rows without a network");
    await asked(owner(), "/settings", { network: "test" });
    expect(textOf(await asked(owner(channel), "/setup"))).toMatch(
      /Default network: \*\*TestNet\*\*.*Rows without a network are about \*\*MainNet\*\*/,
    );
    await asked(owner(), "/settings", { network: "-" });
    await asked(owner(channel), "/voters remove", { sv: mapped.sv, network: "test" });
    await asked(owner(channel), "/subscribe remove", { network: "main" });
    await asked(owner(), "/settings", { network: "test" });
    expect(textOf(await asked(owner(channel), "/setup"))).not.toContain("Rows without a network");
    await asked(owner(), "/settings", { network: "-" });
    const left = textOf(await asked(owner(channel), "/subscribe list"));
    expect(left).toContain("governance · TestNet");
    await asked(owner(channel), "/subscribe remove");
    expect(textOf(await asked(owner(channel), "/subscribe list"))).not.toContain(`<#${channel.id}>`);

    const person = guest();
    const [validator] = second.ledger.validators;
    for (const network of ["main", "test"])
      await asked(person, "/watch validator", { validator: validator?.party.id ?? "", network });
    const watches = await asked(person, "/watch list");
    expect(textOf(watches)).toContain("2 of 20");
    const ofTest = textOf(await asked(person, "/watch list", { network: "test" }));
    expect(ofTest).toContain("1 here, 2 of 20 in all");
    expect(textOf(watches).match(/· TestNet\*\*/g)).toHaveLength(1);
    const options = driver()
      .components(watches)
      .flatMap((each) => each.options ?? []);
    expect(options).toHaveLength(2);
    await driver().choose(person, watches, options[1]?.value ?? "");
    // The message is of TestNet now. The default network still has no label.
    const names = driver()
      .components(watches)
      .flatMap((each) => each.options ?? [])
      .map(({ label }) => /· (MainNet|TestNet)$/.exec(label)?.[1]);
    expect(names).toEqual([undefined, "TestNet"]);
    await driver().click(person, watches, "Remove");
    expect(textOf(watches)).toContain("1 of 20");
  });

  it("answers and announces on one network while the other fails", async () => {
    const channel = channelNamed("alone");
    await asked(owner(channel), "/subscribe governance", { network: "main" });
    for (const fault of [
      { kind: "status", status: 500 },
      { kind: "reset" },
      { kind: "slow", ms: 60_000 },
      { kind: "status", status: 401 },
    ] as const) {
      second.injectFault(fault);
      const title = `While it fails: ${fault.kind}`;
      harness.explorer.ledger.openVoteRequest({ title });
      expect(titleOf(await asked(guest(), "/network", { network: "main" }))).not.toContain("TestNet");
      await expect.poll(() => posted(channel).some((each) => titleOf(each).includes(title))).toBe(true);
      second.clearFaults();
    }
  });
});
