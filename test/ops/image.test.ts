import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { validate } from "dockerfile-utils";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";

const root = fileURLToPath(new URL("../..", import.meta.url));
const read = (path: string) => readFileSync(join(root, path), "utf8");
const lines = (path: string) => read(path).split("\n").filter(Boolean);

describe("the image", () => {
  it("has a Dockerfile without linter errors", () => {
    expect(validate(read("Dockerfile")).map(({ message, range }) => [range.start.line + 1, message])).toEqual(
      [],
    );
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
    expect(services.bot.environment.REDIS_URL).toBe("redis://redis:6379");
    expect(services.redis.command.join(" ")).toMatch(/--appendonly yes .*--maxmemory-policy volatile-lru/);
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
