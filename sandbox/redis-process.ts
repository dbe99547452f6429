import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createClient } from "@keyv/redis";

/** Returns true if redis-server is installed. */
export const redisInstalled = (): boolean => spawnSync("redis-server", ["--version"]).status === 0;

/** A separate redis-server on a free port. */
export interface RedisProcess {
  readonly url: string;
  readonly port: number;
  /** Kills it, as a crash would. */
  kill(): Promise<void>;
  /** Suspends it. It keeps its connections and answers nothing. */
  freeze(): void;
  thaw(): void;
  start(): Promise<void>;
  /** Makes it a replica of another, and waits until it has copied its data. */
  replicate(primary: Pick<RedisProcess, "port">): Promise<void>;
  /** Makes it a primary. */
  promote(): Promise<void>;
  /** Lets a replica take its place without losing a write (Redis: FAILOVER), and becomes its replica. */
  handOver(replica: Pick<RedisProcess, "port">): Promise<void>;
  close(): Promise<void>;
}

/** Returns a free port of this machine. */
export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() =>
        typeof address === "object" && address ? resolve(address.port) : reject(new Error("No port")),
      );
    });
  });

/** Prepares a redis-server, and starts it unless `started` is false. Its data survives a restart. */
export async function startRedis({
  started = true,
  settings: more = [],
}: {
  readonly started?: boolean;
  /** Additional arguments of redis-server. */
  readonly settings?: readonly string[];
} = {}): Promise<RedisProcess> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), "crier-redis-"));
  let child: ChildProcess | undefined;

  const start = () =>
    new Promise<void>((resolve, reject) => {
      const settings = [
        "--port",
        String(port),
        "--bind",
        "127.0.0.1",
        "--dir",
        folder,
        "--appendonly",
        "yes",
        "--save",
        "",
        "--maxmemory-policy",
        "volatile-lru",
        ...more,
      ];
      const server = spawn("redis-server", settings, { stdio: ["ignore", "pipe", "ignore"] });
      child = server;
      server.stdout.on("data", (chunk: Buffer) => {
        if (chunk.toString().includes("Ready to accept connections")) resolve();
      });
      server.once("error", reject);
    });
  const kill = async () => {
    const server = child;
    child = undefined;
    if (!server || server.exitCode !== null) return;
    const exited = new Promise((resolve) => server.once("exit", resolve));
    server.kill("SIGKILL");
    await exited;
  };
  const tell = async (...words: string[]): Promise<string> => {
    const client = createClient({ url: `redis://127.0.0.1:${port}` });
    await client.connect();
    try {
      return String(await client.sendCommand(words));
    } finally {
      client.destroy();
    }
  };
  if (started) await start();
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    kill,
    freeze: () => void child?.kill("SIGSTOP"),
    thaw: () => void child?.kill("SIGCONT"),
    start,
    async replicate(primary) {
      await tell("REPLICAOF", "127.0.0.1", String(primary.port));
      while (!(await tell("INFO", "replication")).includes("master_link_status:up")) await delay(50);
    },
    async promote() {
      await tell("REPLICAOF", "NO", "ONE");
    },
    async handOver(replica) {
      await tell("FAILOVER", "TO", "127.0.0.1", String(replica.port), "TIMEOUT", "10000");
      while (!(await tell("INFO", "replication")).includes("role:slave")) await delay(20);
    },
    close: kill,
  };
}
