import { expect, it } from "vitest";
import type { Subscription } from "../../../src/delivery/collections.js";
import { representatives } from "../../../src/feeds/governance/collections.js";
import { forgetUnusedVoters } from "../../../src/feeds/governance/voters.js";
import type { State } from "../../../src/storage/state.js";
import { DAY } from "../../../src/util/units.js";
import { newState, startHarness, textOf } from "../../harness.js";

const NOW = Date.UTC(2026, 10, 28);
const GUILD = "111111111111111111";
const ID = `${GUILD}/kestrel`;
const VOTER = {
  guildId: GUILD,
  name: "Kestrel",
  aliases: ["Kestrel"],
  who: { kind: "member" as const, id: "222222222222222222" },
  setAt: NOW - 90 * DAY,
};

const subscribedIn = (guildId: string | null, userId: string | null = null): Subscription => ({
  channelId: "333333333333333333",
  feed: "governance",
  subject: null,
  guildId,
  userId,
  forum: false,
  tagId: null,
  since: NOW - 90 * DAY,
  topics: {},
  roleId: null,
  thread: false,
  publish: false,
});

/** Keeps the representative with this time without a subscription, and sweeps. Returns what is left of it. */
async function sweep(
  unusedSince: number | undefined,
  subscriptions: readonly Subscription[],
  state: State = newState(),
) {
  const voters = state.open(representatives);
  await state.commit([voters.put(ID, { ...VOTER, ...(unusedSince === undefined ? {} : { unusedSince }) })]);
  await forgetUnusedVoters(state, subscriptions, NOW);
  return voters.get(ID);
}

it.each([
  ["begins to count when a server's last subscription is gone", undefined, [], { unusedSince: NOW }],
  ["counts on for thirty days", NOW - 30 * DAY, [], { unusedSince: NOW - 30 * DAY }],
  ["forgets it after that", NOW - 30 * DAY - 1, [], undefined],
  ["leaves a used one alone", undefined, [subscribedIn(GUILD)], {}],
  ["stops counting after a new subscription", NOW - 40 * DAY, [subscribedIn(GUILD)], {}],
  [
    "counts the subscriptions of other servers and of people for nothing",
    undefined,
    [subscribedIn("444444444444444444"), subscribedIn(null, "555555555555555555")],
    { unusedSince: NOW },
  ],
  [
    "keeps all while a subscription's server is unknown",
    NOW - 40 * DAY,
    [subscribedIn(null)],
    {
      unusedSince: NOW - 40 * DAY,
    },
  ],
] as const)("%s", async (_, unusedSince, subscriptions, left) => {
  expect(await sweep(unusedSince, subscriptions)).toEqual(left && { ...VOTER, ...left });
});

it("keeps what a moderator sets while it sweeps", async () => {
  const state = newState();
  const voters = state.open(representatives);
  const newer = { ...VOTER, who: { kind: "role" as const, id: "666666666666666666" }, setAt: NOW };
  let isChanged = false;
  const raced: State = {
    ...state,
    async commit(writes) {
      if (!isChanged) await state.commit([voters.put(ID, newer)]);
      isChanged = true;
      return state.commit(writes);
    },
  };
  await state.commit([voters.put(ID, { ...VOTER, unusedSince: NOW - 40 * DAY })]);
  await forgetUnusedVoters(raced, [], NOW);
  expect(await voters.get(ID)).toEqual(newer);
});

it("forgets them also if a channel of another server subscribes by GOVERNANCE_CHANNEL_ID", async () => {
  const harness = await startHarness({
    env: ({ channels }) => ({ GOVERNANCE_CHANNEL_ID: channels.governance.id, GOVERNANCE_POLL_SECONDS: "1" }),
  });
  const { world, driver, people, channels } = harness.discord;
  const left = world.addGuild("Without subscriptions", people.owner, 0n);
  const elsewhere = {
    user: people.owner,
    channel: world.addChannel({ type: 0, guild_id: left.id, name: "general" }),
  };
  const here = { user: people.owner, channel: channels.general };
  const [voter] = harness.explorer.ledger.superValidators;
  const given = { sv: voter?.name ?? "", who: people.owner.id };
  for (const place of [here, elsewhere])
    await world.until(
      async () => textOf(await driver.ask(place, "/voters set", given)).includes(`<@${people.owner.id}>`),
      "a mapping",
    );
  const set = async (who: string) => textOf(await driver.ask(here, "/voters set", { ...given, who }));
  expect(await set(people.owner.id)).toContain("Pick the governance subscription in");
  expect(await set(people.ana.id)).toContain(`Replaces <@${people.owner.id}>.`);
  expect(await set(people.owner.id)).toContain(`Replaces <@${people.ana.id}>.`);
  expect(await set(people.owner.id)).not.toContain("Replaces");
  const polled = async () => {
    const polls = () =>
      harness.explorer.requests.filter(({ path }) => path.endsWith("/vote-requests")).length;
    const before = polls();
    await world.until(() => polls() >= before + 3, "three polls");
  };
  harness.pass(2 * DAY);
  await polled();
  harness.pass(31 * DAY);
  const listed = async (place: typeof here) => textOf(await driver.ask(place, "/voters list"));
  await world.until(
    async () => !(await listed(elsewhere)).includes(people.owner.id),
    "a list without the representative",
  );
  expect(await listed(here)).toContain(people.owner.id);
  await harness.close();
});
