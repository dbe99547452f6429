import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newDataDir } from "../../sandbox/bot-process.js";
import { makeStack, type Stack } from "../../sandbox/stack.js";
import {
  type Subscription,
  subscriptionDocuments,
  subscriptionId,
  watchers,
} from "../../src/delivery/collections.js";
import { draftOf } from "../../src/delivery/feed.js";
import { nameLists, nameListTimes } from "../../src/directory/collections.js";
import { representatives } from "../../src/feeds/governance/collections.js";
import { feeds } from "../../src/feeds/index.js";
import { openFileStore } from "../../src/storage/file-store.js";
import { createState } from "../../src/storage/state.js";
import type { Write } from "../../src/storage/store.js";
import { quiet, SMALL, textOf } from "../harness.js";

/** More than any of Discord's limits, with characters that must not be cut in half. */
const LONG = `${"👩‍🚀**_~`|<@1>#[x](y) ".repeat(200)}end`;
/** More than any list of Discord may hold, and more than the bot lets people make. */
const MANY = 60;

describe("whatever the state holds, Discord's limits are kept by", () => {
  let place: Stack;
  const here = () => ({ user: place.discord.people.owner, channel: place.discord.channels.general });

  beforeAll(async () => {
    place = await makeStack({
      explorer: { size: SMALL, lively: false },
      env: () => ({ EXPLORER_REQUESTS_PER_MINUTE: "6000", REQUESTS_PER_PERSON: "1000" }),
    });
    const { world, guild, people, channels } = place.discord;
    const direct = world.directChannel(people.owner).id;
    const copy = newDataDir();
    const state = createState(openFileStore(copy), { log: quiet });
    const definitionOf = (name: string) => {
      const feed = feeds.find(({ definition }) => definition.name === name)?.definition;
      if (!feed) throw new RangeError(name);
      return feed;
    };
    const put = (feed: string, channelId: string, subject: string | null, more: object): Write => {
      const base = draftOf(definitionOf(feed), channelId);
      const each: Subscription = { ...base, subject, guildId: guild.id, ...more };
      return state.open(subscriptionDocuments).put(subscriptionId(channelId, feed, subject), each);
    };
    const parties = Array.from(
      { length: MANY },
      (_, at) => `${LONG.slice(0, 180)}${at}::1220${"a".repeat(64)}`,
    );
    const own = { guildId: null, userId: people.owner.id };
    const odd = {
      after: LONG,
      when: LONG,
      value: LONG,
      over: LONG,
      repeat: LONG,
      zone: LONG,
      at: LONG,
      needs: LONG,
      missing: LONG,
    };
    await state.commit([
      ...parties.flatMap((party) => [
        put("validator", channels.general.id, party, odd),
        put("validator", direct, party, { ...own, ...odd }),
        put("price", channels.general.id, `${party} ${LONG}`, odd),
      ]),
      put("validator", channels.governance.id, parties.join(" "), {}),
      put("upgrades", channels.general.id, null, odd),
      put("digest", channels.general.id, null, odd),
      put("governance", channels.general.id, null, odd),
      state.open(watchers).put(people.owner.id, { channelId: direct }),
      ...parties.map((name, at) =>
        state.open(representatives).put(`${guild.id}/${at}`, {
          guildId: guild.id,
          name: `${at} ${LONG}`,
          aliases: [name, LONG],
          who: { kind: "member", id: people.ana.id },
          setAt: 1,
        }),
      ),
      ...(["validator", "party", "proposal", "token", "voter"] as const).flatMap((kind) => {
        const entries = parties.map((id, at) => ({
          id,
          name: `${at} ${LONG}`,
          active: true,
          version: LONG,
          note: LONG,
        }));
        const readAt = Date.now();
        return [
          state.open(nameLists).put(kind, { readAt, entries }),
          state.open(nameListTimes).put(kind, { readAt }),
        ];
      }),
    ]);
    await state.close();
    copyFileSync(join(copy, "crier.db"), join(place.dataDir, "crier.db"));
    await place.start();
  });
  afterAll(() => place.close());

  it.each([
    ["/setup", {}],
    ["/subscribe list", {}],
    ["/subscribe list", { page: 3 }],
    ["/subscribe list", { page: 100 }],
    ["/subscribe remove", {}],
    ["/watch list", {}],
    ["/voters list", {}],
    ["/validator list", {}],
    ["/validator versions", {}],
    ["/lookup", { id: "0" }],
    ["/help", {}],
  ] as const)("%s", async (command, given) => {
    const answer = await place.discord.driver.ask(here(), command, given);
    expect(textOf(answer)).not.toMatch(/error|went wrong/i);
    expect(place.discord.world.refusals).toEqual([]);
  });

  it.each([
    ["/subscribe edit", "subject", {}],
    ["/subscribe remove", "subject", {}],
    ["/subscribe validator", "validator", {}],
    ["/watch test", "watch", {}],
    ["/watch voter", "sv", {}],
    ["/voters set", "sv", { who: "1" }],
    ["/voters remove", "sv", {}],
    ["/validator show", "validator", {}],
    ["/party show", "party", {}],
    ["/proposals show", "proposal", {}],
    ["/token show", "contract", {}],
  ] as const)("the completion of %s %s", async (command, option, given) => {
    for (const typed of ["", "1", LONG.slice(0, 90)]) {
      const choices = await place.discord.driver.complete(here(), command, option, {
        ...given,
        [option]: typed,
      });
      expect(choices.length).toBeLessThanOrEqual(25);
      for (const { name, value } of choices) {
        expect(name.length).toBeLessThanOrEqual(100);
        expect(String(value).length).toBeLessThanOrEqual(100);
        expect(name.isWellFormed()).toBe(true);
      }
    }
    expect(place.discord.world.refusals).toEqual([]);
  });

  it("every choice of /setup's menu: the card, its dialog and its test", async () => {
    const { driver, world } = place.discord;
    const list = await driver.ask(here(), "/setup");
    const menu = driver.components(list).find(({ placeholder }) => placeholder?.startsWith("Edit"));
    expect(menu?.options, textOf(list).slice(0, 500)).toHaveLength(25);
    for (const { value } of (menu?.options ?? []).slice(0, 6)) {
      const interaction = driver.pick(here(), list, menu?.custom_id ?? "", value);
      const card = await driver.answered(interaction);
      await driver.open(here(), card, "Edit");
      await driver.click(here(), card, "Test");
    }
    expect(world.refusals).toEqual([]);
  });
});
