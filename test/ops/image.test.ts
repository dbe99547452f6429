import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createClient } from "@keyv/redis";
import { validate } from "dockerfile-utils";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { freePort } from "../../sandbox/redis-process.js";
import { describeWithRedis } from "../needs.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const read = (path: string) => readFileSync(join(root, path), "utf8");
const lines = (path: string) => read(path).split("\n").filter(Boolean);

describe("the image", () => {
  it("has a Dockerfile without linter errors", () => {
    expect(validate(read("Dockerfile")).map(({ message, range }) => [range.start.line + 1, message])).toEqual(
      [],
    );
  });

  it("is built from base images that are pinned by digest", () => {
    const froms = lines("Dockerfile").filter((line) => line.startsWith("FROM "));
    expect(froms).toHaveLength(3);
    for (const line of froms) expect(line).toMatch(/ \S+:\S+@sha256:[0-9a-f]{64}( AS \S+)?$/);
    for (const path of ["compose.yaml", "ops/kubernetes.yaml"])
      expect(read(path)).toMatch(/image: redis:\S+@sha256:[0-9a-f]{64}$/m);
    expect(JSON.parse(read("renovate.json")).extends).toContain("docker:pinDigests");
  });

  it("copies exactly the files that .dockerignore allows, and no secret", () => {
    const [first, ...given] = lines(".dockerignore");
    expect(first).toBe("*");
    const copied = lines("Dockerfile")
      .filter((line) => line.startsWith("COPY ") && !line.includes("--from="))
      .flatMap((line) => line.split(/\s+/).slice(1, -1));
    expect(new Set(given.map((line) => line.replace(/^!/, "")))).toEqual(new Set(copied));
    for (const path of copied) expect(existsSync(join(root, path)), path).toBe(true);
    expect(copied).not.toContain(".env");
  });

  it("runs without privileges on a read-only file system, with a persistent Redis", () => {
    const { services } = parse(read("compose.yaml"));
    expect(services.bot).toMatchObject({ read_only: true, cap_drop: ["ALL"], env_file: ".env" });
    expect(services.bot.environment.REDIS_URL).toMatch(/^redis:\/\/:\$\{REDIS_PASSWORD:\?.*\}@redis:6379$/);
    expect(services.redis.environment.REDIS_PASSWORD).toMatch(/^\$\{REDIS_PASSWORD:\?/);
    expect(services.redis.command.join(" ")).toMatch(/--appendonly yes .*--maxmemory-policy volatile-lru/);
    expect(services.redis).toMatchObject({ user: "999:1000", cap_drop: ["ALL"] });
    for (const { mem_limit } of [services.bot, services.redis]) expect(mem_limit).toMatch(/^\d+m$/);
    expect(services.redis.volumes[0]).toMatch(/:\/data$/);
    expect(read("Dockerfile")).toMatch(/^USER node$/m);
  });

  it("has alerts with a severity, a summary and an action", () => {
    const { groups } = parse(read("ops/alerts.yaml"));
    for (const { alert, expr, labels, annotations } of groups[0].rules) {
      expect(expr, alert).toMatch(/\S/);
      expect(["critical", "warning"], alert).toContain(labels.severity);
      expect(Object.keys(annotations), alert).toEqual(["summary", "action"]);
    }
  });
});

describeWithRedis("the Redis of compose.yaml", () => {
  it("requires its password, hides it from process lists, and stops on a signal", async () => {
    const { services } = parse(read("compose.yaml"));
    const [shell, option, script] = services.redis.command as [string, string, string];
    const port = await freePort();
    const folder = mkdtempSync(join(tmpdir(), "crier-compose-"));
    const own = `redis-server - --bind 127.0.0.1 --port ${port} --dir ${folder}`;
    const server = spawn(shell, [option, script.replaceAll("$$", "$").replace("redis-server -", own)], {
      env: { ...process.env, REDIS_PASSWORD: "s3cret" },
    });
    const exited = new Promise((resolve) => server.once("exit", resolve));
    try {
      await new Promise<void>((resolve) => {
        server.stdout.on("data", (chunk) => String(chunk).includes("Ready to accept") && resolve());
      });
      const ping = async (password?: string) => {
        const client = createClient({ url: `redis://127.0.0.1:${port}`, ...(password ? { password } : {}) });
        client.on("error", () => {});
        await client.connect();
        return client.ping().finally(() => client.destroy());
      };
      await expect(ping()).rejects.toThrow("NOAUTH");
      expect(await ping("s3cret")).toBe("PONG");
      expect(readFileSync(`/proc/${server.pid}/cmdline`, "utf8")).not.toContain("s3cret");
    } finally {
      server.kill();
      await exited;
    }
  });
});
