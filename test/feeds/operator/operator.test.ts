import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DiscordError } from "../../../sandbox/discord/errors.js";
import type { Channel } from "../../../sandbox/discord/world.js";
import { freePort } from "../../../sandbox/redis-process.js";
import { MINUTE } from "../../../src/util/units.js";
import { type Harness, startHarness, textOf } from "../../harness.js";

describe("the operator's channel", () => {
  let harness: Harness;
  let channel: Channel;
  let httpPort: number;
  const secret = "/ping/0123-secret-4567?status=up";
  const beats: { url: string | undefined; key: unknown }[] = [];
  const monitor = createServer((request, response) => {
    beats.push({ url: request.url, key: request.headers["x-api-key"] });
    harness.discord.world.changed();
    response.end("OK");
  });
  const world = () => harness.discord.world;
  const told = () => world().read(channel);
  const untilTold = (pattern: RegExp) =>
    world().until(() => told().find((each) => pattern.test(textOf(each))), String(pattern));

  beforeAll(async () => {
    await new Promise<void>((resolve) => monitor.listen(0, "127.0.0.1", resolve));
    const { port } = monitor.address() as AddressInfo;
    httpPort = await freePort();
    harness = await startHarness({
      env: ({ world: around, guild, channels }) => {
        channel = around.addChannel({ type: 0, guild_id: guild.id, name: "crier-ops" });
        return {
          OPERATOR_CHANNEL_ID: channel.id,
          HTTP_PORT: String(httpPort),
          HEARTBEAT_URL: `http://127.0.0.1:${port}${secret}`,
          GOVERNANCE_CHANNEL_ID: channels.governance.id,
          WATCH_POLL_SECONDS: "1",
          GOVERNANCE_POLL_SECONDS: "1",
        };
      },
    });
  });
  afterAll(async () => {
    await harness.close();
    monitor.close();
  });

  const metrics = async () => (await fetch(`http://127.0.0.1:${httpPort}/metrics`)).text();
  const isKeyRefused = async () => (await metrics()).includes("\ncrier_explorer_key_refused 1\n");

  it("reports a refused key in one message, which says when it is over", async () => {
    harness.explorer.accept("another-key");
    const message = await untilTold(/the explorer rejects the API key/);
    expect(message.content).toBe("For the operator: the explorer rejects the API key");
    expect(message.pings).toEqual([]);
    expect(textOf(message)).toContain("EXPLORER_API_KEY");
    expect(await isKeyRefused()).toBe(true);
    harness.explorer.accept(harness.explorer.key);
    // The bot retries by itself, after a quarter of a minute. The problem ends after ten minutes without it.
    harness.pass(MINUTE);
    const answered = () => harness.bot().output().includes("The explorer answers again");
    await world().until(answered, "an answer");
    expect(await isKeyRefused()).toBe(false);
    harness.pass(11 * MINUTE);
    await world().until(
      () => /✅ Over: “The explorer rejects the API key”/.test(message.content),
      "the end of it",
    );
    expect(told()).toHaveLength(1);
    expect(textOf(message)).not.toContain(harness.explorer.key);
  });

  it("reports undocumented answers, and adds later ones to the same message", async () => {
    harness.explorer.mood = (answer, path) =>
      path === "/v1/governance/vote-requests" ? { ...(answer as object), cursor: "x" } : answer;
    const message = await untilTold(/answers differ from its documentation/);
    expect(textOf(message)).toContain("voteRequests $.cursor: new (string)");
    harness.explorer.mood = (answer, path) =>
      path === "/v1/governance/vote-requests" ? { ...(answer as object), cursor: "x", etag: 1 } : answer;
    await world().until(() => textOf(message).includes("$.etag"), "the second one");
    harness.explorer.mood = undefined;
    expect(told()).toHaveLength(2);
  });

  it("reports late announcements", async () => {
    const { channels } = harness.discord;
    const path = new RegExp(`^/channels/${channels.governance.id}/messages$`);
    const error = new DiscordError(500, 0, "Internal Server Error");
    harness.discord.trap({ method: "POST", path, times: 1_000, error });
    const before = harness.discord.requests.length;
    harness.explorer.ledger.openVoteRequest({ title: "Late." });
    await world().until(
      () => harness.discord.requests.slice(before).some((each) => path.test(each.path)),
      "a try",
    );
    harness.pass(6 * MINUTE);
    await untilTold(/announcements are late/);
    expect(await metrics()).toMatch(/^crier_delivery_waiting_seconds [1-9]/m);
  });

  it("repeats nothing after a restart", async () => {
    const before = told().map(textOf);
    await harness.bot().stop();
    harness.pass(12 * MINUTE);
    await harness.start();
    const polls = () =>
      harness.explorer.requests.filter(({ path }) => path.endsWith("/vote-requests")).length;
    const from = polls();
    await world().until(() => polls() > from + 5, "some readings");
    expect(told().map(textOf)).toEqual(before);
    world().refusals.splice(0);
  });

  it("is not listed as a subscription", async () => {
    const { driver, people } = harness.discord;
    const answer = await driver.ask({ user: people.owner, channel }, "/subscribe list");
    expect(textOf(answer)).not.toContain("· operator");
  });

  it("calls the monitor while the work is running, without the explorer's key, and does not log its URL", async () => {
    // Another program that knows this port may send requests too.
    const beat = await world().until(() => beats.find(({ url }) => url === secret), "a beat");
    expect(beat.key).toBeUndefined();
    expect(harness.bot().output()).not.toContain("0123-secret-4567");
  });
});
