import { expect, it } from "vitest";
import { defined, present } from "../../src/util/present.js";

it("keeps what is there, in lists and in objects", () => {
  expect(present([0, "", undefined, null, false, "a"])).toEqual([0, "", "a"]);
  const fields = defined({ zero: 0, empty: "", no: false, none: null, missing: undefined });
  expect(Object.keys(fields)).toEqual(["zero", "empty", "no", "none"]);
});
