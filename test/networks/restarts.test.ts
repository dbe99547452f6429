import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Message } from "../../sandbox/discord/world.js";
import type { SandboxExplorer } from "../../sandbox/explorer/server.js";
import { type Harness, startHarness, textOf } from "../harness.js";

/** These tests depend on each other: they restart one bot on the same state. */
describe("a bot whose networks change", () => {
  let harness: Harness;
  let second: SandboxExplorer;
  let firstAnswer: Message;
  beforeAll(async () => {
    harness = await startHarness({
      second: {},
      env: ({ channels }) => ({
        NETWORKS: "",
        GOVERNANCE_POLL_SECONDS: "1",
        GOVERNANCE_CHANNEL_ID: channels.governance.id,
      }),
    });
    if (!harness.second) throw new Error("There is no second network");
    second = harness.second;
  });
  afterAll(async () => {
    expect(harness.discord.world.refusals).toEqual([]);
    await harness.close();
  });

  const driver = () => harness.discord.driver;
  const owner = () => ({ user: harness.discord.people.owner, channel: harness.discord.channels.general });
  const governance = () => harness.discord.channels.governance;
  const titleOf = ({ content, embeds: [first] }: Message) =>
    content || (first && "title" in first ? String(first.title) : "");
  const announced = (channel = governance()) =>
    (harness.discord.world.messages.get(channel.id) ?? [])
      .map(titleOf)
      .filter((title) => /vote request/i.test(title));
  /** Waits for more polls of each served network, so that pending announcements have been sent. */
  const settle = async () => {
    const polls = (explorer: SandboxExplorer) => () =>
      explorer.requests.filter(({ path }) => path === "/v1/governance/vote-requests").length;
    for (const explorer of [harness.explorer, second]) {
      const before = polls(explorer)();
      const isServed = await driver()
        .ask(owner(), "/price", explorer === second ? { network: "test" } : {})
        .then(({ embeds }) => embeds.length > 0);
      if (isServed) await expect.poll(polls(explorer)).toBeGreaterThan(before + 2);
    }
  };
  const both = { NETWORKS: "main,test" };
  const otherOrder = () => ({
    NETWORKS: "test,main",
    EXPLORER_API_URL_MAIN: harness.explorer.url,
    EXPLORER_API_KEY_MAIN: harness.explorer.key,
  });

  it("starts with one network, without a network option, a label or prefixed addresses", async () => {
    for (const { options = [] } of driver().commandsIn(harness.discord.channels.general))
      expect(JSON.stringify(options)).not.toContain('"network"');
    firstAnswer = await driver().ask(owner(), "/price");
    expect(driver().find(firstAnswer, "Refresh").custom_id).toBe("rprice");
    harness.explorer.ledger.openVoteRequest({ title: "Before there were two" });
    await expect.poll(announced).toEqual([expect.stringContaining("Before there were two")]);
  });

  it("adds a second network with its own state", async () => {
    await harness.restart(both);
    const list = textOf(await driver().ask(owner(), "/subscribe list"));
    expect(list.match(/· governance/g)).toHaveLength(1);
    expect(list).not.toContain("governance · ");
    await driver().click(owner(), firstAnswer, "Refresh");
    expect(titleOf(firstAnswer)).not.toContain("TestNet");
    await driver().ask(owner(), "/subscribe governance", {
      network: "test",
      channel: harness.discord.channels.general.id,
    });
    second.ledger.openVoteRequest({ title: "On the second" });
    await expect
      .poll(() => announced(harness.discord.channels.general))
      .toEqual([expect.stringMatching(/On the second.* · TestNet$/)]);
    await expect.poll(announced).toHaveLength(1);
  });

  it("changes only the default network if the order changes", async () => {
    await harness.restart(otherOrder());
    expect(titleOf(await driver().ask(owner(), "/price"))).not.toMatch(/Net$/);
    expect(titleOf(await driver().ask(owner(), "/price", { network: "main" }))).toMatch(/· MainNet$/);
    // Links without a network still open the same network.
    await driver().click(owner(), firstAnswer, "Refresh");
    expect(titleOf(firstAnswer)).toMatch(/· MainNet$/);
    await settle();
    expect(announced()).toHaveLength(1);
    expect(announced(harness.discord.channels.general)).toHaveLength(1);
    const list = textOf(await driver().ask(owner(), "/subscribe list"));
    expect(list).toContain(`<#${governance().id}> · governance · MainNet`);
  });

  it("keeps the state of a removed network, and shows it as resting", async () => {
    await harness.restart({ NETWORKS: "main" });
    const tested = textOf(await driver().click(owner(), await driver().ask(owner(), "/setup"), "Test all"));
    expect(tested).toMatch(/governance · test: 💤 on hold: I no longer cover test/);
    await expect.poll(() => announced().some((title) => title.includes("🧪"))).toBe(true);
    const list = textOf(await driver().ask(owner(), "/subscribe list"));
    expect(list).toMatch(/governance · test/);
    expect(list).toContain("on hold");
    const gone = titleOf(await driver().ask(owner(), "/price"));
    expect(gone).not.toContain("Net");
    second.ledger.openVoteRequest({ title: "While it was out" });
    const button = driver().find(firstAnswer, "Refresh");
    button.custom_id = "rte~price";
    expect((await driver().click(owner(), firstAnswer, "rte~price")).content).toContain("no longer cover");
    const edited = await driver().ask(owner(), "/subscribe edit", {
      channel: harness.discord.channels.general.id,
      votes: true,
    });
    expect(edited.content).toContain("on hold");
  });

  it("continues when the network is back, without duplicate announcements", async () => {
    await harness.restart(both);
    const inGeneral = () => announced(harness.discord.channels.general);
    await expect.poll(inGeneral).toHaveLength(2);
    expect(inGeneral()[1]).toMatch(/While it was out.* · TestNet$/);
    await settle();
    expect(inGeneral()).toHaveLength(2);
    expect(announced().filter((title) => !title.includes("🧪"))).toHaveLength(1);
  });

  it("can remove a subscription and a watch of a removed network", async () => {
    const validator = second.ledger.validators[0]?.party.id ?? "";
    await driver().ask(owner(), "/watch validator", { validator, network: "test" });
    const elsewhere = textOf(await driver().ask(owner(), "/watch list", { network: "main" }));
    expect(elsewhere).toContain("You aren't watching anything on this network.");
    await harness.restart({ NETWORKS: "main" });
    const watches = await driver().ask(owner(), "/watch list");
    expect(textOf(watches)).toContain("on hold");
    const option = driver()
      .components(watches)
      .flatMap((each) => each.options ?? [])[0];
    await driver().choose(owner(), watches, option?.value ?? "");
    await driver().click(owner(), watches, "Remove");
    expect(textOf(watches)).toContain("0 of 20");
    const channel = harness.discord.channels.general.id;
    expect(titleOf(await driver().ask(owner(), "/subscribe remove", { channel }))).toBe(
      "Subscription removed",
    );
    expect(textOf(await driver().ask(owner(), "/subscribe list"))).not.toContain("on hold");
  });
});
