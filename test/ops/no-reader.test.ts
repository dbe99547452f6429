import { expect, it } from "vitest";
import { startHarness, textOf } from "../harness.js";

it("keeps running when stdout is closed", async () => {
  const harness = await startHarness({ env: () => ({ LOG_LEVEL: "debug" }) });
  const { driver, people, channels } = harness.discord;
  const place = { user: people.ana, channel: channels.general };
  const { child } = harness.bot();
  child.stdout?.destroy();
  for (let time = 0; time < 5; time += 1) expect(textOf(await driver.ask(place, "/price"))).toContain("USD");
  expect(child.exitCode).toBeNull();
  await harness.close();
});
