import { expect, it } from "vitest";
import { joinedAmong } from "../../../src/feeds/newcomers/watch.js";

it.each([
  ["nothing is new", "ABC", "ABC", ""],
  ["one is new", "XABC", "ABC", "X"],
  ["several are new", "XYABC", "ABC", "XY"],
  ["one left, and an older one moved up into the list", "ABO", "ABC", ""],
  ["one left while another joined", "XABO", "ABC", "X"],
  ["a new one is between known ones", "AXB", "ABC", "X"],
  ["all are new", "XYZ", "ABC", "XYZ"],
  ["the list is empty", "", "ABC", ""],
])("finds the validators that joined if %s", (_, listed, known, joined) => {
  expect(joinedAmong([...listed], (each) => known.includes(each)).join("")).toBe(joined);
});
