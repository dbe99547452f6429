import { ApplicationCommandOptionType } from "discord-api-types/v10";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { createCommands } from "../../commands/index.js";
import { withNetwork } from "../../commands/network-option.js";
import { createSubscribe } from "../../commands/subscribe/index.js";
import { subscriptionDocuments } from "../../src/delivery/collections.js";
import type { FeedDefinition } from "../../src/delivery/feed.js";
import { feedParameter, setParameter } from "../../src/delivery/watch-buttons.js";
import { feeds } from "../../src/feeds/index.js";
import { newcomers } from "../../src/feeds/newcomers/index.js";
import { createNetworkChoices } from "../../src/networks/choices.js";
import { repeatedIn } from "../../src/util/groups.js";
import { allCollections } from "../collections.js";
import { newState } from "../harness.js";

const definitions = feeds.map(({ definition }) => definition);
const networks = ["main", "test"].map((id) => ({ id, name: id }));

/** Returns the names of each subcommand's options, for two networks. */
function optionsOf(all: readonly FeedDefinition[]): ReadonlyMap<string, readonly string[]> {
  const { options = [] } = withNetwork(createSubscribe(all), networks);
  return new Map(
    options.map((each) => [
      each.name,
      each.type === ApplicationCommandOptionType.Subcommand
        ? (each.options ?? []).map(({ name }) => name)
        : [],
    ]),
  );
}

describe("/subscribe", () => {
  it("has room for the settings of all feeds and a network", () => {
    const options = optionsOf(definitions);
    for (const [name, { length }] of options) expect([name, length <= 25]).toEqual([name, true]);
    expect(options.get("edit")).toEqual(expect.arrayContaining(["before", "after", "network", "no-role"]));
  });

  it("leaves the settings of further feeds to their own subcommands", () => {
    const topic = { description: "A switch", byDefault: true, words: () => "switched on" };
    const more = ["observations", "balances"].map((name) => ({
      ...newcomers.definition,
      name,
      topics: Object.fromEntries([1, 2, 3].map((at) => [`${name}${at}`, topic])),
    }));
    const options = optionsOf([...definitions, ...more]);
    expect(options.get("edit")?.length).toBeLessThanOrEqual(25);
    expect(options.get("edit")).toEqual(optionsOf(definitions).get("edit"));
    expect(options.get("balances")).toEqual(expect.arrayContaining(["balances1", "balances3"]));
  });
});

describe("the names of a feed", () => {
  const { schema } = subscriptionDocuments;
  const stored = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
  const ofSubscribe = [
    "channel",
    "role",
    "thread",
    "publish",
    "feed",
    "subject",
    "network",
    "no-role",
    "page",
  ];

  it.each(definitions.map((each) => [each.name, each] as const))(
    "of %s take no reserved name",
    (name, definition) => {
      expect(stored).toContain("since");
      expect(["edit", "list", "remove", "test", "resume"]).not.toContain(name);
      const reserved = new Set([...stored, ...ofSubscribe, "topics", "subjects"]);
      const names = [...Object.keys(definition.topics), ...Object.keys(definition.options)];
      expect(names.filter((each) => reserved.has(each))).toEqual([]);
      const watches = (definition.watches ?? []).map((each) => each.name);
      expect(watches.filter((each) => ["list", "test", "forget"].includes(each))).toEqual([]);
    },
  );

  it.each(definitions.map((each) => [each.name, each] as const))(
    "of %s fit into Discord's options and the addresses of buttons",
    (name, { topics, options, watches = [] }) => {
      const words = [
        name,
        ...Object.keys(topics),
        ...Object.keys(options),
        ...watches.map((each) => each.name),
      ];
      expect(words.filter((word) => !/^[a-z]{1,20}$/.test(word))).toEqual([]);
      expect(feedParameter.safeParse(name).success).toBe(true);
      const values = watches
        .flatMap((each) => each.offered?.("a::1220ab") ?? [])
        .flatMap(({ set }) => set ?? []);
      expect(values.filter((value) => !setParameter.safeParse(value).success)).toEqual([]);
    },
  );

  it("are used once: by one feed, one option or topic, one watch and one command", () => {
    const options = definitions.flatMap((each) => Object.entries(each.options));
    for (const [name, option] of options)
      expect(options.filter(([other, each]) => other === name && each !== option)).toEqual([]);
    const topics = new Set(definitions.flatMap((each) => Object.keys(each.topics)));
    expect(options.map(([name]) => name).filter((name) => topics.has(name))).toEqual([]);
    const watches = definitions.flatMap(({ watches = [] }) => watches.map(({ name }) => name));
    const commands = createCommands(feeds, networks, createNetworkChoices(newState())).map(
      ({ definition }) => definition.name,
    );
    for (const names of [definitions.map(({ name }) => name), watches, commands])
      expect(repeatedIn(names)).toEqual(new Set());
  });
});

it("no two collections have the same name", () => {
  const names = [...new Set(allCollections)].map(({ name }) => name);
  expect(names.filter((each, at) => names.indexOf(each) !== at)).toEqual([]);
});
