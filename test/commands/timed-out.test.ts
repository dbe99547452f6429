import { afterAll, beforeAll, expect, it } from "vitest";
import { PERMISSION } from "../../sandbox/discord/permissions.js";
import { type Harness, startHarness, textOf } from "../harness.js";

let harness: Harness;
const at = () => ({ user: harness.discord.people.owner, channel: harness.discord.channels.general });
const ask = (command: string, given: Record<string, string> = {}) =>
  harness.discord.driver.ask(at(), command, given);
beforeAll(async () => {
  harness = await startHarness({});
});
afterAll(() => harness.close());

it("a timeout of the bot is no lack of a permission to ping a role", async () => {
  const { world, guild } = harness.discord;
  const powers = world.addRole(guild, "Bot", BigInt(PERMISSION.mentionEveryone));
  guild.members.set(world.bot.id, [...(guild.members.get(world.bot.id) ?? []), powers.id]);
  const role = world.addRole(guild, "Voters", 0n);
  const sv = harness.explorer.ledger.superValidators[0]?.name ?? "";
  const set = async () => {
    const message = await ask("/voters set", { sv, who: role.id });
    return `${message.content} ${textOf(message)}`;
  };
  await world.until(async () => !(await set()).includes("loading"), "names");
  expect(await set()).not.toContain("can't ping");
  guild.timeouts = new Map([[world.bot.id, world.now() + 600_000]]);
  expect(await set()).not.toContain("can't ping");
});
