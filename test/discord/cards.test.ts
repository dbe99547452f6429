import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Harness, startHarness, textOf } from "../harness.js";

describe("a card", () => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await startHarness();
  });
  afterEach(() => {
    harness.explorer.mood = undefined;
    harness.explorer.clearFaults();
  });
  afterAll(async () => {
    expect(harness.discord.world.refusals).toEqual([]);
    await harness.close();
  });

  const driver = () => harness.discord.driver;
  const somebody = () => {
    const user = harness.discord.world.addUser(`Guest ${harness.discord.world.users.size}`);
    harness.discord.guild.members.set(user.id, []);
    return { user, channel: harness.discord.channels.general };
  };
  const titleOf = (message: { embeds: object[] }) => (message.embeds[0] as { title: string }).title;

  it("shows a transfer's amount, value, sender, receiver and event", async () => {
    const place = somebody();
    const message = await driver().ask(place, "/transfers");
    expect(textOf(message)).toMatch(/\*\*[\d,.]+ CC \(about \$[\d,.]+\)\*\*/);
    expect(textOf(message)).not.toContain("TRANSFER");
    const options = driver()
      .components(message)
      .find(({ options: all }) => all?.some(({ value }) => value.startsWith("transfer?")))?.options;
    await driver().choose(place, message, options?.[2]?.value ?? "");
    expect(titleOf(message)).toMatch(/^[\d,.]+ CC \(about \$[\d,.]+\)$/);
    expect(textOf(message)).toMatch(/from .+ to .+/);
    const eventId = harness.explorer.ledger.transfers[2]?.event.eventId ?? "-";
    expect(textOf(message)).toContain(eventId);
    await driver().click(place, message, "Ledger event");
    expect(textOf(message)).toContain("Update id");
    expect(textOf(message)).not.toContain("consuming");
  });

  it.each([
    ["/transfers", {}, /\*\*([\d,.]+) CC/g],
    ["/party list", {}, /-# ([\d,.]+) CC/g],
    ["/party top", {}, /\*\*([\d,.]+) CC/g],
  ] as const)("uses the same number of decimals in a column: %s", async (command, options, pattern) => {
    const text = textOf(await driver().ask(somebody(), command, options));
    const amounts = [...text.matchAll(pattern)].map(([, amount = ""]) => amount);
    expect(amounts.length).toBeGreaterThan(3);
    expect(amounts.filter((amount) => !/\.\d\d$/.test(amount))).toEqual([]);
  });

  it("shows the event, with a note, for a transfer that is no longer listed", async () => {
    const place = somebody();
    const message = await driver().ask(place, "/transfers", { order: "ASC" });
    const options = driver()
      .components(message)
      .find(({ options: all }) => all?.some(({ value }) => value.startsWith("transfer?")))?.options;
    harness.explorer.mood = (answer, path) =>
      path === "/v1/transfers" ? { ...(answer as object), content: [] } : answer;
    harness.pass(10 * 60_000);
    await driver().choose(place, message, options?.[0]?.value ?? "");
    expect(textOf(message)).toContain("this is its ledger event");
  });

  it("shows the sum of rewards with its period and value", async () => {
    const party = harness.explorer.ledger.validators[0]?.party.id ?? "";
    const text = textOf(await driver().ask(somebody(), "/party rewards", { party }));
    expect(text).toMatch(/"name":"Total","value":"\*\*[\d,.]+ CC\*\* \(about \$[\d,.]+\)/);
    expect(text).toMatch(/rewards?, since <t:\d+:f>, USD at the current price/);
    harness.explorer.injectFault({ kind: "status", status: 500 }, { path: /get-price/ });
    const other = harness.explorer.ledger.validators[1]?.party.id ?? "";
    expect(textOf(await driver().ask(somebody(), "/party rewards", { party: other }))).toMatch(
      /\*\*[\d,.]+ CC/,
    );
  });

  it("shows a party's balance and value, and says if parts could not be read", async () => {
    const own = harness.explorer.ledger.validators[2]?.party;
    if (!own) throw new Error("No validator");
    Object.assign(own, { locked: "0.0000000000", unlocked: "1234.5000000000" });
    const text = textOf(await driver().ask(somebody(), "/party show", { party: own.id }));
    expect(text.match(/1,234\.5/g)).toHaveLength(1);
    expect(text).toMatch(/about \$[\d,.]+ at the current price/);
    harness.explorer.injectFault({ kind: "status", status: 500 }, { path: /types$/ });
    const other = harness.explorer.ledger.validators[3]?.party.id ?? "";
    expect(textOf(await driver().ask(somebody(), "/party show", { party: other }))).toContain(
      "couldn't read the kind right now",
    );
  });

  it("shows a validator's verification and known traffic", async () => {
    const id = harness.explorer.ledger.validators.find(({ isSv }) => !isSv)?.party.id ?? "";
    harness.explorer.mood = (answer, path) =>
      path.startsWith("/v1/validators/:")
        ? {
            ...(answer as object),
            isVerified: true,
            isSv: false,
            trafficStatus: { actual: { total_consumed: 500 }, target: {} },
          }
        : answer;
    const text = textOf(await driver().ask(somebody(), "/validator show", { validator: id }));
    expect(text).toContain("✅ verified");
    expect(text).toContain("used 500 bytes");
    expect(text).not.toContain("unknown of");
  });

  it("shows missing network data as not known", async () => {
    harness.explorer.mood = (answer, path) =>
      path.endsWith("/dashboard")
        ? Object.fromEntries(Object.keys(answer as object).map((key) => [key, null]))
        : answer;
    harness.pass(10 * 60_000);
    const place = somebody();
    const message = await driver().ask(place, "/network");
    await driver().click(place, message, "Refresh");
    expect(textOf(message)).not.toMatch(/not known|unknown\*?\*? of|of unknown/);
    expect(textOf(message)).toContain("unknown");
  });

  it("attaches all arguments of an event as a file if there are many", async () => {
    const eventId = harness.explorer.ledger.updates[4]?.events[0]?.eventId ?? "";
    const long = Object.fromEntries(
      Array.from({ length: 80 }, (_, place) => [`someField${place}`, "x".repeat(30)]),
    );
    harness.explorer.mood = (answer, path) =>
      path.includes("/events/") ? { ...(answer as object), choiceArgument: JSON.stringify(long) } : answer;
    const message = await driver().ask(somebody(), "/event show", { event: eventId });
    expect(message.attachments[0]?.filename).toMatch(/^event-.*\.json$/);
    const { body } = harness.discord.world.files.get(message.attachments[0]?.id ?? "") ?? {};
    expect(JSON.parse(body?.toString() ?? "").arguments).toEqual(long);
    expect(textOf(message)).toContain("some field0: x");
  });

  it("lists vote requests by their summaries, in the rows and the menu", async () => {
    const request = harness.explorer.ledger.openVoteRequest({ motion: "weight" });
    harness.pass(10 * 60_000);
    const place = somebody();
    const list = await driver().ask(place, "/proposals list");
    await driver().click(place, list, "Refresh");
    expect(textOf(list)).toMatch(/\*\*Reward weight of .+ → \d+\*\*/);
    expect(textOf(list)).not.toMatch(
      /\*\*(Feature Application|Offboard Super Validator|Set .* Configuration)\*\*/,
    );
    const labels = driver()
      .components(list)
      .flatMap(({ options = [] }) => options.map(({ label }) => label));
    const titles = [...textOf(list).matchAll(/ · \*\*(\D[^*]*)\*\*/g)].map(([, title]) => title);
    expect(titles).toContainEqual(expect.stringMatching(/^Reward weight of .+ → \d+$/));
    expect(labels.slice(0, titles.length)).toEqual(titles);
    expect(request.title).toBe("SRARC_UpdateSvRewardWeight");
  });

  it("says if a vote request's details could not be read", async () => {
    const request = harness.explorer.ledger.openVoteRequest({ motion: "feature" });
    // Withhold only this endpoint with a 403. Server errors would open the circuit breaker for the list too.
    harness.explorer.injectFault({ kind: "status", status: 403 }, { path: /details$/ });
    harness.pass(10 * 60_000);
    let text = "";
    // The bot's clock changes a moment later. Until then, the bot uses the cached list.
    await harness.discord.world.until(async () => {
      text = textOf(await driver().ask(somebody(), "/proposals show", { proposal: request.firstContractId }));
      return text.includes("I couldn't read the details right now");
    }, "the row of the list");
    expect(text).toMatch(/opened <t:\d+:f>/);
  });

  it("calls no price current that has not changed for hours", async () => {
    const { ledger } = harness.explorer;
    ledger.priceAt = harness.now() - 3 * 3_600_000;
    harness.pass(6 * 60_000);
    const party = ledger.validators[2]?.party.id ?? "";
    await expect
      .poll(async () => textOf(await driver().ask(somebody(), "/party show", { party })))
      .not.toContain("at the current price");
  });
});
