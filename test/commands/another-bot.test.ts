import { afterAll, beforeAll, expect, it } from "vitest";
import { DiscordError } from "../../sandbox/discord/errors.js";
import { type Harness, startHarness, textOf } from "../harness.js";

let harness: Harness;
const world = () => harness.discord.world;
const ana = () => harness.discord.people.ana;
const place = () => ({ user: ana(), channel: harness.discord.channels.general });
const ask = (command: string, given: Record<string, string> = {}) =>
  harness.discord.driver.ask(place(), command, given);

beforeAll(async () => {
  harness = await startHarness({ env: () => ({ WATCH_POLL_SECONDS: "1" }) });
});
afterAll(() => harness.close());

it("watches that are set again after /watch forget reach their person, if the token is that of another bot now", async () => {
  const { ledger } = harness.explorer;
  const above = (factor: number) => ({ when: "above", value: (ledger.price * factor).toFixed(4) });
  await ask("/watch price", above(1.1));
  await ask("/watch price", above(1.3));
  const former = world().directChannel(ana());
  await harness.bot().stop();
  // Each bot has its own channel with a person, and no access to that of another bot.
  former.recipients = [];
  harness.discord.trap({
    method: "POST",
    path: new RegExp(`^/channels/${former.id}/messages`),
    times: Number.POSITIVE_INFINITY,
    error: new DiscordError(403, 50_001, "Missing Access"),
  });
  await harness.start();
  const current = () => world().read(world().directChannel(ana())).map(textOf);
  ledger.setPrice(ledger.price * 1.2);
  await world().until(() => harness.bot().output().includes("A delivery failed"), "a failed delivery");
  await expect.poll(async () => textOf(await ask("/watch list"))).toContain("Everything is paused");

  await ask("/watch forget");
  await ask("/watch price", above(1.05));
  ledger.setPrice(ledger.price * 1.1);
  await expect.poll(current).toContainEqual(expect.stringContaining("rose above"));
});
