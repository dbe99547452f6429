import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { DiscordError } from "../../sandbox/discord/errors.js";
import { makeStack } from "../../sandbox/stack.js";
import { type Harness, SMALL, startHarness } from "../harness.js";

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });

describe("a bot with an HTTP_PORT", () => {
  let harness: Harness;
  afterEach(() => harness.close());

  it("is not ready until its commands are registered, and retries the registration", async () => {
    const port = await freePort();
    harness = await makeStack({
      jobsPerSecond: 5,
      explorer: { size: SMALL, lively: false },
      env: ({ channels }) => ({
        HTTP_PORT: String(port),
        OPERATOR_CHANNEL_ID: channels.governance.id,
        WATCH_POLL_SECONDS: "1",
      }),
    });
    const { discord } = harness;
    const { world, channels } = discord;
    const error = new DiscordError(503, 0, "Service Unavailable");
    const path = /^\/applications\/\d+\/(guilds\/\d+\/)?commands$/;
    // discord.js tries each request four times.
    discord.trap({ method: "GET", path, times: 5, error });
    await harness.start();
    const get = async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).text();
    expect(await get()).toContain("the commands aren't registered yet");
    const told = () => world.read(channels.governance).map((message) => message.content);
    await world.until(
      () => told().some((text) => text.includes("the commands are not registered")),
      "a notice",
    );
    await expect.poll(get).toBe("ready\n");
    await world.until(() => told().some((text) => text.includes("Over: “The commands")), "its end");
    expect(told()).toHaveLength(1);
    expect(harness.bot().output()).toMatch(/retrying until they are[\s\S]*The commands are registered/);
    const here = { user: discord.people.ana, channel: discord.channels.general };
    expect((await discord.driver.ask(here, "/network")).embeds).toHaveLength(1);
  });

  it("reports that it is alive and ready, and exposes metrics", async () => {
    const port = await freePort();
    harness = await startHarness({
      env: ({ channels }) => ({
        HTTP_PORT: String(port),
        GOVERNANCE_CHANNEL_ID: channels.governance.id,
        GOVERNANCE_POLL_SECONDS: "1",
      }),
    });
    const get = async (path: string) => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`);
      return { status: response.status, text: await response.text() };
    };
    const { driver, people, channels, world, gateway } = harness.discord;
    const here = { user: people.ana, channel: channels.general };
    expect(await get("/livez")).toMatchObject({ status: 200 });
    expect(await get("/readyz")).toEqual({ status: 200, text: "ready\n" });
    expect((await get("/other")).status).toBe(404);
    expect((await fetch(`http://127.0.0.1:${port}/metrics`, { method: "POST" })).status).toBe(405);

    await driver.ask(here, "/network");
    await driver.ask(here, "/network");
    await driver.ask(here, "/party show", { party: "nobody" });
    await driver.complete(here, "/party show", "party", { party: "a" });
    const polls = () =>
      harness.explorer.requests.filter(({ path }) => path.endsWith("/vote-requests")).length;
    await world.until(() => polls() > 2, "the baseline");
    harness.explorer.ledger.openVoteRequest();
    await world.until(() => world.read(channels.governance).length === 1, "the announcement");
    const sample = (text: string, pattern: RegExp) => Number(pattern.exec(text)?.[1] ?? Number.NaN);
    await expect
      .poll(async () =>
        sample(
          (await get("/metrics")).text,
          /delivery_age_seconds_count\{feed="governance",outcome="delivered"\} (\d+)/,
        ),
      )
      .toBe(1);
    const { text } = await get("/metrics");
    expect(sample(text, /interaction_seconds_count\{name="network",outcome="answered"\} (\d+)/)).toBe(2);
    expect(sample(text, /interaction_seconds_count\{name="party show",outcome="missing"\} (\d+)/)).toBe(1);
    expect(sample(text, /interaction_seconds_count\{name="complete",outcome="answered"\} (\d+)/)).toBe(1);
    expect(sample(text, /reads_total\{endpoint="dashboard",source="memory"\} (\d+)/)).toBeGreaterThan(0);
    expect(sample(text, /upstream_seconds_count\{status="200",priority="people"\} (\d+)/)).toBeGreaterThan(0);
    expect(sample(text, /upstream_wait_seconds_count\{priority="background"\} (\d+)/)).toBeGreaterThan(0);
    expect(sample(text, /poll_seconds_count\{feed="governance",outcome="done"\} (\d+)/)).toBeGreaterThan(0);
    expect(sample(text, /crier_lease_held (\d)/)).toBe(1);
    expect(sample(text, /crier_shards_ready (\d)/)).toBe(1);
    // Failures start at zero, because an alert does not see the first event of a new series.
    expect(sample(text, /interaction_failures_total\{outcome="error"\} (\d+)/)).toBe(0);
    expect(text).toMatch(/nodejs_eventloop_lag_seconds/);
    expect(text).toMatch(/process_resident_memory_bytes/);

    const failed = async () =>
      sample((await get("/metrics")).text, /poll_seconds_count\{feed="governance",outcome="failed"\} (\d+)/);
    expect(await failed()).toBe(0);
    // If no row can be read, the poll fails.
    harness.explorer.mood = (answer, path) =>
      path === "/v1/governance/vote-requests" && typeof answer === "object" && answer && "content" in answer
        ? { ...answer, content: [["no", "object"]] }
        : answer;
    await expect.poll(failed).toBeGreaterThan(0);
    harness.explorer.mood = undefined;
    const before = await failed();
    harness.explorer.injectFault({ kind: "status", status: 500 });
    await expect.poll(failed).toBeGreaterThan(before + 1);
    // Without a gateway connection, the bot is not ready.
    gateway.refuse = true;
    gateway.drop();
    await expect.poll(async () => (await get("/readyz")).status).toBe(503);
    expect((await get("/readyz")).text).toContain("0 of 1 shards");
    expect((await get("/livez")).status).toBe(200);
  });

  it("names the port that it could not open", async () => {
    harness = await makeStack({ explorer: { size: SMALL, lively: false } });
    const taken = createServer().listen(0);
    const { port } = taken.address() as AddressInfo;
    await expect(harness.start({ HTTP_PORT: String(port) })).rejects.toThrow(
      new RegExp(`HTTP_PORT ${port} can't be opened`),
    );
    taken.close();
  });
});

describe.skipIf(process.platform !== "linux")("a bot without an HTTP_PORT", () => {
  it("opens no port", async () => {
    const harness = await startHarness();
    const { pid } = harness.bot().child;
    const inodes = new Set(
      readFileSync(`/proc/${pid}/net/tcp`, "utf8")
        .split("\n")
        .map((line) => line.trim().split(/\s+/))
        .filter((columns) => columns[3] === "0A")
        .map((columns) => columns[9]),
    );
    const own = readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return [/socket:\[(\d+)\]/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1]];
      } catch {
        return [];
      }
    });
    expect(own.filter((inode) => inode !== undefined && inodes.has(inode))).toEqual([]);
    await harness.close();
  });
});
