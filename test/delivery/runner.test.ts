import { REST } from "discord.js";
import { expect, it } from "vitest";
import { pendingDeliveries } from "../../src/delivery/collections.js";
import { draftOf, type Feed } from "../../src/delivery/feed.js";
import { createJanitor } from "../../src/delivery/janitor.js";
import type { PollSteps, Subscribers } from "../../src/delivery/module.js";
import { createOutbox } from "../../src/delivery/outbox.js";
import { createRunner } from "../../src/delivery/runner.js";
import { createSubscriptions } from "../../src/delivery/subscriptions.js";
import { createRenderer } from "../../src/discord/message.js";
import { createPacer } from "../../src/discord/pacer.js";
import { newLinks, newState, quiet } from "../harness.js";
import { tidesFrom } from "./second-feed/tides.js";

const state = newState();
const subscriptions = createSubscriptions(state);
const janitor = createJanitor(state, subscriptions);
const renderer = createRenderer(newLinks());
const feed: Feed = {
  definition: tidesFrom("not read").definition,
  readEvent: (json) => json,
  idOf: String,
  topicOf: () => "rises",
  subjectsOf: () => [],
  begins: () => true,
  wants: () => true,
  async render() {
    throw new RangeError("Nothing is sent");
  },
};
const subscribe = (channelId: string) =>
  state.commit(subscriptions.writes(draftOf(feed.definition, channelId)));

/** Runs a poll, and returns the deliveries that it leaves. They are not sent. */
async function deliveriesOf(poll: (subscribers: Subscribers) => PollSteps): Promise<readonly string[]> {
  const lease = { epoch: 1, validUntil: () => 0 };
  const [now, discordTime] = [Date.now, Date.now];
  const rest = new REST({ retries: 0 });
  const context = { state, lease, renderer, rest, subscriptions, janitor, log: quiet, now, discordTime };
  const outbox = createOutbox({
    ...context,
    pacer: createPacer(0),
    feeds: new Map([[feed.definition.name, feed]]),
    onDelivered() {},
    onRecorded() {},
  });
  await outbox.stop();
  await createRunner({ feed, poll }, [], { ...context, outbox, upkeep: { touch() {} } }).poll();
  return [...(await state.open(pendingDeliveries).list()).keys()];
}

it("delivers what a poll finds later to a channel that has subscribed during the poll", async () => {
  await subscribe("1");
  const ids = await deliveriesOf(async function* (subscribers) {
    expect(await subscribers.subscriptions()).toHaveLength(1);
    yield { events: ["bay"] };
    await subscribe("2");
    expect(await subscribers.subscriptions()).toHaveLength(2);
    yield { events: ["cove"] };
    return "done";
  });
  expect(ids).toEqual(["tides/bay@1", "tides/cove@1", "tides/cove@2"]);
});
