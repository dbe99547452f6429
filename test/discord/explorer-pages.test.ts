import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPages } from "../../src/discord/pages.js";
import { type Harness, startHarness } from "../harness.js";

const patterns = {
  update: "https://scan.example/update/{id}",
  event: "https://scan.example/event/{id}?of={id}",
  party: undefined,
  validator: undefined,
  contract: "https://scan.example/contract/{id}",
  proposal: undefined,
};

describe("links to the web explorer", () => {
  it.each([
    ["update", "1220ab", "https://scan.example/update/1220ab"],
    ["event", "1220ab:0", "https://scan.example/event/1220ab%3A0?of=1220ab%3A0"],
    ["contract", "../../$& evil?#", "https://scan.example/contract/..%2F..%2F%24%26%20evil%3F%23"],
    ["party", "a::1220", undefined],
    ["contract", "x".repeat(500), undefined],
  ] as const)("for the %s %s: %s", (kind, id, url) => {
    expect(createPages(patterns)({ kind, id })).toBe(url);
  });
});

describe("a card", () => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await startHarness({
      env: () => ({
        EXPLORER_LINK_UPDATE: "https://scan.example/update/{id}",
        EXPLORER_LINK_PROPOSAL: "https://scan.example/vote/{id}",
      }),
    });
  });
  afterAll(async () => {
    expect(harness.discord.world.refusals).toEqual([]);
    await harness.close();
  });

  const place = () => ({ user: harness.discord.people.ana, channel: harness.discord.channels.general });
  const urlsOf = async (command: string, given: Record<string, string>) => {
    const message = await harness.discord.driver.ask(place(), command, given);
    return harness.discord.driver.components(message).flatMap(({ url }) => url ?? []);
  };

  it("has a button to its web page only if a link is configured", async () => {
    const { updates, voteRequests, validators } = harness.explorer.ledger;
    const update = updates[0]?.updateId ?? "";
    expect(await urlsOf("/update show", { update })).toEqual([`https://scan.example/update/${update}`]);
    const proposal = voteRequests[0]?.firstContractId ?? "";
    expect(await urlsOf("/proposals show", { proposal })).toEqual([`https://scan.example/vote/${proposal}`]);
    expect(await urlsOf("/validator show", { validator: validators[0]?.party.id ?? "" })).toEqual([]);
    expect(await urlsOf("/update list", {})).toEqual([]);
  });

  it("names the destination of Back, and shows commands as clickable mentions", async () => {
    const { driver } = harness.discord;
    const validator = harness.explorer.ledger.validators[0]?.party.id ?? "";
    const message = await driver.ask(place(), "/validator show", { validator });
    expect(driver.find(message, "b").label).toBe("Back to validators");
    await driver.click(place(), message, "Party");
    expect(driver.find(message, "b").label).toBe("Back to the validator");
    const nobody = await driver.ask(place(), "/party show", { party: "nobody at all" });
    expect(nobody.content).toMatch(/<\/party list:\d+> shows some/);
  });
});
