import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createClient } from "@keyv/redis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { botEnvironment, newDataDir } from "../../sandbox/bot-process.js";
import { startRedis } from "../../sandbox/redis-process.js";
import { makeStack, SMALL } from "../../sandbox/stack.js";
import { openFileStore } from "../../src/storage/file-store.js";
import { type Harness, startHarness } from "../harness.js";
import { describeWithRedis } from "../needs.js";

const DOCTOR = fileURLToPath(new URL("../../dist/src/doctor.js", import.meta.url));

/** Runs the built doctor in a new process, like an operator does. */
const run = (env: Record<string, string>, ...given: readonly string[]) => runIn(newDataDir(), env, given);

function runIn(
  cwd: string,
  env: Record<string, string>,
  given: readonly string[] = [],
): Promise<{ code: number | null; said: string; printed: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [DOCTOR, ...given], {
      env: { PATH: process.env.PATH ?? "", ...env },
      cwd,
    });
    let [said, printed] = ["", ""];
    child.stdout.on("data", (chunk: Buffer) => {
      said += chunk.toString();
      printed += chunk.toString();
    });
    child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
    child.on("close", (code) => resolve({ code, said, printed }));
  });
}

/** Answers of a server in the place of the explorer or of Discord. */
interface Answers {
  readonly explorer?: { readonly status: number; readonly body: string };
  readonly discord?: { readonly status: number; readonly body: string; readonly isTls?: boolean };
}

describe("the doctor", () => {
  let harness: Harness;
  let env: Record<string, string>;
  beforeAll(async () => {
    harness = await startHarness({
      env: ({ channels }) => ({ GOVERNANCE_CHANNEL_ID: channels.governance.id }),
    });
    env = botEnvironment(harness.discord, harness.explorer, {
      GOVERNANCE_CHANNEL_ID: harness.discord.channels.governance.id,
      DATA_DIR: harness.dataDir,
    });
  });
  afterAll(() => harness.close());

  it("finds no problem next to a running bot, and exits with 0", async () => {
    const { code, said } = await run(env);
    expect(said.split("\n").filter((line) => line.startsWith("✖"))).toEqual([]);
    for (const words of [
      "✔ Settings",
      "✔ Token: accepted: the bot is crier",
      "✔ Application",
      "✔ Commands: 16 registered everywhere",
      "✔ Gateway: reachable; 1 shard;",
      "✔ Explorer: 127.0.0.1",
      "✔ DATA_DIR: can be written to",
      "#governance in Ledger Community",
      "All is well.",
    ])
      expect(said).toContain(words);
    expect(code).toBe(0);
  });

  it("names each problem and its fix, shows no secret, and exits with 1", async () => {
    const { channels, guild, token } = harness.discord;
    const everyone = { id: guild.id, type: 0 as const, allow: "0", deny: String(1n << 14n) };
    channels.governance.permission_overwrites.push(everyone);
    const lacking = await run({ ...env, EXPLORER_API_KEY: "a-wrong-key", DATA_DIR: "/dev/null/none" });
    channels.governance.permission_overwrites.pop();
    expect(lacking.code).toBe(1);
    expect(lacking.said).toContain("✖ Explorer: ");
    expect(lacking.said).toContain("refuses the key");
    expect(lacking.said).toContain("→ Set EXPLORER_API_KEY");
    expect(lacking.said).toContain("✖ DATA_DIR");
    // A folder that even root cannot write to.
    const readOnly = await run({ ...env, DATA_DIR: "/sys/crier" });
    expect(readOnly.said).toContain("✖ DATA_DIR: /sys/crier can't be used: Error (E");
    const wrong = await run({
      ...env,
      DISCORD_TOKEN: "wrong.token.here",
      EXPLORER_API_URL: "http://127.0.0.1:9",
    });
    expect(wrong.said).toContain("✖ Token: refused by Discord");
    expect(wrong.said).toContain("does not answer");
    for (const secret of [token, "a-wrong-key", "wrong.token.here", harness.explorer.key])
      expect(lacking.said + wrong.said).not.toContain(secret);
    const unset = await run({ DISCORD_TOKEN: "x" });
    expect(unset).toMatchObject({
      code: 1,
      said: expect.stringContaining("✖ Settings: EXPLORER_API_URL is missing"),
    });
    const folder = newDataDir();
    mkdirSync(join(folder, ".env"));
    const unreadable = await runIn(folder, env);
    expect(unreadable).toMatchObject({
      code: 1,
      said: expect.stringContaining("✖ Settings: .env can't be read (EISDIR). Let the user"),
    });
    expect(unreadable.said).not.toContain("    at ");
    const marked = newDataDir();
    const settings = "\ufeffDISCORD_TOKEN=x";
    const utf16 = Buffer.from(settings, "utf16le");
    for (const bytes of [Buffer.from(settings), utf16, Buffer.from(utf16).swap16()]) {
      writeFileSync(join(marked, ".env"), bytes);
      const unmarked = await runIn(marked, {});
      expect(unmarked.said).toContain("EXPLORER_API_URL is missing");
      expect(unmarked.said).not.toContain("DISCORD_TOKEN");
    }
  });

  it.each([
    [
      "the explorer's address redirects",
      { explorer: { status: 301, body: "" } },
      /✖ Explorer: \S+ answered 301, a redirect.*\n.*→ Set EXPLORER_API_URL to the address/,
    ],
    [
      "the explorer answers with another JSON",
      { explorer: { status: 200, body: "{}" } },
      /✖ Explorer: \S+ answers something else\n.*→ Check EXPLORER_API_URL/,
    ],
    [
      "Discord's address is another website",
      { discord: { status: 200, body: "<html>Welcome</html>" } },
      /✖ Token: \S+ answers something else than Discord\n.*→ Check DISCORD_API_URL/,
    ],
    [
      "Discord's address is a website without its paths",
      { discord: { status: 404, body: "Not found" } },
      /✖ Token: \S+ answers something else than Discord\n.*→ Check DISCORD_API_URL/,
    ],
    [
      "Discord's address does not speak TLS",
      { discord: { status: 200, body: "{}", isTls: true } },
      /✖ Token: \S+ does not answer with TLS \(ERR_SSL\w+\)/,
    ],
  ] as const)("says so if %s", async (_, { explorer, discord }: Answers, words) => {
    const server = createServer((__, response) => {
      const answer = explorer ?? discord;
      if (answer)
        response.writeHead(answer.status, { location: "https://elsewhere.example/" }).end(answer.body);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const protocol = discord?.isTls ? "https" : "http";
    const url = `${protocol}://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { code, said } = await run({
      ...env,
      ...(explorer ? { EXPLORER_API_URL: url } : { DISCORD_API_URL: url }),
    });
    expect(said).toMatch(words);
    expect(code).toBe(1);
    server.closeAllConnections();
    server.close();
  });

  it("names a damaged file where it is, and leaves no copy of it behind", async () => {
    const dataDir = newDataDir();
    writeFileSync(join(dataDir, "crier.db"), "no database".repeat(1_000));
    const temporary = newDataDir();
    const { code, said } = await run({ ...env, DATA_DIR: dataDir, TMPDIR: temporary });
    expect(code).toBe(1);
    expect(said).toContain(`✖ DATA_DIR: ${join(dataDir, "crier.db")} is damaged`);
    expect(readdirSync(temporary)).toEqual([]);
  });

  it("checks all endpoints, and writes a report to a new file", async () => {
    const report = join(newDataDir(), "report.json");
    const { code, said } = await run(
      { ...env, EXPLORER_REQUESTS_PER_MINUTE: "100000" },
      ...["--endpoints", "--report", report],
    );
    expect(said).toMatch(/✔ {2}dashboard +1 +\d+ ms +as expected/);
    expect(said).toContain(`✔ Report: written to ${report}`);
    expect(code).toBe(0);
    expect(JSON.parse(readFileSync(report, "utf8"))).toMatchObject([{ endpoints: expect.any(Array) }]);
    const again = await run(
      { ...env, EXPLORER_REQUESTS_PER_MINUTE: "100000" },
      ...["--endpoints", "--report", report],
    );
    expect(again.said).toContain(`✖ Report: ${report} is there already`);
    expect(again.code).toBe(1);
    const printed = await run(
      { ...env, EXPLORER_REQUESTS_PER_MINUTE: "100000" },
      ...["--endpoints", "--report", "-"],
    );
    expect(JSON.parse(printed.printed)).toMatchObject([{ endpoints: expect.any(Array) }]);
    expect(printed.said).toMatch(/✔ {2}dashboard/);
  });

  it("checks the channels in the settings before there is a state", async () => {
    const { code, said } = await run({
      ...env,
      // The bot creates it, with the folders above it.
      DATA_DIR: join(newDataDir(), "new", "folder"),
      GOVERNANCE_CHANNEL_ID: "100000000000000001",
      OPERATOR_CHANNEL_ID: "100000000000000002",
    });
    expect(said).toContain("can be written to. The bot creates its file when it first starts");
    expect(said).toContain("→ Set GOVERNANCE_CHANNEL_ID to a channel");
    expect(said).toContain("→ Set OPERATOR_CHANNEL_ID to a channel");
    expect(code).toBe(1);
  });

  it("fails if a newer version has written the state, with which the bot does not start", async () => {
    const dataDir = newDataDir();
    const store = openFileStore(dataDir);
    await store.commit([
      { op: "put", collection: "version", id: "state", text: JSON.stringify({ version: 99 }) },
    ]);
    await store.close();
    const { said, code } = await run({ ...env, DATA_DIR: dataDir });
    expect(said).toMatch(/✖ State: The state was written by a newer version of the bot/);
    expect(code).toBe(1);
  });

  it("names networks that the settings no longer serve, and documents that were set aside", async () => {
    const dataDir = newDataDir();
    const store = openFileStore(dataDir);
    const put = (collection: string, id: string, document: object) =>
      ({ op: "put", collection, id, text: JSON.stringify(document) }) as const;
    await store.commit([
      put("networks", "known", { oldest: "main", all: ["main", "test"] }),
      put("unreadable", "subscriptions/1/price", {
        collection: "subscriptions",
        id: "1/price",
        problem: "bad",
        at: 1,
        text: "{}",
      }),
    ]);
    await store.close();
    const settings = { NETWORKS: "main", NETWORK_NAME_MAIN: "MainNet", DATA_DIR: dataDir };
    const { said } = await run({ ...env, ...settings });
    expect(said).toContain(
      "! State: it has data of test, which NETWORKS doesn't name. Subscriptions there are on hold",
    );
    expect(said).toContain("! State: documents that can't be read were set aside (subscriptions: 1)");
  });

  it("gives advice if no endpoint answers", async () => {
    const { code, said } = await run({ ...env, EXPLORER_API_KEY: "a-wrong-key" }, "--endpoints");
    expect(said).toContain("→ Set EXPLORER_API_KEY to a valid key");
    expect(said).not.toContain("Please report them");
    expect(code).toBe(1);
  });

  it.each([
    ["redirects", 301, "--endpoints", /answered 301, a redirect.*\n.*→ Set EXPLORER_API_URL to the address/],
    ["answers 403", 403, "--endpoints", /refuses the key \(answered 403\)\n.*→ Set EXPLORER_API_KEY/],
    [
      "answers 403, in the short check",
      403,
      undefined,
      /does not give the price to this key\n.*→ Check EXPLORER_API_KEY/,
    ],
  ] as const)("names the setting if everything %s", async (_, status, option, words) => {
    const server = createServer((__, response) => {
      response.writeHead(status, { location: "https://elsewhere.example/" }).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { code, said } = await run({ ...env, EXPLORER_API_URL: url }, ...(option ? [option] : []));
    expect(said).toMatch(words);
    expect(code).toBe(1);
    server.closeAllConnections();
    server.close();
  });

  it("checks a channel", async () => {
    const { code, said } = await run(env, "--channel", harness.discord.channels.general.id);
    expect(said).toContain("✔ Message: embed, buttons, menu, file");
    expect(code).toBe(0);
  });

  it("prints its usage", async () => {
    expect(await run(env, "--help")).toMatchObject({
      code: 0,
      said: expect.stringContaining("--report FILE"),
    });
    expect(await run(env, "--chanel", "1")).toMatchObject({
      code: 2,
      said: expect.stringContaining("'--chanel'"),
    });
    expect(await run(env, "--report", "x")).toMatchObject({
      code: 2,
      said: expect.stringContaining("belong to"),
    });
  });

  it("finds missing permissions in a subscribed channel", async () => {
    const { channels, guild } = harness.discord;
    const everyone = { id: guild.id, type: 0 as const, allow: "0", deny: String(1n << 14n) };
    channels.governance.permission_overwrites.push(everyone);
    const { code, said } = await run(env);
    channels.governance.permission_overwrites.pop();
    expect(said).toMatch(/✖ Channel \d+: #governance in Ledger Community: the bot lacks Embed Links/);
    expect(code).toBe(1);
  });
});

describeWithRedis("the doctor's Redis check", () => {
  it("requires persistence, and an eviction policy that keeps the state", async () => {
    const redis = await startRedis();
    const place = await makeStack({ explorer: { size: SMALL } });
    const client = createClient({ url: redis.url });
    await client.connect();
    const env = { ...botEnvironment(place.discord, place.explorer), REDIS_URL: redis.url };
    await client.configSet({ appendonly: "no", save: "", "maxmemory-policy": "allkeys-lru" });
    const bad = await run(env);
    expect(bad.said).toContain("✖ Redis persistence: none");
    expect(bad.said).toContain("✖ Redis eviction: allkeys-lru may drop the state");
    expect(bad.code).toBe(1);
    await client.configSet({ "maxmemory-policy": "noeviction" });
    expect((await run(env)).said).toContain("noeviction may stop its writes");
    await client.configSet({ maxmemory: "1" });
    expect((await run(env)).said).toContain(
      "✖ Redis: Redis is out of memory. Give it more, and set maxmemory-policy to volatile-lru\n    → Then run",
    );
    await client.configSet({ maxmemory: "0" });
    await client.configSet({ appendonly: "yes", "maxmemory-policy": "volatile-lru" });
    const good = await run(env);
    expect(good.said).toMatch(/✔ Redis: version \d/);
    expect(good.said).toContain("✔ Redis persistence: append-only file");
    expect(good.said).toContain("✔ Redis eviction: volatile-lru");
    expect(good.code).toBe(0);
    client.destroy();
    await redis.close();
    expect((await run(env)).said).toContain("✖ Redis: Redis cannot be reached: nothing is listening there");
    await place.close();
  });

  it("refuses a Redis Cluster, with and without the bot's part of the keys", async () => {
    const redis = await startRedis({ settings: ["--cluster-enabled", "yes"] });
    const place = await makeStack({ explorer: { size: SMALL } });
    const env = { ...botEnvironment(place.discord, place.explorer), REDIS_URL: redis.url };
    expect((await run(env)).said).toContain("✖ Redis: REDIS_URL leads to a Redis Cluster");
    const client = createClient({ url: redis.url });
    await client.connect();
    await client.sendCommand(["CLUSTER", "ADDSLOTSRANGE", "0", "16383"]);
    const isUp = async () => String(await client.sendCommand(["CLUSTER", "INFO"])).includes("state:ok");
    await expect.poll(isUp).toBe(true);
    const { said, code } = await run(env);
    expect(said).toContain("✖ Redis: is a cluster, which the bot does not support");
    expect(code).toBe(1);
    client.destroy();
    await redis.close();
    await place.close();
  });
});
