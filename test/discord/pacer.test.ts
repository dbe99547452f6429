import { REST, RESTEvents } from "discord.js";
import { expect, it } from "vitest";
import { createPacer, slowOnRefusals } from "../../src/discord/pacer.js";

it("a pacer is slower while Discord refuses many requests", async () => {
  const [rest, pacer] = [new REST(), createPacer(1)];
  slowOnRefusals(pacer, [rest], { warn() {} });
  const takeFive = async () => {
    const startedAt = performance.now();
    await Promise.all(Array.from({ length: 5 }, () => pacer.turn("server")));
    return performance.now() - startedAt;
  };
  rest.emit(RESTEvents.InvalidRequestWarning, { count: 2_000, remainingTime: 60_000 });
  expect(await takeFive()).toBeGreaterThan(200);
});
