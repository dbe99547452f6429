import { afterAll, beforeAll, expect, it } from "vitest";
import { givePrices } from "../../sandbox/history.js";
import { alertOps, announce, keptStructures, makePictureStack, structureOf } from "../../sandbox/pictures.js";
import type { Stack } from "../../sandbox/stack.js";

/** Checks that the pictures in the documents match the bot. If this fails, update them with `npm run screenshots`. */
let place: Stack;
beforeAll(async () => {
  place = await makePictureStack();
  givePrices(place.dataDir, { prices: place.explorer.ledger.price });
  await place.start();
});
afterAll(() => place.close());

it("pictures in the documents are up to date", async () => {
  const { driver, people, channels } = place.discord;
  const ana = { user: people.ana, channel: channels.general };
  const offered = () => driver.complete(ana, "/validator show", "validator", { validator: "quartz" });
  await expect.poll(async () => (await offered())[0]?.name).toMatch(/quartz/i);
  const validator = String((await offered())[0]?.value);
  const shown = {
    answer: structureOf(await driver.ask(ana, "/validator show", { validator })),
    list: structureOf(await driver.ask(ana, "/validator list")),
    chart: structureOf(await driver.ask(ana, "/price")),
    announcement: structureOf(await announce(place)),
    alert: structureOf(await alertOps(place)),
  };
  expect(shown).toEqual(keptStructures());
});
