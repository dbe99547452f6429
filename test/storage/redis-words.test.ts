import { createClient } from "@keyv/redis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RedisProcess, startRedis } from "../../sandbox/redis-process.js";
import { connectRedis } from "../../src/storage/redis.js";
import { explainRedis, isConnectionLost, isRefusal, takesNoWrites } from "../../src/storage/redis-words.js";
import { describeWithRedis } from "../needs.js";

const withCode = (code: string, message = "failed") => Object.assign(new Error(message), { code });

describe("an explanation of a Redis error", () => {
  it.each([
    ["WRONGPASS invalid username-password pair or user is disabled.", /refuses that user or password/],
    ["NOAUTH Authentication required.", /requires a password/],
    [
      "ERR The user executing the script can't run this command or subcommand",
      /refuses a command of that user/,
    ],
    ["NOPERM this user has no permissions to run the 'eval' command", /refuses a command of that user/],
    ["READONLY You can't write against a read only replica.", /replica, which does not accept writes/],
    [
      "ERR Error running script (call to f_1): @user_script:1: @user_script: 1: -READONLY You can't write against a read only replica.",
      /replica, which does not accept writes/,
    ],
    ["MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.", /primary is down/],
    ["NOREPLICAS Not enough good replicas to write.", /too few replicas.*address of the primary/],
    ["OOM command not allowed when used memory > 'maxmemory'.", /out of memory/],
    ["MOVED 3999 10.0.0.2:6379", /a Redis Cluster, which the bot does not support/],
    ["CROSSSLOT Keys in request don't hash to the same slot", /a Redis Cluster/],
    ["CLUSTERDOWN Hash slot not served", /a Redis Cluster/],
    [
      "ERR Error running script (call to f_1): @user_script:3: Script attempted to access a non local key in a cluster node",
      /a Redis Cluster/,
    ],
    ["DENIED Redis is running in protected mode because protected mode is enabled", /in protected mode/],
    ["ERR max number of clients reached", /too many connections. Raise its maxclients/],
    ["ERR DB index is out of range", /no database of that number/],
  ])("is given for a refusal: %s", (message, words) => {
    expect(isRefusal(new Error(message))).toBe(true);
    expect(explainRedis(new Error(message))).toMatch(words);
  });

  it.each([
    [withCode("ECONNREFUSED"), "redis:", /cannot be reached: nothing is listening there \(ECONNREFUSED\)/],
    [withCode("ENOTFOUND"), "redis:", /no such host/],
    [withCode("DEPTH_ZERO_SELF_SIGNED_CERT"), "rediss:", /certificate is not trusted/],
    [withCode("ERR_SSL_WRONG_VERSION_NUMBER"), "rediss:", /does not use TLS there/],
    [new Error("Connection timeout"), "rediss:", /Check that Redis uses TLS there/],
    [new Error("Connection timeout"), "redis:", /^Redis does not answer$/],
    [
      new Error("Socket timeout timeout. Expecting data, but didn't receive any in 3000ms."),
      "redis:",
      /^Redis does not answer$/,
    ],
    [new Error('Unknown RESP type 72 "H"'), "redis:", /is not Redis. Check the host and the port/],
    [withCode("ECONNRESET"), "redis:", /If it requires TLS/],
    [new Error("Socket closed unexpectedly"), "rediss:", /^Redis closes the connection$/],
  ])("is given for a connection failure: %s", (error, url, words) => {
    expect(isRefusal(error)).toBe(false);
    expect(explainRedis(error, `${url}//:secret@host`)).toMatch(words);
  });

  it("doubts the protocol only of an address with which no connection has worked yet", () => {
    const closed = new Error("Socket closed unexpectedly");
    expect(explainRedis(closed, "redis://host", true)).toBe("Redis closes the connection");
  });

  it.each(["READONLY x", "NOREPLICAS x", "MISCONF x"])(
    "says that another server may be the primary: %s",
    (message) => {
      expect(takesNoWrites(new Error(message))).toBe(true);
    },
  );

  it("never repeats an unknown error, which may contain anything", () => {
    expect(explainRedis(new Error("redis://:secret@host failed"))).toBe("Redis failed (Error)");
    expect(explainRedis(new Error("constructor failed"))).toBe("Redis failed (Error)");
    expect(explainRedis("secret")).toBe("Redis failed");
  });
});

describeWithRedis("a Redis without a password", () => {
  let server: RedisProcess;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.close());

  it("is not used with one, and says so", async () => {
    const redis = connectRedis(server.url.replace("//", "//:any@"), { info() {}, warn() {} });
    await expect.poll(() => redis.problem()).toMatch(/Redis has no password/);
    await redis.close();
  });

  it("tells a lost connection from a refusal", async () => {
    const client = createClient({ url: server.url });
    await client.connect();
    const refusal: unknown = await client.sendCommand(["NONSENSE"]).catch((error: unknown) => error);
    const pending = client.sendCommand(["BLPOP", "nothing", "0"]).catch((error: unknown) => error);
    client.destroy();
    const late = client.sendCommand(["PING"]).catch((error: unknown) => error);
    expect([refusal, await pending, await late].map(isConnectionLost)).toEqual([false, true, true]);
    const reset = Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
    expect(isConnectionLost(reset)).toBe(true);
  });
});

describeWithRedis("a Redis that refuses", () => {
  let server: RedisProcess;
  beforeAll(async () => {
    server = await startRedis();
    const admin = createClient({ url: server.url });
    await admin.connect();
    await admin.sendCommand(["ACL", "SETUSER", "weak", "on", ">pw", "+get", "+ping", "~crier:*"]);
    await admin.sendCommand(["ACL", "SETUSER", "default", ">right"]);
    await admin.sendCommand(["ACL", "SETUSER", "default", "resetpass", ">right"]);
    admin.destroy();
  });
  afterAll(() => server.close());

  it.each([
    ["a wrong password", ":wrong@", /refuses that user or password/],
    ["an unknown user", "nobody:wrong@", /refuses that user or password/],
    ["no password", "", /requires a password/],
    ["a user without permissions", "weak:pw@", /refuses a command of that user/],
  ])("is reported once in plain words, and not used: %s", async (_, login, words) => {
    const warnings: unknown[] = [];
    const log = { info() {}, warn: (context: object) => void warnings.push(context) };
    const redis = connectRedis(server.url.replace("//", `//${login}`), log);
    await expect.poll(() => redis.problem()).toMatch(words);
    expect(redis.usable()).toBe(false);
    expect(warnings).toHaveLength(1);
    expect(JSON.stringify(warnings)).not.toMatch(/wrong|pw@/);
    await redis.close();
  });

  it("is used with the right password", async () => {
    const redis = connectRedis(server.url.replace("//", "//:right@"), { info() {}, warn() {} });
    await expect.poll(() => redis.usable()).toBe(true);
    await redis.tried();
    expect([redis.usable(), redis.problem()]).toEqual([true, undefined]);
    await redis.close();
  });
});
