import { accessSync, constants, copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { openFileState } from "../../storage/file-state.js";
import { connectRedis } from "../../storage/redis.js";
import { createRedisState } from "../../storage/redis-state.js";
import { type State, StateError } from "../../storage/state.js";
import { type Finding, fine, notice, wrong } from "./finding.js";

/** A section of Redis' INFO as a record. */
const infoOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    text.split("\r\n").flatMap((line) => {
      const [key, value] = line.split(":");
      return key && value !== undefined ? [[key, value]] : [];
    }),
  );

const OLDEST_REDIS = 6;
const CONNECT_MS = 5_000;

/** Version, persistence and eviction; gives the state that it holds. */
export async function* checkRedis(url: string): AsyncGenerator<Finding, State | undefined> {
  const redis = connectRedis(url, { warn() {}, info() {} });
  if (!(await redis.connected(CONNECT_MS))) {
    yield wrong("Redis", "cannot be reached", "Check REDIS_URL, its password, and that Redis runs.");
    await redis.close();
    return undefined;
  }
  const info = infoOf(await redis.client.info());
  const version = info.redis_version ?? "0";
  yield Number.parseInt(version, 10) >= OLDEST_REDIS
    ? fine("Redis", `version ${version}`)
    : wrong("Redis", `version ${version}`, `Use version ${OLDEST_REDIS} or newer.`);
  // A managed Redis may not tell.
  const config = await redis.client.configGet("save").catch(() => undefined);
  const saved = config === undefined || Boolean(config.save);
  yield info.aof_enabled === "1"
    ? fine("Redis persistence", "append-only file")
    : saved
      ? notice(
          "Redis persistence",
          "no append-only file: a crash loses the last minutes",
          "Set `appendonly yes`.",
        )
      : wrong(
          "Redis persistence",
          "none: subscriptions are lost when Redis restarts",
          "Set `appendonly yes`.",
        );
  const policy = info.maxmemory_policy ?? "unknown";
  yield policy === "volatile-lru"
    ? fine("Redis eviction", policy)
    : wrong(
        "Redis eviction",
        `${policy} ${policy.startsWith("allkeys") ? "may drop the state" : "may stop its writes once memory is full"}`,
        "Set `maxmemory-policy volatile-lru`: the cache expires, the state does not.",
      );
  return createRedisState(redis.client);
}

/**
 * A copy of the state's file, which a bot at work may hold; undefined where there is none yet. Nothing is made or locked.
 * @throws where the folder cannot be written to
 */
export function openCopy(dataDir: string): { readonly state: State; readonly clean: () => void } | undefined {
  const folder = existsSync(dataDir) ? dataDir : dirname(resolve(dataDir));
  if (!statSync(folder).isDirectory()) throw new StateError(`${folder} is no folder`);
  accessSync(folder, constants.W_OK);
  if (!existsSync(join(dataDir, "crier.db"))) return undefined;
  accessSync(join(dataDir, "crier.db"), constants.W_OK);
  const copy = mkdtempSync(join(tmpdir(), "crier-doctor-"));
  for (const name of ["crier.db", "crier.db-wal"])
    if (existsSync(join(dataDir, name))) copyFileSync(join(dataDir, name), join(copy, name));
  return { state: openFileState(copy), clean: () => rmSync(copy, { recursive: true, force: true }) };
}
