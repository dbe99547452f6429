import { REST } from "discord.js";
import { expect, it } from "vitest";
import { startSandboxExplorer } from "../../../sandbox/explorer/server.js";
import type { Subscription } from "../../../src/delivery/collections.js";
import { createSubscriptions } from "../../../src/delivery/subscriptions.js";
import { createDirectory, SUPER_VALIDATORS } from "../../../src/directory/directory.js";
import { createNames } from "../../../src/directory/names.js";
import type { Click } from "../../../src/discord/clicks.js";
import { createRenderer } from "../../../src/discord/message.js";
import { snoozeButton } from "../../../src/feeds/validator/buttons.js";
import { alertId, alerts, responses, VALIDATOR_FEED } from "../../../src/feeds/validator/collections.js";
import { silenceOf } from "../../../src/feeds/validator/events.js";
import { alertButtons } from "../../../src/feeds/validator/respond.js";
import { newExplorer, newLinks, newState, quiet, SMALL } from "../../harness.js";

const VALIDATOR = `fjord::1220${"ab".repeat(32)}`;
const CHANNEL = "111111111111111";
const SINCE = 1_700_000_000_000;

const subscription: Subscription = {
  channelId: CHANNEL,
  feed: VALIDATOR_FEED,
  subject: VALIDATOR,
  guildId: "222222222222222",
  userId: null,
  forum: false,
  tagId: null,
  since: 0,
  topics: {},
  roleId: null,
  thread: false,
  publish: false,
};

it.each([
  ["the validator", VALIDATOR],
  ["all super validators, while the lists show none", SUPER_VALIDATORS],
])("keeps every confirmed response if many people click at the same time: %s", async (_, followed) => {
  const state = newState();
  const subscriptions = createSubscriptions(state);
  const subject = silenceOf(VALIDATOR, SINCE);
  const id = alertId(CHANNEL, subject);
  await state.commit([
    ...subscriptions.writes({ ...subscription, subject: followed }),
    state.open(alerts).put(id, {
      kind: "silent",
      channelId: CHANNEL,
      subject,
      since: SINCE,
      revision: 1,
      validator: VALIDATOR,
      after: 1,
      level: 1,
    }),
  ]);
  const sandbox = await startSandboxExplorer({ size: SMALL, lively: false });
  const explorer = newExplorer(sandbox);
  const directory = createDirectory();
  const links = newLinks();
  const services = {
    state,
    subscriptions,
    renderer: createRenderer(links),
    explorer,
    names: createNames({ directory, explorer: explorer.for("background"), state, log: quiet }),
    directory,
    links,
    rest: new REST(),
  };
  const handler = alertButtons().find(({ button }) => button.wire === snoozeButton.wire);
  const people = Array.from({ length: 30 }, (_, at) => `3333333333333${String(at).padStart(2, "0")}`);
  await Promise.all(
    people.map((userId) => {
      const click = {
        channelId: CHANNEL,
        user: { id: userId },
        member: null,
        memberPermissions: { has: () => true },
      } as unknown as Click;
      return handler?.handle({ id: VALIDATOR, since: SINCE, for: "8h", on: "card" }, click, services);
    }),
  );
  expect(await state.open(responses).get(id)).toMatchObject({ revision: people.length });
  const click = {
    channelId: CHANNEL,
    user: { id: people[0] },
    member: null,
    memberPermissions: { has: () => true },
  } as unknown as Click;
  await handler?.handle({ id: VALIDATOR, since: SINCE, for: "off", on: "card" }, click, services);
  expect(await state.open(responses).get(id)).toEqual({ revision: people.length + 1 });
  await Promise.all([state.close(), sandbox.close()]);
});
