import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Message } from "../../sandbox/discord/world.js";
import { type Harness, startHarness, textOf } from "../harness.js";

/** Lists that the background work reads after a start */
const LISTS = ["/v1/validators", "/v1/parties", "/v1/parties/top", "/v1/governance/vote-requests"];

/** Commands for server managers only */
const forManagers: ReadonlySet<string> = new Set(["setup", "subscribe", "voters"]);

describe("a newcomer exploring the ledger", () => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await startHarness();
    await listsAreRead();
  });
  afterEach(() => {
    harness.explorer.clearFaults();
    harness.explorer.mood = undefined;
    expect(harness.discord.world.refusals.splice(0)).toEqual([]);
  });
  afterAll(() => harness.close());

  const driver = () => harness.discord.driver;
  /** Creates a person who has used no requests yet. The limit is twenty a minute. */
  const somebody = () => {
    const user = harness.discord.world.addUser(`Guest ${harness.discord.world.users.size}`);
    harness.discord.guild.members.set(user.id, []);
    return { user, channel: harness.discord.channels.general };
  };
  const offered = async (command: string, option: string, text: string) =>
    (await driver().complete(somebody(), command, option, { [option]: text })).map(({ name }) => name);
  const titleOf = (message: Message) =>
    (message.embeds[0] as { title: string } | undefined)?.title ?? message.content;
  async function listsAreRead() {
    const { world } = harness.discord;
    await world.until(
      () => LISTS.every((list) => harness.explorer.requests.some(({ path }) => path === list)),
      "the lists to be read",
    );
    for (;;) {
      const names = await offered("/party show", "party", "");
      if (names.length > 1) return;
    }
  }

  it("gets from the price to the rewards of a validator's sponsor without typing an id", async () => {
    const place = somebody();
    const message = await driver().ask(place, "/price");
    await driver().choose(place, message, "Validators");
    const rows = driver()
      .components(message)
      .find((each) => each.options?.some(({ value }) => value.startsWith("validator?")))?.options;
    for (const { value } of rows ?? []) {
      await driver().choose(place, message, value);
      if (
        driver()
          .components(message)
          .some(({ label }) => label === "Sponsor")
      )
        break;
      await driver().click(place, message, "Back");
    }
    const validator = harness.explorer.ledger.validators.find((each) =>
      textOf(message).includes(each.party.id),
    );
    await driver().click(place, message, "Sponsor");
    await driver().click(place, message, "Rewards");
    expect(titleOf(message)).toContain(`Rewards of ${validator?.sponsor.name}`);
    await driver().choose(place, message, "CC");
    await driver().click(place, message, "Update");
    expect(titleOf(message)).toContain("Update");
  });

  it("sees the state of the network at a glance", async () => {
    const text = textOf(await driver().ask(somebody(), "/network"));
    expect(text).toMatch(/\*\*\d+\*\* of 45 validators active/);
    expect(text).toContain("**3.42** transactions per second");
    // The explorer reports changes too, without saying in which unit.
    expect(text).not.toMatch(/0\.0021/);
  });

  it("gets an update's details as a file, which is removed on other screens", async () => {
    const place = somebody();
    const update = harness.explorer.ledger.updates[0];
    const message = await driver().ask(place, "/update show", { update: update?.updateId ?? "" });
    const [file] = message.attachments;
    expect(file?.filename).toBe(`update-${update?.updateId}.json`);
    const content = harness.discord.world.files.get(file?.id ?? "")?.body.toString() ?? "";
    const { events_by_id } = JSON.parse(content) as { events_by_id: object };
    expect(Object.keys(events_by_id)).toEqual(update?.events.map(({ eventId }) => eventId));
    await driver().choose(place, message, "created");
    expect(message.attachments).toEqual([]);
    await driver().click(place, message, "Back to the update");
    expect(message.attachments).toHaveLength(1);
  });

  it("sees the running versions as a chart with alt text", async () => {
    const message = await driver().ask(somebody(), "/validator versions");
    expect(message.attachments[0]?.content_type).toBe("image/png");
    expect(message.attachments[0]?.description).toMatch(/0\.4\.16: \d+/);
    expect((message.embeds[0] as { image: { url: string } }).image.url).toContain("versions.png");
    const { ledger } = harness.explorer;
    const old = ledger.validators.find((each) => each.version < "0.4.16")?.party.id ?? "";
    expect(textOf(await driver().ask(somebody(), "/validator show", { validator: old }))).toMatch(
      /\d versions? behind `[\d.]+`, which most run/,
    );
    const place = somebody();
    const again = await driver().ask(place, "/validator versions");
    await driver().choose(place, again, "0.4.16");
    expect(titleOf(again)).toBe("Active validators on 0.4.16");
    const rows = textOf(again).match(/`0\.4\.16`/g)?.length ?? 0;
    expect(rows).toBeGreaterThan(0);
    expect(textOf(again)).not.toMatch(/`0\.4\.1[0-5]`/);
  });

  it("sees the same counts in the chart of versions as in its text", async () => {
    const show = async () => {
      const [attachment] = (await driver().ask(somebody(), "/validator versions")).attachments;
      const picture = harness.discord.world.files.get(attachment?.url.split("/").at(-2) ?? "")?.body;
      return { words: attachment?.description ?? "", picture };
    };
    const before = await show();
    const { validators } = harness.explorer.ledger;
    // One that no test has opened, because an answer in the cache teaches nothing.
    const upgraded = validators.findLast((each) => each.active && each.version < "0.4.16");
    if (!upgraded) throw new RangeError("No active validator has an older version");
    upgraded.version = "0.4.16";
    // Between two readings of the list, the bot learns from other answers.
    await harness.discord.world.until(async () => {
      await driver().ask(somebody(), "/validator show", { validator: upgraded.party.id });
      return (await show()).words !== before.words;
    }, "a new count");
    const after = await show();
    expect(before.picture?.length).toBeGreaterThan(0);
    expect(after.picture?.equals(before.picture ?? Buffer.alloc(0))).toBe(false);
  });

  it("sees silent and outdated validators and the versions first", async () => {
    const place = somebody();
    const message = await driver().ask(place, "/validator list");
    const text = textOf(message);
    expect(text).toMatch(/\*\*\d+\*\* of \d+ active · 🔴 \*\*\d+\*\* inactive/);
    const silent = harness.explorer.ledger.validators.filter(({ active }) => !active);
    const [latest] = silent.toSorted((a, b) => b.lastActiveAt - a.lastActiveAt);
    expect(text).toMatch(/Recently silent/);
    expect(text.indexOf(latest?.party.id.slice(-4) ?? "-")).toBeGreaterThan(0);
    expect(text).toMatch(/By version.*0\.4\.16.*most common|By version.*most common/);
    await driver().click(place, message, "Outdated");
    expect(titleOf(message)).toBe("Validators: outdated");
    await driver().choose(place, message, "Least recently seen");
    expect(titleOf(message)).toBe("Validators: least recently seen");
    const plain = await driver().ask(place, "/validator list", { status: "ALL", order: "DESC" });
    expect(titleOf(plain)).toBe("Validators: most recently seen");
  });

  it("sees if a validator without details exists, and is not told that it is missing if the check fails", async () => {
    const { party } = harness.explorer.ledger.validators[40] ?? {};
    const path = new RegExp(`${encodeURIComponent(party?.id ?? "")}$`);
    harness.explorer.injectFault({ kind: "status", status: 404 }, { path });
    const message = await driver().ask(somebody(), "/validator show", { validator: party?.id ?? "" });
    expect(textOf(message)).toContain("This validator exists");
    harness.explorer.injectFault({ kind: "body", body: '"perhaps"' }, { path: /exist$/ });
    const other = await driver().ask(somebody(), "/validator show", {
      validator: `ghost::1220${"e".repeat(64)}`,
    });
    expect(other.content).not.toContain("Can't find a validator with that id");
  });

  it("opens any pasted id, link or name with /lookup", async () => {
    const { ledger } = harness.explorer;
    const validator = ledger.validators[7]?.party.id ?? "";
    const plain =
      ledger.parties.find((each) => !ledger.validators.some(({ party }) => party === each))?.id ?? "";
    const [update] = ledger.updates;
    const request = ledger.voteRequests[3];
    const contract = ledger.contracts[5]?.contractId ?? "";
    const cases: readonly (readonly [string, string])[] = [
      [` "${validator}", `, "That's a validator"],
      [`\`${plain}\``, "That's a party"],
      [`https://scan.example/parties/${encodeURIComponent(plain)}?tab=1`, "That's a party"],
      [`[this](https://scan.example/#/tx/${update?.updateId})`, "That's a ledger update"],
      [
        `<https://scan.example/events/${encodeURIComponent(update?.events[1]?.eventId ?? "")}>`,
        "ledger event",
      ],
      [contract, "That's a contract"],
      [ledger.tokens[0]?.contractId ?? "", "That's a token"],
      [request?.contractId ?? "", "That's a vote request"],
      [request?.firstContractId ?? "", "That's a vote request"],
      [plain.replace(/(::1220..).*(....)$/, "$1…$2"), "That's a party"],
      [plain.replace(/[^:]+$/, (hex) => hex.toUpperCase()), "That's a party"],
      [(update?.updateId ?? "").toUpperCase(), "That's a ledger update"],
      [`#${update?.events[1]?.eventId}`, "ledger event"],
      [`0x${contract}`, "That's a contract"],
    ];
    for (const [id, expected] of cases)
      expect(textOf(await driver().ask(somebody(), "/lookup", { id })), id).toContain(expected);
    const unknown = await driver().ask(somebody(), "/lookup", { id: "certainly nothing" });
    expect(unknown.content).toMatch(/^Can't find that/);
    expect(unknown.visibleTo).toBeDefined();
    const [, fingerprint = ""] = validator.split("::");
    const shown = `${ledger.validators[7]?.party.name} ${fingerprint.slice(0, 6)}…${fingerprint.slice(-4)}`;
    for (const typed of [fingerprint, fingerprint.toUpperCase(), shown, shown.replace(/ (?=1220)/, " · ")])
      expect(
        textOf(await driver().ask(somebody(), "/validator show", { validator: typed })),
        typed,
      ).toContain(validator);
    const event = update?.events[0]?.eventId ?? "";
    const opened = await driver().ask(somebody(), "/update show", { update: event });
    expect(textOf(opened)).toContain(update?.updateId ?? "none");
    const word = validator.split("-")[0] ?? "";
    for (const [id, words] of [
      ["ab", "Type at least 3 characters"],
      ["https://discord.com/channels/1574727241080766465/1574727241080766472", "a Discord id or link"],
      ["https://discord.gg/global", "a Discord id or link"],
      ["<@1574727241080766465>", "a Discord id or link"],
      ["<#1574727241080766472>", "a Discord id or link"],
    ] as const)
      expect(textOf(await driver().ask(somebody(), "/lookup", { id }))).toContain(words);
    const many = await driver().ask(somebody(), "/lookup", { id: word });
    expect(textOf(many)).toMatch(/Which one|That's/);
  });

  it("gets an error, and is not told that an id is unknown, while the explorer does not answer", async () => {
    harness.explorer.injectFault({ kind: "status", status: 400 }, { path: /tokens|vote-requests/ });
    harness.explorer.injectFault({ kind: "html" }, { path: /contracts/ });
    const answer = await driver().ask(somebody(), "/lookup", { id: `00${"c".repeat(136)}` });
    expect(answer.content).toContain("can't read");
  });

  it("gets suggestions from memory, even for typos, and each of them opens", async () => {
    const { ledger } = harness.explorer;
    const named = ledger.validators.find((each) => each.party.name && each.active);
    const name = named?.party.name ?? "";
    const before = harness.explorer.requests.length;
    const choices = await driver().complete(somebody(), "/validator show", "validator", {
      validator: name.slice(0, -2),
    });
    expect(choices[0]?.name).toContain("🟢");
    expect(choices.some((choice) => choice.name.includes(name))).toBe(true);
    expect((await offered("/lookup", "id", name.replace(/(.)(.)/, "$2$1"))).join()).toContain(name);
    expect((await offered("/proposals show", "proposal", "")).length).toBe(25);
    expect(await offered("/party show", "party", "no such name at all")).toEqual([
      expect.stringContaining("No match. You can also"),
    ]);
    // For an unknown complete id, the suggestion is the id itself, uncut.
    const whole = harness.explorer.ledger.contracts[9]?.contractId ?? "";
    const [echo] = await driver().complete(somebody(), "/lookup", "id", { id: whole });
    expect(harness.explorer.requests.length).toBe(before);
    const found = await driver().ask(somebody(), "/lookup", { id: String(echo?.value ?? "") });
    expect(textOf(found)).toContain("That's a contract");
    const chosen = choices.find((choice) => choice.name.includes(name));
    const opened = await driver().ask(somebody(), "/validator show", {
      validator: String(chosen?.value ?? ""),
    });
    expect(titleOf(opened)).toBe(name);
  });

  it("gets suggestions that match what a screen has just shown", async () => {
    const { ledger } = harness.explorer;
    const silent = ledger.validators.filter((each) => each.party.name && each.active)[3];
    const request = ledger.openVoteRequest({ title: "Closed behind the list", motion: "feature" });
    if (!silent) throw new Error("Too few validators.");
    const show = (what: "validator" | "proposals", option: string, id: string) =>
      driver().ask(somebody(), `/${what} show`, { [option]: id });
    const offer = async (what: "validator" | "proposals", option: string, text: string) =>
      (await offered(`/${what} show`, option, text)).find((name) => name.includes(text));
    const name = silent.party.name ?? "";
    expect(await offer("validator", "validator", name)).toContain("🟢");
    const reported = silent.lastActiveAt;
    silent.lastActiveAt = Date.now() - 5 * 3_600_000;
    await harness.discord.world.until(async () => {
      harness.pass(10 * 60_000);
      return /🔴/.test(textOf(await show("validator", "validator", silent.party.id)));
    }, "the silent validator on its screen");
    expect(await offer("validator", "validator", name)).toContain("🔴");
    silent.lastActiveAt = reported;

    await show("proposals", "proposal", request.firstContractId);
    ledger.closeVoteRequest(request, "Rejected");
    await harness.discord.world.until(async () => {
      harness.pass(60_000);
      return /Rejected/.test(textOf(await show("proposals", "proposal", request.firstContractId)));
    }, "the outcome on its screen");
    expect(await offer("proposals", "proposal", "Closed behind the list")).toMatch(/^▫️ .*Rejected$/);
  });

  it("finds a token by its name after someone has opened it", async () => {
    const token = harness.explorer.ledger.tokens[1];
    await driver().ask(somebody(), "/token show", { contract: token?.contractId ?? "" });
    expect((await offered("/token show", "contract", token?.name.slice(0, 4) ?? "")).join()).toContain(
      token?.name,
    );
  });

  it("gets stored suggestions after a restart without the explorer", async () => {
    const { world } = harness.discord;
    harness.explorer.injectFault({ kind: "status", status: 500 });
    await harness.restart();
    await world.until(async () => true, "a turn");
    const name = harness.explorer.ledger.validators.find((each) => each.party.name)?.party.name ?? "";
    for (;;) {
      const names = await offered("/validator show", "validator", name);
      if (!names.join().includes("still loading")) {
        expect(names.join()).toContain(name);
        break;
      }
    }
    expect((await offered("/token show", "contract", "")).join()).toContain("Coin");
  });

  it("finds every command in /help as a clickable mention", async () => {
    const { people, channels } = harness.discord;
    const owner = { user: people.owner, channel: channels.general };
    const forOwner = await driver().ask(owner, "/help");
    expect(forOwner.visibleTo).toBe(people.owner.id);
    expect(textOf(forOwner)).toMatch(/Set up this server:\*\* <\/setup:\d+>/);
    const place = somebody();
    const answer = await driver().ask(place, "/help");
    expect(textOf(answer)).not.toMatch(/subscribe|127\.0\.0\.1/);
    const groups =
      driver()
        .components(answer)
        .find(({ type }) => type === 3)?.options ?? [];
    let text = "";
    for (const { label } of groups) text += textOf(await driver().choose(place, answer, label));
    expect(text).not.toContain("subscribe");
    for (const command of driver().commandsIn(harness.discord.channels.general)) {
      if (forManagers.has(command.name)) continue;
      expect(text).toMatch(new RegExp(`</${command.name}( \\w+)?:${command.id}>`));
    }
  });

  it("can use every read-only command in direct messages and as a user-installed app", async () => {
    const { world, channels } = harness.discord;
    const { ana } = harness.discord.people;
    const direct = { user: ana, channel: world.directChannel(ana) };
    expect(textOf(await driver().ask(direct, "/network"))).toContain("validators active");
    for (const command of driver().commandsIn(channels.general)) {
      const { contexts, integration_types } = command;
      expect(contexts, command.name).toEqual(forManagers.has(command.name) ? [0] : [0, 1, 2]);
      expect(integration_types, command.name).toEqual(forManagers.has(command.name) ? [0] : [0, 1]);
    }
  });
});

describe("the price chart", () => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await startHarness();
  });
  afterAll(() => harness.close());

  it("appears once there are samples, with the time when watching began", async () => {
    const { driver, people, channels, world } = harness.discord;
    const place = { user: people.ana, channel: channels.general };
    const first = await driver.ask(place, "/price");
    expect(textOf(first)).toMatch(/track/);
    expect(first.attachments).toEqual([]);
    const sent = () => harness.explorer.requests.filter(({ path }) => path.endsWith("get-price")).length;
    for (let at = 0; at < 4; at += 1) {
      const before = sent();
      harness.explorer.ledger.setPrice(0.1 + at / 100);
      await harness.restart();
      await world.until(() => sent() > before, "a sample");
      harness.pass(40 * 60_000);
    }
    const place2 = { user: people.ben, channel: channels.general };
    let message: Message = first;
    // The last answer has been sent, but the bot may not have recorded it yet.
    await expect
      .poll(async () => {
        message = await driver.ask(place2, "/price");
        return message.attachments[0]?.filename;
      })
      .toBe("price-1d.png");
    expect(message.attachments[0]?.description).toMatch(/The price of one CC over 24 hours: from 0.1/);
    expect(textOf(message)).toContain("tracked the price since");
    await driver.click(place2, message, "7 days");
    expect(message.attachments.map(({ filename }) => filename)).toEqual(["price-7d.png"]);
    await driver.click(place2, message, "30 days");
    // 30 days use one sample per two hours. Depending on the time, there are two or three.
    const drawn = message.attachments.map(({ filename }) => filename);
    if (drawn.length > 0) expect(drawn).toEqual(["price-30d.png"]);
    else expect(textOf(message)).toContain("The chart appears once there's enough data");
  });
});
