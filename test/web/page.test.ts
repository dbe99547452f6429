import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { createRequire } from "node:module";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { startChromium } from "../../sandbox/chromium.js";
import { createMessage } from "../../sandbox/discord/messages.js";
import { makeStack, type Stack } from "../../sandbox/stack.js";
import { type Page as SandboxPage, servePage } from "../../sandbox/web/server.js";
import { typeCommand } from "../../sandbox/web/typist.js";
import { SMALL } from "../harness.js";
import { describeWithChromium } from "../needs.js";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

// Long, for a browser that shares two cores with seven other test files.
const TIMEOUT_MS = 60_000;

interface Fault {
  readonly id: string;
  readonly impact: string;
  readonly nodes: { readonly target: unknown; readonly failureSummary: string }[];
}

describeWithChromium("the sandbox's page", () => {
  let place: Stack;
  let served: SandboxPage;
  let browser: Browser;
  let page: Page;
  const elsewhere: string[] = [];

  beforeAll(async () => {
    place = await makeStack({
      jobsPerSecond: 5,
      explorer: { size: SMALL, lively: false },
      env: ({ channels }) => ({
        GOVERNANCE_CHANNEL_ID: channels.governance.id,
        GOVERNANCE_POLL_SECONDS: "1",
        EXPLORER_REQUESTS_PER_MINUTE: "6000",
      }),
    });
    served = await servePage(place, { port: 0 });
    [browser] = await Promise.all([startChromium(), served.runBot(true)]);
  });
  afterAll(async () => {
    await browser?.close();
    await served.close();
    await place.close();
  });
  beforeEach(async () => {
    page = await browser.newPage({ viewport: { width: 1_280, height: 900 }, colorScheme: "dark" });
    page.setDefaultTimeout(TIMEOUT_MS);
    page.on("request", (sent) => {
      const { hostname, protocol } = new URL(sent.url());
      if (protocol !== "data:" && hostname !== "127.0.0.1") elsewhere.push(sent.url());
    });
    await page.goto(served.url);
    await page.locator(".say").waitFor();
  });
  afterEach(async () => {
    await page.close();
    expect(place.discord.world.refusals).toEqual([]);
    expect(elsewhere).toEqual([]);
  });

  const last = () => page.locator("discord-message").last();
  const type = (command: string, options?: Readonly<Record<string, string>>) =>
    typeCommand(page, command, options);
  const begin = async (command: string) => {
    await page.locator(".say").fill(`/${command}`);
    await page.getByRole("option", { name: `/${command}` }).waitFor();
    await page.keyboard.press("Enter");
  };
  const fewerThan = (count: number) =>
    expect.poll(() => page.locator("discord-message").count(), { timeout: TIMEOUT_MS }).toBeLessThan(count);
  const PEOPLE = { Olga: "owns the server", Mo: "moderator", Ana: "member", Ben: "member, super validator" };
  const be = (name: keyof typeof PEOPLE) =>
    page.locator(".viewer").selectOption({ label: `${name} (${PEOPLE[name]})` });
  const go = (channel: string) =>
    page.getByRole("navigation").getByRole("button", { name: channel }).first().click();
  // A test that is run again finds what its first run has left.
  const isSubscribed = () =>
    last()
      .getByText("Subscribed", { exact: true })
      .or(last().getByText("Nothing changed: it already has these settings"))
      .waitFor();
  const fresh = (title: string) => `${title} ${randomUUID().slice(0, 4)}`;
  const axe = async () => {
    await page.evaluate(AXE);
    const found = await page.evaluate(
      "axe.run(document, { resultTypes: ['violations'], runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'] })",
    );
    return (found as { violations: Fault[] }).violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .map(({ id, nodes }) => [id, nodes.map(({ target, failureSummary }) => [target, failureSummary])]);
  };
  const overflow = () =>
    page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");

  it("answers a command typed by keyboard, turns its pages, and opens a row from a menu", async () => {
    await type("validator new");
    await last()
      .getByText(/1 \/ \d+/)
      .waitFor();
    const first = await last().innerText();
    await last().getByRole("button", { name: "▶" }).click();
    await last()
      .getByText(/2 \/ \d+/)
      .waitFor();
    expect(await last().innerText()).not.toBe(first);
    const menu = last().getByRole("combobox").first();
    await menu.focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await last()
      .getByText(/active · last report/)
      .first()
      .waitFor();
    await last().getByRole("button", { name: "Back" }).click();
    await last()
      .getByText(/2 \/ \d+/)
      .waitFor();
  });

  it("completes a name while it is typed, and jumps to a page with a dialog", async () => {
    const name = place.explorer.ledger.validators.find(({ party }) => party.name)?.party.name ?? "";
    await type("validator show", { validator: name.slice(0, 5) });
    await last()
      .getByText(/active · last report/)
      .first()
      .waitFor();
    await type("party list");
    await last().getByRole("button", { name: "1 / 12" }).click();
    const field = page.locator("discord-modal input");
    await field.fill("3");
    await page.keyboard.press("Enter");
    await last().getByText("3 / 12").waitFor();
    await page.locator("discord-modal").waitFor({ state: "detached" });
  });

  it("keeps a chosen name if its field is focused again", async () => {
    const name = place.explorer.ledger.validators.find(({ party }) => party.name)?.party.name ?? "";
    await begin("lookup");
    const field = page.locator("#option-id");
    await field.fill(name.slice(0, 5));
    await page.keyboard.press("Enter");
    await expect.poll(() => field.inputValue(), { timeout: TIMEOUT_MS }).toContain("1220");
    await page.locator("#option-private").focus();
    await field.focus();
    await page.locator("#option-private").focus();
    await page.locator(".composer [type=submit]").click();
    await last().getByText("That's a").first().waitFor();
  });

  it("takes no name if Tab leaves a field in which nothing was typed", async () => {
    await begin("validator show");
    const field = page.locator("#option-validator");
    await page.locator(".option .offers").waitFor();
    await field.press("Tab");
    await page.locator("#option-private:focus").waitFor();
    expect(await field.inputValue()).toBe("");
  });

  it("empties the fields if another command is clicked", async () => {
    await type("help");
    const click = (command: string) => last().getByRole("button", { name: command }).first().click();
    await last().getByText("What I can do").waitFor();
    await click("/validator list");
    await page.locator("#option-private").selectOption("True");
    await click("/proposals list");
    await page.locator(".typed", { hasText: "/proposals list" }).waitFor();
    expect(await page.locator("#option-private").inputValue()).toBe("");
  });

  it("sends no number that was removed again, and none below the minimum", async () => {
    await be("Olga");
    await begin("subscribe list");
    const field = page.locator("#option-page");
    await field.fill("0");
    expect(await page.locator("#option-page:invalid").count()).toBe(1);
    await field.fill("");
    const [sent] = await Promise.all([
      page.waitForRequest((request) => request.url().includes("/act?")),
      page.locator(".composer [type=submit]").click(),
    ]);
    expect(sent.postDataJSON()).toEqual({ do: "command", command: "subscribe list", given: {} });
  });

  it("shows formatted text with its escaped characters, and adds no space", async () => {
    await go("general");
    await page.locator(".say").fill("**Onyx\\***, _Fjord_, [a\\]b](https://example.com/)");
    await page.keyboard.press("Enter");
    await last().getByText("Onyx*", { exact: true }).waitFor();
    expect(await last().locator("discord-link").innerText()).toBe("a]b");
    const gaps = await page.evaluate(`(() => {
      const [line] = [...document.querySelectorAll("discord-message .line")].slice(-1);
      return [...line.children].slice(0, 2).map((word) => {
        const text = document.createRange();
        text.selectNodeContents(word);
        return Math.round(word.getBoundingClientRect().width - text.getBoundingClientRect().width);
      });
    })()`);
    expect(gaps).toEqual([0, 0]);
  });

  it("drops a command that was begun if the next person may not use it", async () => {
    await be("Olga");
    await page.locator(".say").fill("/subscribe newcomers");
    await page.getByRole("option", { name: "/subscribe newcomers" }).waitFor();
    await page.keyboard.press("Enter");
    await page.locator("#option-channel").waitFor();
    await be("Ana");
    await page.locator("#option-channel").waitFor({ state: "detached" });
    await page.locator(".say").waitFor();
  });

  it("keeps working if a message contains an impossible time", async () => {
    await go("general");
    await page.locator(".say").fill("never <t:99999999999999999:R>");
    await page.keyboard.press("Enter");
    await last().getByText("never <t:99999999999999999:R>").waitFor();
    await type("network");
    await last().getByText("validators active").waitFor();
  });

  it("names a renamed vote request in words", async () => {
    await go("governance");
    await page.getByRole("button", { name: "Open a vote request" }).click();
    const rename = page.getByRole("button", { name: /^Rename/ }).first();
    const revised = page.locator("discord-message", { hasText: /\(revised\)/ });
    // Until the new request is listed, the first button is that of one that was never announced.
    const renameFirst = async () => {
      await rename.click();
      return revised.count();
    };
    await expect.poll(renameFirst, { interval: 1_000 }).toBeGreaterThan(0);
    expect(await page.locator("discord-message", { hasText: /SRARC_/ }).count()).toBe(0);
  });

  it("shows a private answer only to its recipient, who can dismiss it", async () => {
    await go("general");
    await type("network", { private: "True" });
    await last().getByText("Only you can see this").waitFor();
    const count = await page.locator("discord-message").count();
    await be("Ben");
    await fewerThan(count);
    await be("Ana");
    await last().getByText("Only you can see this").waitFor();
    await last().getByRole("button", { name: "Dismiss message" }).click();
    await fewerThan(count);
  });

  it("offers moderator commands only to moderators", async () => {
    await page.locator(".say").fill("/subscribe");
    await page.getByText("You have no command of that name here").waitFor();
    await be("Mo");
    await page.locator(".say").fill("/subscribe");
    await page.getByRole("option", { name: "/subscribe governance" }).waitFor();
    await go("Crier");
    await page.locator(".say").fill("/");
    await page.getByRole("option", { name: "/price" }).waitFor();
    // The server's commands may still be listed until the channel is open.
    await page.getByRole("option", { name: "/subscribe" }).first().waitFor({ state: "detached" });
  });

  it("subscribes a channel with a role, and shows a vote request from its opening to its outcome", async () => {
    const title = fresh("Feed the whales");
    await be("Olga");
    await go("general");
    await type("subscribe governance", { role: "Super validators", thread: "True" });
    await isSubscribed();
    await page.getByLabel("Title").fill(title);
    await page.getByRole("button", { name: "Open a vote request" }).click();
    const announcement = page.locator("discord-message", { hasText: `New vote request: ${title}` });
    await announcement.waitFor();
    await announcement.getByText("This would notify @Super validators").waitFor();
    await announcement.locator("discord-thread").waitFor();
    await page.getByRole("button", { name: `Vote yes on ${title}` }).click();
    await page.getByLabel(`Close ${title} as`).selectOption("Accepted");
    await page
      .locator("discord-message", { hasText: `Accepted: ${title}` })
      .getByText("Accepted")
      .first()
      .waitFor();
    await announcement
      .or(page.locator("discord-message", { hasText: title }))
      .locator("discord-thread")
      .click();
    await page.locator("discord-message", { hasText: `Accepted: ${title}` }).waitFor();
  });

  it("changes the colour of author names with the theme", async () => {
    await go("general");
    const colour = () =>
      page
        .locator("discord-message .discord-author-username")
        .first()
        .evaluate((element) => element.ownerDocument.defaultView?.getComputedStyle(element).color);
    const toggle = page.getByRole("button", { name: /^(Dark|Light)$/ });
    const before = await colour();
    await toggle.click();
    await expect.poll(colour).not.toBe(before);
    await toggle.click();
    await expect.poll(colour).toBe(before);
  });

  it("sends a command with Enter from a select field", async () => {
    await page.getByLabel("Message, or / for a command").fill("/price");
    await page.getByLabel("Message, or / for a command").press("Enter");
    await page.locator("select#option-private").press("Enter");
    await last().getByText("Canton Coin").first().waitFor();
  });

  it("creates a forum post for each vote request", async () => {
    const title = fresh("A post of its own");
    await be("Olga");
    await go("general");
    await type("subscribe governance", { channel: "vote-requests" });
    await isSubscribed();
    await page.getByLabel("Title").fill(title);
    await page.getByRole("button", { name: "Open a vote request" }).click();
    await go("vote-requests");
    const post = page.locator(".posts li", { hasText: title });
    await post.waitFor();
    expect(await post.locator("small").innerText()).toMatch(/^(1 message|[2-9] messages)$/);
    const { world, guild } = place.discord;
    const forum = [...world.channels.values()].find(({ name }) => name === "vote-requests");
    const long = { type: 11, guild_id: guild.id, name: "W".repeat(100), parent_id: forum?.id ?? null };
    const { id } = world.addChannel(long);
    await page.setViewportSize({ width: 360, height: 740 });
    await page.locator(".posts").getByRole("button", { name: long.name }).waitFor();
    expect(await page.evaluate("document.querySelector('.posts').scrollWidth")).toBe(360);
    world.channels.delete(id);
    await post.getByRole("button").click();
    await last().getByText("New vote request").first().waitFor();
  });

  it("can stop and start the bot, and slow down the explorer", async () => {
    await go("general");
    await page.getByRole("button", { name: "Stop it" }).click();
    await page.getByText("Crier is stopped").waitFor();
    await type("price");
    await page.getByText("The application did not respond").waitFor();
    // Let an hour pass without the bot, as the README suggests.
    await page.getByRole("button", { name: "1 hour on" }).click();
    await page.getByText(/h ahead\)/).waitFor();
    await page.getByRole("button", { name: "Start it" }).click();
    await page.getByText("Crier is running").waitFor();
    await page.getByLabel("How the explorer behaves").selectOption("slow");
    await type("update list");
    await page.getByText("Crier is thinking…").waitFor();
    await last().getByText("Updates, newest first").first().waitFor();
    await page.getByLabel("How the explorer behaves").selectOption("well");
  });

  it("starts a bot that is still ending, and shows that it has ended by itself", async () => {
    await go("general");
    await page.getByLabel("How the explorer behaves").selectOption("slow");
    await type("contract list");
    await page.getByText("Crier is thinking…").waitFor();
    await Promise.all([served.runBot(false), served.runBot(true)]);
    await page.getByLabel("How the explorer behaves").selectOption("well");
    place.bot().child.kill("SIGKILL");
    await page.getByText("Crier is stopped").waitFor();
    await page.getByRole("button", { name: "Start it" }).click();
    await page.getByText("Crier is running").waitFor();
  });

  it("advances the bot's clock too", async () => {
    await go("governance");
    await page.getByLabel("Title").fill("Soon over");
    await page.getByLabel("Deadline in hours").fill("30");
    await page.getByRole("button", { name: "Open a vote request" }).click();
    await page.locator("discord-message", { hasText: "New vote request: Soon over" }).waitFor();
    await page.getByRole("button", { name: "1 day on" }).click();
    await page.locator("discord-message", { hasText: "left to vote: Soon over" }).waitFor();
  });

  it("keeps the channel, person and theme after a reload, and the scroll position when a message arrives", async () => {
    await go("governance");
    await page.locator("select.viewer").selectOption({ label: "Ben (member, super validator)" });
    await page.getByRole("button", { name: "Light" }).click();
    await page.reload();
    await page.locator(".page.light").waitFor();
    expect(await page.locator("h1").textContent()).toContain("governance");
    expect(await page.locator("select.viewer option:checked").textContent()).toContain("Ben");

    await page.locator("discord-message").first().waitFor();
    const log = page.locator(".log");
    await page.setViewportSize({ width: 1_280, height: 420 });
    await log.evaluate((element) => element.scrollTo(0, 0));
    const count = await page.locator("discord-message").count();
    place.explorer.ledger.openVoteRequest({ title: "While one reads above" });
    await page.locator("discord-message").nth(count).waitFor({ state: "attached" });
    expect(await log.evaluate((element) => element.scrollTop)).toBeLessThan(50);
  });

  it("follows the answers to one's own commands while pictures load, and opens a channel at its end", async () => {
    const log = page.locator(".log");
    const gap = () =>
      log.evaluate(({ scrollHeight, scrollTop, clientHeight }) => scrollHeight - scrollTop - clientHeight);
    const toTop = () => log.evaluate((element) => element.scrollTo(0, 0));
    await page.setViewportSize({ width: 1_280, height: 560 });
    await type("price");
    await last().getByText("Canton Coin").first().waitFor();
    const count = await page.locator("discord-message").count();
    await type("network");
    await page.locator("discord-message").nth(count).waitFor({ state: "attached" });
    await expect.poll(gap).toBeLessThan(5);
    await toTop();
    await expect.poll(gap).toBeGreaterThan(200);
    await type("network");
    await last().getByText("The network").first().waitFor();
    await expect.poll(gap).toBeLessThan(5);
    await toTop();
    await go("governance");
    await expect.poll(gap).toBeLessThan(5);
  });

  it("begins a command that is typed or pasted with its options", async () => {
    const { name } = place.explorer.ledger.validators.find(({ party }) => party.name)?.party ?? {};
    await page.locator(".say").fill(`/validator show validator: ${name}`);
    const form = page.getByRole("form", { name: "/validator show" });
    await form.waitFor();
    expect(await page.locator("#option-validator").inputValue()).toBe(name);
    await form.getByRole("button", { name: "Cancel" }).click();
    await page.locator(".say").pressSequentially("/price ");
    await page.getByRole("form", { name: "/price" }).getByRole("button", { name: "Cancel" }).click();
    await page.locator(".say").fill("/validator list ");
    await page.getByRole("form", { name: "/validator list" }).waitFor();
  });

  it("gives back a message that Discord refuses", async () => {
    const long = "a".repeat(2_001);
    await page.locator(".say").fill(long);
    await page.keyboard.press("Enter");
    await page.getByText("Invalid Form Body").waitFor();
    expect(await page.locator(".say").inputValue()).toBe(long);
  });

  it("shows a notice if a person clicks a command that they may not use", async () => {
    await go("general");
    const { world, channels, people } = place.discord;
    createMessage(
      world,
      channels.general,
      { content: "Try </subscribe governance:123456789012345678>", allowed_mentions: { parse: [] } },
      { author: people.owner },
    );
    await page.getByRole("button", { name: "/subscribe governance" }).click();
    await page.getByText("Ana may not use /subscribe governance here").waitFor();
  });

  it("shows an alert with the field's name if Discord would refuse a message", async () => {
    await fetch(`${place.discord.url}/v10/channels/${place.discord.channels.general.id}/messages`, {
      method: "POST",
      headers: { authorization: `Bot ${place.discord.token}`, "content-type": "application/json" },
      body: JSON.stringify({ embeds: [{ title: "x".repeat(300) }] }),
    });
    await page
      .getByRole("alert")
      .getByText(/embeds\.0\.title/)
      .waitFor();
    place.discord.world.refusals.splice(0);
  });

  it("has no serious accessibility violation in the dark and light themes", async () => {
    await go("general");
    await type("network");
    await last().getByText("validators active").waitFor();
    expect(await axe()).toEqual([]);
    await page.getByRole("button", { name: "Light" }).click();
    await page.locator(".page.light").waitFor();
    expect(await axe()).toEqual([]);
    await page.locator(".say").fill("/val");
    expect(await axe()).toEqual([]);
  });

  it("fills in a dialog with menus and checkboxes by keyboard", async () => {
    await be("Olga");
    await type("subscribe newcomers");
    await last().getByText("Subscribed").first().waitFor();
    await type("subscribe list");
    await last().getByRole("combobox").first().click();
    await last()
      .getByRole("option", { name: /newcomers/ })
      .click();
    await last().getByRole("button", { name: "Edit" }).click();
    await page.getByLabel("Role to ping").waitFor();
    await page.getByLabel("Role to ping").selectOption({ index: 1 });
    await page.getByLabel("Publish in announcement channels").focus();
    await page.keyboard.press("Space");
    await page.keyboard.press("Space");
    expect(await axe()).toEqual([]);
    await page.keyboard.press("Enter");
    await last().getByText("Subscription changed").first().waitFor();
    expect(await last().innerText()).toContain("Pings");
  });

  it("opens a dialog from a menu, and submits it", async () => {
    await be("Olga");
    await type("setup");
    await last().getByRole("combobox").first().click();
    await last()
      .getByRole("option", { name: /^Digest/ })
      .click();
    await page.getByLabel("every day").check();
    await page.getByLabel("Channel", { exact: true }).selectOption({ label: "general" });
    await page.getByRole("button", { name: "Submit" }).click();
    await expect
      .poll(() => last().innerText(), { timeout: TIMEOUT_MS })
      .toMatch(/Subscribed: .*general.*digest/s);
  });

  it("fits a phone's screen", async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    for (const command of ["validator list", "network", "transfers", "help", "validator versions", "price"]) {
      await type(command);
      await last().getByRole("button", { name: "Refresh" }).waitFor();
      expect(await overflow(), command).toBe(0);
      const wide = await page.evaluate(
        `[...document.querySelectorAll("discord-message, discord-embed, .composer, header")].filter((element) => element.scrollWidth > element.clientWidth + 1 || element.getBoundingClientRect().right > innerWidth + 1).map((element) => element.tagName)`,
      );
      expect(wide, command).toEqual([]);
    }
    const share = () => page.evaluate("document.querySelector('.log').clientHeight / innerHeight");
    expect(await share()).toBeGreaterThan(2 / 3);
    await be("Olga");
    await page.locator(".say").fill("/subscribe governance");
    await page.getByRole("option", { name: "/subscribe governance" }).waitFor();
    await page.keyboard.press("Enter");
    await page.locator("#option-channel").waitFor();
    expect(await share()).toBeGreaterThan(2 / 3);
    expect(await overflow()).toBe(0);
    await page.keyboard.press("Escape");
    await page.locator("nav summary").click();
    await go("governance");
    await expect.poll(share, { timeout: TIMEOUT_MS }).toBeGreaterThan(2 / 3);
    await page.getByText("The world around the bot").click();
    await page.getByRole("button", { name: "Open a vote request" }).waitFor();
    expect(await overflow()).toBe(0);
  });

  it("uses another port if the usual one is taken", async () => {
    const { port } = new URL(served.url);
    const other = await makeStack({ explorer: { size: SMALL, lively: false } });
    const second = await servePage(other, { port: Number(port) });
    expect(new URL(second.url).port).not.toBe(port);
    expect((await fetch(second.url)).status).toBe(200);
    await second.close();
    await other.close();
  });

  it("shows another channel if the one on screen, or the first, is deleted", async () => {
    const other = await makeStack({ explorer: { size: SMALL, lively: false } });
    const second = await servePage(other, { port: 0 });
    const { world, guild, channels } = other.discord;
    const thread = world.addChannel({
      type: 11,
      guild_id: guild.id,
      name: "thread",
      parent_id: channels.general.id,
      thread_metadata: { archived: false, archive_timestamp: "", auto_archive_duration: 60, locked: false },
    });
    await page.goto(second.url);
    await go("general");
    await page.getByRole("button", { name: "Delete it: the channel general" }).click();
    await page.locator("header h1", { hasText: "governance" }).waitFor();
    // Discord deletes a channel's threads with it.
    expect(world.channels.has(thread.id)).toBe(false);
    await page.reload();
    await page.locator("header h1", { hasText: "governance" }).waitFor();
    await page.goto("about:blank");
    await second.close();
    await other.close();
  });

  it("refuses requests from other origins, and answers only on this machine", async () => {
    const { port } = new URL(served.url);
    const ask = (headers: Record<string, string>, path = "/turn") =>
      new Promise<number | undefined>((resolve, reject) => {
        const sent = request(
          { host: "127.0.0.1", port, path, method: path === "/turn" ? "POST" : "GET", headers },
          (response) => {
            resolve(response.statusCode);
            response.destroy();
          },
        );
        sent.on("error", reject);
        sent.end(path === "/turn" ? JSON.stringify({ do: "pass", hours: 0 }) : undefined);
      });
    const host = `127.0.0.1:${port}`;
    expect(await ask({ host, origin: "https://evil.example" })).toBe(403);
    expect(await ask({ host: "evil.example" })).toBe(403);
    expect(await ask({ host, "sec-fetch-site": "cross-site" })).toBe(403);
    expect(await ask({ host, "sec-fetch-site": "cross-site" }, "/events")).toBe(403);
    expect(await ask({ host, origin: `http://${host}` })).toBe(200);
  });
});
