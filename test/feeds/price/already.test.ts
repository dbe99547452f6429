import { expect, it } from "vitest";
import { HOUR, MINUTE } from "../../../src/util/units.js";
import { startHarness, textOf } from "../../harness.js";

it("a new alert says that the price has already moved that far, and which change rearms it", async () => {
  const harness = await startHarness({ env: () => ({ WATCH_POLL_SECONDS: "1" }) });
  const { world, guild, driver, people, channels } = harness.discord;
  const { ledger, requests } = harness.explorer;
  const channel = world.addChannel({ type: 0, guild_id: guild.id, name: "market" });
  const polls = async (count: number) => {
    const read = () => requests.filter(({ path }) => path.endsWith("get-price")).length;
    const before = read();
    await world.until(() => read() >= before + count, `${count} readings`);
  };
  ledger.setPrice(0.15);
  // A sample is stored at the start.
  await harness.restart();
  harness.pass(HOUR);
  ledger.setPrice(0.162);
  const given = { when: "moves", value: "5", over: "1h", channel: channel.id };
  const answer = await driver.ask(
    { user: people.owner, channel: channels.general },
    "/subscribe price",
    given,
  );
  expect(textOf(answer)).toMatch(
    /already moved by 5% or more\. .* after the change was back within 4% over an hour/,
  );
  // A price that is too old for alerts has not moved either.
  harness.explorer.mood = (priceAnswer, path) =>
    path.endsWith("get-price")
      ? { ...Object(priceAnswer), updateTimestamp: new Date(harness.now() - 3 * HOUR).toISOString() }
      : priceAnswer;
  harness.pass(5 * MINUTE);
  const old = await driver.ask({ user: people.ana, channel: channels.general }, "/watch price", {
    when: "moves",
    value: "5",
    over: "1h",
  });
  expect(textOf(old)).toContain("too old for alerts");
  expect(textOf(old)).not.toContain("already moved");
  // A limit is passed by an old price, too: the alert is disarmed until the price was back.
  const limit = { when: "above", value: "0.16" };
  const passed = await driver.ask({ user: people.ana, channel: channels.general }, "/watch price", limit);
  expect(textOf(passed)).toContain("already above that");
  harness.explorer.mood = undefined;
  await polls(2);
  ledger.setPrice(0.18);
  await polls(3);
  expect(world.read(channel)).toEqual([]);
  await harness.close();
});
