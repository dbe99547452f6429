import { expect, it } from "vitest";
import { allowedChoices } from "../../src/discord/autocomplete.js";

it("leaves out a choice that Discord would refuse together with all others", () => {
  const good = { name: "Birch", value: "birch::1" };
  const bad = [
    { name: "", value: "nameless" },
    { name: "empty", value: "" },
    { name: "long", value: "v".repeat(101) },
  ];
  expect(allowedChoices([...bad, good])).toEqual([good]);
  expect(allowedChoices([{ name: "n".repeat(200), value: "v".repeat(100) }])[0]?.name).toHaveLength(100);
  expect(allowedChoices(Array.from({ length: 40 }, () => good))).toHaveLength(25);
});
