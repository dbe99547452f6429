import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { newDataDir } from "../../sandbox/bot-process.js";
import { startRedis } from "../../sandbox/redis-process.js";
import { describeWithRedis } from "../needs.js";

const TOOL = fileURLToPath(new URL("../../dist/src/state-tool.js", import.meta.url));

/** Runs the tool as an operator does. */
function run(env: Record<string, string>, ...args: string[]) {
  const { status, stdout, stderr } = runWith("", env, ...args);
  return { status, said: `${stdout}${stderr}` };
}

function runWith(input: string, env: Record<string, string>, ...args: string[]) {
  return spawnSync(process.execPath, [TOOL, ...args], {
    env: { PATH: process.env.PATH, ...env },
    cwd: newDataDir(),
    encoding: "utf8",
    input,
  });
}

describeWithRedis("the state", () => {
  it("moves from a file to Redis and back, whole", async () => {
    const redis = await startRedis();
    const [from, to] = [newDataDir(), newDataDir()];
    const files = ["given", "moved", "back"].map((name) => join(from, `${name}.json`));
    const [given = "", moved = "", back = ""] = files;
    const state = {
      crier: 1,
      collections: {
        prices: { samples: [[1, "0.1"]] },
        subscriptions: { "1": { guild: "2", topics: ["new"], note: "ü\u0000\n" }, "3": { guild: null } },
      },
    };
    writeFileSync(given, JSON.stringify(state));
    expect(run({ DATA_DIR: from }, "import", given)).toMatchObject({
      status: 0,
      said: expect.stringContaining("3"),
    });
    expect(run({ DATA_DIR: from }, "export", moved).status).toBe(0);
    expect(run({ REDIS_URL: redis.url }, "import", moved).status).toBe(0);
    expect(run({ REDIS_URL: redis.url }, "export", back).status).toBe(0);
    expect(JSON.parse(readFileSync(back, "utf8"))).toEqual(state);

    const { stdout } = runWith("", { REDIS_URL: redis.url }, "export", "-");
    expect(JSON.parse(stdout)).toEqual(state);
    expect(runWith(stdout, { DATA_DIR: to }, "import", "-").status).toBe(0);
    expect(runWith("", { DATA_DIR: to }, "export", "-").stdout).toBe(stdout);
    expect(run({ DATA_DIR: to }, "export", "/nowhere/state.json").said).toMatch(
      /^\/nowhere.* cannot be written/,
    );

    const again = run({ REDIS_URL: redis.url }, "import", moved);
    expect(again).toMatchObject({ status: 1, said: expect.stringContaining("--replace") });
    expect(run({ REDIS_URL: redis.url }, "import", moved, "--replace").status).toBe(0);
    expect(run({ DATA_DIR: to }, "import", fileURLToPath(import.meta.url)).said).toContain(
      "cannot be read as JSON",
    );
    writeFileSync(given, "[]");
    expect(run({ DATA_DIR: to }, "import", given).said).toContain("no exported state");
    expect(run({ DATA_DIR: to }, "perhaps").said).toContain("Use: npm run state");
    await redis.close();
  });
});
