import { type Book, ordinaryValidator, textOf } from "./book.js";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * Writes the chapter about upgrades of the network: what a channel is told, and in private the person whose validator is behind.
 */
export async function upgrading({ place, chapter, ask, hear, page, polled, pass }: Book): Promise<void> {
  const { ledger } = place.explorer;
  const { driver, people, world } = place.discord;
  const { guild } = place.discord;
  const ops = world.addChannel({ type: 0, guild_id: guild.id, name: "ops" });
  const digests = world.addChannel({ type: 0, guild_id: guild.id, name: "digests" });
  const role = world.addRole(guild, "Operators", 0n, { mentionable: true });
  const behind = ordinaryValidator(ledger, ({ version }) => version === "0.4.15");
  const olga = { user: people.owner, channel: ops };
  const accept = async (motion: string) => {
    const request = ledger.openVoteRequest({ motion, effectiveInMs: null });
    await polled();
    await pass(MINUTE);
    ledger.decideVoteRequest(request, "Accepted");
    // The bot takes a command for late if less time passes here than in reality.
    await pass(MINUTE);
  };
  const before = async (ms: number) => {
    const { upgradeTime = "" } = ledger.upgrade.nextScheduledLogicalSynchronizerUpgrade ?? {};
    await pass(Date.parse(upgradeTime) - ms - world.now());
  };
  const hearDigest = async (title: string, pattern: RegExp) => {
    await driver.ask(olga, "/subscribe test", { channel: digests.id });
    await hear(title, digests, pattern);
  };

  chapter("Upgrades of the network", "Messages in #ops, and Ben's direct messages.");
  await ask("/subscribe upgrades", { channel: ops.id }, olga);
  const ben = { user: people.ben, channel: ops };
  const direct = world.directChannel(people.ben);
  const warnings = () =>
    world.read(direct).filter((each) => textOf(each).includes("Network upgrade in 2 days")).length;
  await ask("/watch validator", { validator: behind.party.id }, ben);
  // The alerts of this channel tell of a standstill.
  await ask("/subscribe validator", { channel: ops.id, validator: behind.party.id, role: role.id }, olga);
  await polled();
  await driver.ask(olga, "/subscribe digest", { channel: digests.id });
  await accept("upgrade");
  const scheduled = await hear("An upgrade is accepted", ops, /Network upgrade scheduled/);
  await ask("/network", {}, {}, "`/network` shows it");
  await hearDigest("A digest, too: Olga sends a test of one", /Weekly digest: network upgrade of/);
  await accept("upgrade");
  await hear("It is moved", ops, /Network upgrade moved/);
  await ask("/subscribe upgrades", { channel: ops.id, needs: "1.0.0" }, olga, "Olga names the version");
  await before(2 * DAY - MINUTE);
  await hear("Ben's validator is behind two days before", direct, /Network upgrade in .* still runs/);
  await before(2 * HOUR + DAY - MINUTE);
  await hear("A day before the freeze", ops, /freeze in 1 day/);
  await before(3 * HOUR - MINUTE);
  await hear("An hour before the freeze", ops, /freeze in 1 h/);
  await before(-MINUTE);
  await hear("Its time comes", ops, /transactions pause about now/);
  await ask("/network", {}, {}, "`/network` in the hours after it");
  await hearDigest("A digest of that time", /were due to pause/);
  for (let times = 0; times < 3; times += 1) await pass(5 * MINUTE);
  await hear("Rounds are advancing again", ops, /Rounds are advancing again/);
  await world.until(() => textOf(scheduled).includes("the scheduled time has passed"), "the edit");
  page("…and the first message, edited", scheduled);
  await accept("upgrade");
  await hear("Another is accepted", ops, /Network upgrade scheduled/);
  // Between two minutes, so that the times below are the same each time.
  await before(2 * DAY - 1.5 * MINUTE);
  await world.until(() => warnings() === 2, "the second warning");
  await accept("cancelUpgrade");
  await hear("It is cancelled", ops, /Network upgrade of .* cancelled/);
  await hear("Ben, who had been warned, is told so, too", direct, /Network upgrade of .* cancelled/);
  ledger.rounds = false;
  for (let times = 0; times < 5; times += 1) await pass(13 * MINUTE);
  ledger.addUpdate();
  const still = await hear("No round begins", ops, /The network stands still/);
  await hearDigest("A digest meanwhile", /the network stands still/);
  ledger.rounds = true;
  await pass(11 * MINUTE);
  await hear("A round begins", ops, /The network moves again/);
  await world.until(() => textOf(still).includes("stood still"), "the edit");
  page("…and the first message about it, edited", still);
}
