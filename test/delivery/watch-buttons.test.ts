import { expect, it } from "vitest";
import type { FeedDefinition } from "../../src/delivery/feed.js";
import { createSubscribeLinks, createWatchLinks } from "../../src/delivery/watch-buttons.js";
import { feeds } from "../../src/feeds/index.js";
import { validator } from "../../src/feeds/validator/index.js";

const ID = `acme::1220${"ab".repeat(32)}`;
const definitions = feeds.map(({ definition }) => definition);
/** A second feed with buttons on a validator's screen. */
const lanterns: FeedDefinition = {
  ...validator.definition,
  name: "lanterns",
  watches: (validator.definition.watches ?? []).map((watch) => ({ ...watch, name: "lantern" })),
};

const labelsOf = (all: readonly FeedDefinition[]) =>
  [createWatchLinks(all)("validator", ID), createSubscribeLinks(all)("validator", ID)].map((links) =>
    links.map(({ label }) => label),
  );

it("buttons of several feeds on one screen say what each is about", () => {
  expect(labelsOf(definitions)).toEqual([["Watch"], ["Subscribe this channel"]]);
  expect(labelsOf([...definitions, lanterns])).toEqual([
    ["Watch: validator", "Watch: lantern"],
    ["Subscribe this channel: validator", "Subscribe this channel: lanterns"],
  ]);
});
