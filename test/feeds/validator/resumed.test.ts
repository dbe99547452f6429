import { expect, it } from "vitest";
import { HOUR, MINUTE } from "../../../src/util/units.js";
import { startHarness, textOf } from "../../harness.js";

it("a silence that a paused person hears of late is told once, with its age", async () => {
  const harness = await startHarness({ env: () => ({ WATCH_POLL_SECONDS: "1" }) });
  const { world, driver, people, channels } = harness.discord;
  const { ledger, requests } = harness.explorer;
  const { ben } = people;
  const watched = ledger.validators.find(({ isSv, party }) => !isSv && party.name);
  const pass = (ms: number) => {
    harness.pass(ms);
    for (const each of ledger.validators) if (each !== watched) ledger.setValidatorActive(each, true);
  };
  const polls = async (count: number) => {
    const read = () => requests.filter(({ path }) => path.endsWith("/validators")).length;
    const before = read();
    await world.until(() => read() >= before + count, `${count} readings`);
  };
  const watch = () =>
    driver.ask({ user: ben, channel: channels.general }, "/watch validator", {
      validator: watched?.party.id ?? "",
    });
  expect(textOf(await watch())).toContain("Watching");
  await polls(2);
  world.refusing.add(ben.id);
  pass(50 * MINUTE);
  const list = async () => textOf(await driver.ask({ user: ben, channel: channels.general }, "/watch list"));
  await expect.poll(list).toContain("paused**");
  pass(7 * HOUR);
  world.refusing.delete(ben.id);
  // Another watch opens their direct messages again.
  await driver.ask({ user: ben, channel: channels.general }, "/watch price", { when: "above", value: "9" });
  const told = () => world.read(world.directChannel(ben)).filter((each) => /no report/.test(textOf(each)));
  await world.until(() => told().length > 0, "the alert");
  await polls(3);
  expect(told().map(({ notified }) => notified)).toEqual([
    expect.stringMatching(/^🔴 .*: no report for [78] h/),
  ]);
  expect(textOf(told()[0] ?? { content: "", embeds: [] })).toContain("Last report");
  await harness.close();
});

it("a person who was paused is not told that a validator is still silent once it is back", async () => {
  const harness = await startHarness({ env: () => ({ WATCH_POLL_SECONDS: "1" }) });
  const { world, driver, people, channels } = harness.discord;
  const { ledger, requests } = harness.explorer;
  const { ben } = people;
  const watched = ledger.validators.find(({ isSv, party }) => !isSv && party.name);
  if (!watched) throw new Error("No validator");
  const silent = new Set([watched]);
  const pass = async (ms: number) => {
    await harness.pass(ms);
    for (const each of ledger.validators) if (!silent.has(each)) ledger.setValidatorActive(each, true);
  };
  const polls = async (count: number) => {
    const read = () => requests.filter(({ path }) => path.endsWith("/validators")).length;
    const before = read();
    await world.until(() => read() >= before + count, `${count} readings`);
  };
  const here = { user: ben, channel: channels.general };
  await driver.ask(here, "/watch validator", { validator: watched.party.id });
  await polls(2);
  await pass(50 * MINUTE);
  const told = () => world.read(world.directChannel(ben)).map(({ notified }) => notified);
  await expect.poll(told).toContainEqual(expect.stringMatching(/no report/));
  world.refusing.add(ben.id);
  await pass(5.5 * HOUR);
  await expect.poll(async () => textOf(await driver.ask(here, "/watch list"))).toContain("paused**");
  silent.clear();
  await pass(HOUR);
  world.refusing.delete(ben.id);
  const before = told().length;
  await driver.ask(here, "/watch price", { when: "above", value: "9" });
  await expect.poll(told).toContainEqual(expect.stringMatching(/Back/));
  expect(told().slice(before).join()).not.toMatch(/Still silent/);
  await harness.close();
});
