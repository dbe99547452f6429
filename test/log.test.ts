import { describe, expect, it } from "vitest";
import { DiscordError } from "../sandbox/discord/errors.js";
import { Refused } from "../sandbox/explorer/server.js";
import { createLog } from "../src/log.js";
import { startHarness } from "./harness.js";

const SECRETS = ["Bot.token-0123456789abcdef", 'key+with/odd=chars"and\\more'];

/** Returns the text that a log writes during `work`. */
function written(work: (log: ReturnType<typeof createLog>) => void, secrets = SECRETS): string {
  const lines: string[] = [];
  work(createLog({ logLevel: "trace" }, secrets, { write: (line) => void lines.push(line) }));
  return lines.join("");
}

describe("the log", () => {
  it("never contains the token or the key", () => {
    const [token = "", key = ""] = SECRETS;
    const error = new Error(`GET https://x.example/?key=${key} failed`, {
      cause: new Error(`authorization: Bot ${token}`),
    });
    Object.assign(error, { headers: { "x-api-key": key }, request: { token }, url: `/webhooks/1/${token}` });
    const text = written((log) => {
      log.error(
        { err: error, config: { token, nested: [{ key }] }, [token]: 1 },
        `It was ${token} and ${key}`,
      );
      log.debug({ err: `${key}`, list: [token, key] }, "plain");
    });
    expect(text.split("\n").filter(Boolean)).toHaveLength(2);
    for (const secret of SECRETS) {
      expect(text).not.toContain(secret);
      expect(text).not.toContain(JSON.stringify(secret).slice(1, -1));
      expect(text).not.toContain(encodeURIComponent(secret));
    }
    expect(text).toContain("[hidden]");
    for (const line of text.trim().split("\n")) expect(() => JSON.parse(line)).not.toThrow();
  });

  it("stays readable if a key has only one character", () => {
    const text = written((log) => log.info({ shard: 0 }, "Ready"), ["0", "y", "e"]);
    expect(JSON.parse(text)).toMatchObject({ shard: 0, msg: "Ready" });
  });

  it("contains no secrets of a running bot, and gives all lines of an interaction the same id", async () => {
    const harness = await startHarness({ env: () => ({ LOG_LEVEL: "trace" }) });
    const { driver, people, channels, token, world } = harness.discord;
    const here = { user: people.ana, channel: channels.general };
    await driver.ask(here, "/network");
    harness.explorer.injectFault({
      kind: "redirect",
      to: `https://elsewhere.example/?k=${harness.explorer.key}`,
    });
    await driver.ask(here, "/transfers");
    const broken = new DiscordError(500, 0, "Internal Server Error");
    harness.discord.trap({ method: "POST", path: /callback/, error: broken, times: 20 });
    const failed = driver.type(here, "/help");
    await world.until(() => harness.bot().output().includes(failed.id), "the failure in the log");
    const lines = () =>
      harness
        .bot()
        .output()
        .split("\n")
        .filter((line) => line.includes(failed.id))
        .map((line) => JSON.parse(line) as { interaction: string; msg: string });
    await world.until(() => lines().some(({ msg }) => msg === "Interaction"), "the interaction's own line");
    expect(lines().every(({ interaction }) => interaction === failed.id)).toBe(true);
    const output = harness.bot().output();
    for (const secret of [token, harness.explorer.key, failed.token]) expect(output).not.toContain(secret);
    await harness.close();
  });

  it("does not contain what people typed, if the explorer refuses it", async () => {
    const mood = (answer: unknown, path: string) => {
      if (path === "/v1/parties/:id") throw new Refused(403);
      return answer;
    };
    const harness = await startHarness({ explorer: { mood } });
    const { driver, people, channels, world } = harness.discord;
    const here = { user: people.ana, channel: channels.general };
    const party = harness.explorer.ledger.parties[0]?.id ?? "";
    await driver.ask(here, "/party show", { party });
    const output = () => harness.bot().output();
    await world.until(() => output().includes("The explorer restricts an endpoint"), "the line");
    expect(output()).toContain("GET /parties/{id}: answered 403");
    expect(output()).not.toContain(party.split("::")[0]);
    await harness.close();
  });
});
