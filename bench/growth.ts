import { copyFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { newDataDir } from "../sandbox/bot-process.js";
import type { Channel } from "../sandbox/discord/world.js";
import { makeStack, type Stack } from "../sandbox/stack.js";
import type { Announced, Subscription } from "../src/delivery/collections.js";
import {
  announcedId,
  announcements,
  subscriptionDocuments,
  subscriptionId,
} from "../src/delivery/collections.js";
import type { TrackedVoteRequest } from "../src/feeds/governance/collections.js";
import { trackedVoteRequests } from "../src/feeds/governance/collections.js";
import { openFileStore } from "../src/storage/file-store.js";
import { createState, type State } from "../src/storage/state.js";
import type { Write } from "../src/storage/store.js";
import { cpuOf, WATCHED, watchBlocks } from "./measure.js";

/**
 * Measures the CPU time of the whole bot for a poll without news, an edit and a delivery, with growing
 * numbers of channels and past requests. The bot polls every second, on a state that was filled before.
 */

const CHANNELS = [1, 100, 1_000, 5_000];
const PAST = [0, 60, 300];
const BATCH = 20_000;
const WINDOW_MS = 8_000;

const SIZE = { validators: 40, parties: 100, voteRequests: 3, updates: 20, tokens: 3 };

/**
 * Changes the state of a stopped bot. Works on a copy, because libsql keeps a file open until this process
 * exits.
 */
export async function onState<T>(dataDir: string, work: (state: State) => Promise<T>): Promise<T> {
  const copy = newDataDir();
  copyFileSync(join(dataDir, "crier.db"), join(copy, "crier.db"));
  const state = createState(openFileStore(copy), { log: { error: console.error } });
  const result = await work(state);
  await state.close();
  copyFileSync(join(copy, "crier.db"), join(dataDir, "crier.db"));
  rmSync(copy, { recursive: true });
  return result;
}

/** Writes many documents in batches. */
export async function fill(state: State, writes: Iterable<Write>): Promise<void> {
  let batch: Write[] = [];
  for (const write of writes) {
    batch.push(write);
    if (batch.length < BATCH) continue;
    await state.commit(batch);
    batch = [];
  }
  await state.commit(batch);
}

/**
 * Yields a subscription for every channel, and the messages about many past requests, all copied from one
 * example.
 */
function* grown(state: State, channels: readonly Channel[], past: number, like: Like): Generator<Write> {
  const { subscription, request, message } = like;
  for (const { id: channelId } of channels)
    yield state.open(subscriptionDocuments).put(subscriptionId(channelId, subscription.feed, null), {
      ...subscription,
      channelId,
    });
  for (let at = 0; at < past; at += 1) {
    const key = `past-${at}`;
    yield state
      .open(trackedVoteRequests)
      .put(key, { ...request, identity: `${at}${request.identity.slice(3)}` });
    for (const { id: channelId } of channels)
      yield state.open(announcements).put(announcedId("governance", key, channelId), {
        ...message,
        subject: key,
        channelId,
        in: channelId,
      });
  }
}

interface Like {
  readonly subscription: Subscription;
  readonly request: TrackedVoteRequest;
  readonly message: Announced;
}

/** Returns one document of each kind, as written by the bot for a request that opens and ends. */
async function sample(place: Stack): Promise<Like> {
  const { discord, explorer } = place;
  const { world, channels } = discord;
  const owner = { user: discord.people.owner, channel: channels.general };
  await place.start();
  await discord.driver.ask(owner, "/subscribe governance", { channel: channels.governance.id });
  const request = explorer.ledger.openVoteRequest({ title: "Past" });
  const told = () => world.read(channels.governance).length;
  await world.until(() => told() > 0, "the announcement");
  explorer.ledger.closeVoteRequest(request, "Rejected");
  await world.until(() => told() > 1, "the end");
  await world.until(() => discord.requests.some(({ method }) => method === "PATCH"), "the last edit", 60_000);
  await place.bot().stop();
  return onState(place.dataDir, async (state) => {
    const [subscription] = (await state.open(subscriptionDocuments).list()).values();
    const closed = [...(await state.open(trackedVoteRequests).list())].find(
      ([, { phase }]) => phase === "closed",
    );
    const message = [...(await state.open(announcements).list()).values()].find(
      ({ subject }) => subject === closed?.[0],
    );
    if (!subscription || !closed || !message) throw new Error("The bot has written no such documents");
    return { subscription, request: closed[1], message };
  });
}

/** Measures the bot's CPU time in ms, and the number of requests with a method, during a time span. */
async function over(place: Stack, ms: number, method: string): Promise<{ cpuMs: number; sent: number }> {
  const requests = () => place.discord.requests.filter((each) => each.method === method).length;
  const [cpu, sent] = [cpuOf(place.bot()), requests()];
  await new Promise((resolve) => setTimeout(resolve, ms));
  return { cpuMs: (cpuOf(place.bot()) - cpu) * 1_000, sent: requests() - sent };
}

async function measure(channelCount: number, past: number) {
  const place = await makeStack({
    explorer: { lively: false, size: SIZE },
    env: () => ({
      GOVERNANCE_POLL_SECONDS: "1",
      EXPLORER_REQUESTS_PER_MINUTE: "6000",
      SUBSCRIPTIONS_PER_SERVER: "10000",
      ...WATCHED,
    }),
  });
  const { discord, explorer } = place;
  const like = await sample(place);
  const channels = Array.from({ length: channelCount }, (_, at) =>
    discord.world.addChannel({ type: 0, guild_id: discord.guild.id, name: `channel-${at}` }),
  );
  await onState(place.dataDir, (state) => fill(state, grown(state, channels, past, like)));
  const startedAt = performance.now();
  await place.start();
  const startMs = performance.now() - startedAt;
  // Wait for the work after a start: names are loaded, and every message is checked once.
  await new Promise((resolve) => setTimeout(resolve, 6_000 + (channelCount * past) / 100));
  const longestBlock = watchBlocks(place.bot());
  const idle = await over(place, WINDOW_MS, "POST");
  longestBlock();
  discord.requests.length = 0;
  const request = explorer.ledger.openVoteRequest({ title: "New" });
  await discord.world.until(() => discord.requests.some(({ method }) => method === "POST"), "a delivery");
  const window = Math.min(WINDOW_MS, channelCount * 25);
  const delivering = await over(place, window, "POST");
  const blockMs = longestBlock();
  const told = () => channels.filter((channel) => discord.world.read(channel).length > 0).length;
  await discord.world.until(() => told() === channelCount, "every delivery", 300_000);
  discord.requests.length = 0;
  explorer.ledger.castVote(request, true);
  await discord.world.until(
    () => discord.requests.some(({ method }) => method === "PATCH"),
    "an edit",
    60_000,
  );
  const editing = await over(place, window, "PATCH");
  await place.close();
  const perSecond = idle.cpuMs / (WINDOW_MS / 1_000);
  const each = ({ cpuMs, sent }: { cpuMs: number; sent: number }) =>
    Math.max(0, cpuMs - perSecond * (window / 1_000)) / Math.max(1, sent);
  return { startMs, perSecond, delivery: each(delivering), blockMs, edit: each(editing) };
}

/** Prints the table. */
export async function growth(): Promise<void> {
  console.log(
    "\n| channels | past requests | ready after, s | CPU of a poll without news, ms | CPU of a delivery, ms | longest block while it is delivered, ms | CPU of an edit, ms |\n| --- | --- | --- | --- | --- | --- | --- |",
  );
  for (const channels of CHANNELS) {
    for (const past of PAST) {
      const { startMs, perSecond, delivery, blockMs, edit } = await measure(channels, past);
      const columns = [
        (startMs / 1_000).toFixed(1),
        perSecond.toFixed(0),
        delivery.toFixed(1),
        blockMs.toFixed(0),
        edit.toFixed(1),
      ];
      console.log(`| ${channels} | ${past} | ${columns.join(" | ")} |`);
    }
  }
}
