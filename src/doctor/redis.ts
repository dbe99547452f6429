import { openStorage, type Storage } from "../storage/index.js";
import { type Finding, fail, pass, warn } from "./finding.js";

/** Parses the output of Redis INFO. */
const infoOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    text.split("\r\n").flatMap((line) => {
      const [key, value] = line.split(":");
      return key && value !== undefined ? [[key, value]] : [];
    }),
  );

const OLDEST_REDIS = 6;
const CONNECT_MS = 5_000;

/** Checks the version, mode, persistence and eviction policy of Redis. Returns the open storage if Redis can be used. */
export async function* checkRedis(url: string): AsyncGenerator<Finding, Storage | undefined> {
  const storage = await openStorage({ redisUrl: url, dataDir: "" }, { error() {}, warn() {}, info() {} });
  const { redis } = storage;
  const isConnected = await redis?.connected(CONNECT_MS);
  // Redis accepted the connection, but may not allow the bot's commands. Wait until they have been tried.
  if (isConnected) await redis?.tried();
  const problem = redis?.problem();
  if (!redis || !isConnected || problem !== undefined) {
    // Some problems say what to do in their second sentence.
    const hasAdvice = problem?.includes(". ") === true;
    yield fail(
      "Redis",
      problem ?? "cannot be reached",
      hasAdvice
        ? "Then run the doctor again."
        : "Check REDIS_URL, its user and password, and that Redis runs.",
    );
    await storage.close();
    return undefined;
  }
  const reply = await redis.client.info().catch(() => undefined);
  if (reply === undefined) {
    yield warn(
      "Redis",
      "its version and settings can't be read",
      "Let the user run INFO, or check them yourself.",
    );
    return storage;
  }
  const info = infoOf(reply);
  const version = info.redis_version ?? "0";
  yield Number.parseInt(version, 10) >= OLDEST_REDIS
    ? pass("Redis", `version ${version}`)
    : fail("Redis", `version ${version}`, `Use version ${OLDEST_REDIS} or newer.`);
  if (info.cluster_enabled === "1")
    yield fail("Redis", "is a cluster, which the bot does not support", "Use a single Redis.");
  // A managed Redis may not allow CONFIG GET.
  const config = await redis.client.configGet("save").catch(() => undefined);
  const saved = config === undefined || Boolean(config.save);
  const [check, advice] = ["Redis persistence", "Set `appendonly yes`."];
  if (info.aof_enabled === "1") yield pass(check, "append-only file");
  else if (saved) yield warn(check, "no append-only file: a crash loses the last minutes", advice);
  else yield fail(check, "none: subscriptions are lost when Redis restarts", advice);
  const policy = info.maxmemory_policy ?? "unknown";
  yield policy === "volatile-lru"
    ? pass("Redis eviction", policy)
    : fail(
        "Redis eviction",
        `${policy} ${policy.startsWith("allkeys") ? "may drop the state" : "may stop its writes once memory is full"}`,
        "Set `maxmemory-policy volatile-lru`: the cache expires, the state does not.",
      );
  return storage;
}
