import { expect, it } from "vitest";
import { USUAL } from "../../sandbox/discord/permissions.js";
import { startHarness, textOf } from "../harness.js";

const CHANNELS = Number(process.env.PACE_CHANNELS ?? 150);

// Retried, because on a busy machine requests arrive in bunches and the result means nothing.
it(`announces to ${CHANNELS} channels just under Discord's rate limit, without delaying a small server or commands`, {
  retry: 2,
}, async () => {
  const harness = await startHarness({
    env: () => ({ GOVERNANCE_POLL_SECONDS: "1", SUBSCRIPTIONS_PER_SERVER: "10000" }),
  });
  const { discord } = harness;
  const { world, limits, driver } = discord;
  const owner = { user: discord.people.owner, channel: discord.channels.general };
  const channels = Array.from({ length: CHANNELS }, (_, at) =>
    world.addChannel({ type: 0, guild_id: discord.guild.id, name: `channel-${at}` }),
  );
  limits.enforced = false;
  for (const channel of channels) await driver.ask(owner, "/subscribe governance", { channel: channel.id });
  const small = world.addGuild("Small server", discord.people.owner, USUAL);
  small.members.set(world.bot.id, []);
  const alone = world.addChannel({ type: 0, guild_id: small.id, name: "alone" });
  await driver.ask({ ...owner, channel: alone }, "/subscribe governance");
  channels.push(alone);
  limits.enforced = true;

  harness.explorer.ledger.openVoteRequest({ title: "For all" });
  const told = () => channels.filter((channel) => world.read(channel).length > 0).length;
  await world.until(() => told() > 0, "the first announcement");
  const before = discord.requests.length;
  let answered = 0;
  while (told() < channels.length) {
    await driver.ask(owner, "/price");
    answered += 1;
  }
  // About one request per delivery, and none over the rate limit.
  const posts = discord.requests
    .slice(before)
    .filter(({ method, path }) => method === "POST" && /^\/channels/.test(path));
  expect(posts.length).toBeLessThanOrEqual(CHANNELS * 1.1);
  expect(limits.refused).toBe(0);
  // If commands waited behind the announcements, almost none would be answered meanwhile.
  expect(answered).toBeGreaterThan(20);
  expect(
    channels.every(
      (channel) => world.read(channel).filter((each) => textOf(each).includes("For all")).length === 1,
    ),
  ).toBe(true);
  // The small server gets its turn early, however many channels the other server has.
  const sentAt = (channel: (typeof channels)[number]) => BigInt(world.read(channel).at(-1)?.id ?? 0);
  expect(channels.filter((channel) => sentAt(channel) < sentAt(alone)).length).toBeLessThan(10);
  await harness.close();
});
