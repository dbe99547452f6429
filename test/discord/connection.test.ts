import { afterAll, beforeAll, expect, it } from "vitest";
import { botEnvironment, startBotProcess } from "../../sandbox/bot-process.js";
import { DiscordError } from "../../sandbox/discord/errors.js";
import { RateLimited } from "../../sandbox/discord/rate-limits.js";
import { type Harness, startHarness, textOf } from "../harness.js";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness({
    env: ({ channels }) => ({ GOVERNANCE_CHANNEL_ID: channels.governance.id }),
  });
});
afterAll(() => harness.close());

it("asks the person to try again if Discord's connection breaks twice while it answers", async () => {
  const { discord } = harness;
  const here = { user: discord.people.ana, channel: discord.channels.general };
  discord.trap({ method: "POST", path: /^\/interactions\/.*\/callback$/, error: "reset", times: 2 });
  const answer = await discord.driver.ask(here, "/network");
  expect(answer.content).toContain("The connection to Discord broke");
  expect(harness.bot().output()).toContain("The connection to Discord broke while an answer was sent");
  expect(harness.bot().output()).not.toContain("Unexpected error");
});

it.each(["lost", "lost-reset", "lost-html", "reset"] as const)(
  "answers late although the response that defers it is %s",
  async (error) => {
    const { discord, explorer } = harness;
    const here = { user: discord.people.ana, channel: discord.channels.general };
    const [command, path] = {
      lost: ["/transfers", /transfers/] as const,
      "lost-reset": ["/contract list", /contracts/] as const,
      "lost-html": ["/event list", /events/] as const,
      reset: ["/update list", /updates/] as const,
    }[error];
    explorer.injectFault({ kind: "slow", ms: 2_300 }, { path, times: 1 });
    discord.trap({ method: "POST", path: /^\/interactions\/.*\/callback$/, error, times: 1 });
    const typed = discord.driver.type(here, command);
    const answer = await discord.driver.answered(typed);
    expect(answer.embeds).toHaveLength(1);
    expect(typed.thinking).toBe(false);
  },
);

it.each([
  ["DELETE", "reset"],
  ["DELETE", "lost"],
  ["DELETE", "html"],
  ["POST", "reset"],
] as const)("tells an error although the connection breaks once at its %s (%s)", async (method, error) => {
  const { discord, explorer } = harness;
  const here = { user: discord.people.ana, channel: discord.channels.general };
  explorer.injectFault({ kind: "slow", ms: 2_300 }, { path: /updates\/1220/, times: 1 });
  discord.trap({ method, path: /^\/webhooks\//, error, times: 1 });
  const id = `1220${Math.floor(Math.random() * 1e15)
    .toString(16)
    .padStart(64, "0")}`;
  const typed = discord.driver.type(here, "/update show", { update: id });
  const answer = await discord.driver.answered(typed);
  expect(textOf(answer)).toContain("Can't find an update");
  expect(typed.thinking).toBe(false);
});

it("opens a dialog and gives suggestions although Discord fails three times", async () => {
  const { discord } = harness;
  const { driver, people, channels } = discord;
  const here = { user: people.owner, channel: channels.general };
  const trap = () =>
    discord.trap({ method: "POST", path: /^\/interactions\/.*\/callback$/, error: "html", times: 3 });
  trap();
  const name = harness.explorer.ledger.validators.find(({ party }) => party.name)?.party.name ?? "";
  await expect
    .poll(() => driver.complete(here, "/validator show", "validator", { validator: name }))
    .not.toEqual([]);
  const list = await driver.ask(here, "/party list");
  const pages = /1 \/ \d+/.exec(JSON.stringify(list.components))?.[0] ?? "";
  trap();
  expect((await driver.open(here, list, pages)).dialog.title).toContain("page");
  expect(harness.bot().output()).not.toContain("could not be answered");
});

it("keeps a picture although Discord's connection breaks once while it is sent", async () => {
  const { discord } = harness;
  const here = { user: discord.people.ana, channel: discord.channels.general };
  const picture = async () => (await discord.driver.ask(here, "/validator versions")).attachments;
  await expect.poll(picture).toHaveLength(1);
  discord.trap({ method: "POST", path: /^\/interactions\/.*\/callback$/, error: "reset", times: 1 });
  expect(await picture()).toHaveLength(1);
});

it("says so if Discord answers a command's own requests with an error", async () => {
  const { discord } = harness;
  const here = { user: discord.people.ben, channel: discord.channels.general };
  const error = new DiscordError(503, 0, "upstream connect error");
  const outage = { method: "POST", path: /^\/users\/@me\/channels$/, error, times: 100 };
  discord.trap(outage);
  const validator = harness.explorer.ledger.validators[0]?.party.id ?? "";
  const answer = await discord.driver.ask(here, "/watch validator", { validator });
  expect(answer.content).toMatch(/Discord isn't answering all of my requests.*try again/);
  expect(harness.bot().output()).toContain("Discord did not answer a request");
  expect(harness.bot().output()).not.toContain("Unexpected error");
  outage.times = 0;
  const again = await discord.driver.ask(here, "/watch validator", { validator });
  expect(JSON.stringify(again.embeds)).toContain("Watching");
});

it("saves nothing from a dialog if Discord does not say which channels are in the server", async () => {
  const { discord } = harness;
  const { driver, channels } = discord;
  const here = { user: discord.people.owner, channel: channels.general };
  const path = new RegExp(`^/channels/${channels.governance.id}$`);
  const outage = { method: "GET", path, error: new DiscordError(503, 0, "Error"), times: 100 };
  const dialog = await driver.open(here, await driver.ask(here, "/price"), "Subscribe this channel");
  discord.trap(outage);
  const answer = await driver.submit(here, dialog, { value: "5%" });
  expect(answer.content).toMatch(/Discord isn't answering all of my requests.*try again/);
  outage.times = 0;
  expect(textOf(await driver.ask(here, "/subscribe list"))).not.toContain("5%");
});

it("does not let a person wait for a minute if Discord does not answer a command's own requests", async () => {
  const { discord } = harness;
  const { driver, channels, people } = discord;
  const path = new RegExp(`^/channels/${channels.governance.id}$`);
  const silence = { method: "GET", path, delayMs: 120_000, times: 100 };
  discord.trap(silence);
  const here = { user: people.owner, channel: channels.governance };
  const answer = await driver.answered(driver.type(here, "/subscribe newcomers"), 30_000);
  silence.times = 0;
  expect(answer.content).toMatch(/Discord isn't answering all of my requests.*try again/);
});

it("says that a change is made if only its answer could not be sent", async () => {
  const { discord } = harness;
  const here = { user: discord.people.owner, channel: discord.channels.general };
  discord.trap({ method: "POST", path: /^\/interactions\/.*\/callback$/, error: "reset", times: 2 });
  const answer = await discord.driver.ask(here, "/subscribe newcomers");
  expect(answer.content).toMatch(/connection to Discord broke.*If you were changing something, it's done/s);
  expect(textOf(await discord.driver.ask(here, "/subscribe list"))).toContain("newcomers");
});

it("does not say that it can't see a channel whose name Discord does not tell right now", async () => {
  const { discord } = harness;
  const { driver, channels, people, world } = discord;
  const here = { user: people.owner, channel: channels.general };
  const { id } = world.addChannel({ type: 0, guild_id: discord.guild.id, name: "nameless" });
  await driver.ask(here, "/subscribe newcomers", { channel: id });
  const error = new DiscordError(503, 0, "Error");
  discord.trap({ method: "GET", path: new RegExp(`^/channels/${id}$`), error, times: 4 });
  const hints = async () => JSON.stringify((await driver.ask(here, "/setup")).components);
  expect(await hints()).not.toContain("can't see");
  expect(await hints()).toContain("#nameless");
});

it.each([403, 401])("blames neither people nor permissions for a proxy's answer %i", async (status) => {
  const { discord } = harness;
  const { driver, channels, people } = discord;
  const owner = { user: people.owner, channel: channels.general };
  const error = new DiscordError(status, 0, "Blocked");
  const condition = { when: "above", value: "0.3" };
  const outage = /Discord isn't answering all of my requests/;
  discord.trap({ method: "POST", path: /^\/users\/@me\/channels$/, error, times: 1 });
  const watch = await driver.ask(owner, "/watch price", condition);
  expect(watch.content).toMatch(outage);
  // After an answer 401, no request is sent for a while.
  discord.trap({ method: "GET", path: new RegExp(`^/channels/${channels.general.id}$`), error, times: 1 });
  expect((await driver.ask(owner, "/subscribe price", condition)).content).toMatch(outage);
  expect(harness.bot().output()).not.toContain("Unexpected error");
});

it("says when it logs in again if Discord asks it to wait for hours", async () => {
  const { discord, explorer } = harness;
  const error = new RateLimited(3 * 3_600_000, "user");
  discord.trap({ method: "GET", path: /^\/gateway\/bot$/, error, times: 1 });
  const bot = startBotProcess(botEnvironment(discord, explorer));
  await expect.poll(bot.output).toContain("Discord cannot be reached; retrying");
  expect(bot.output()).toContain(`"retryInMs":${3_600_000}`);
  await bot.stop();
});
