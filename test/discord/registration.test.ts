import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { REST } from "discord.js";
import { expect, it } from "vitest";
import { keepRegistering } from "../../src/discord/registration.js";
import type { State } from "../../src/storage/state.js";
import { newState } from "../harness.js";

type Answer = (response: ServerResponse, request: IncomingMessage) => void;
const json =
  (status: number, body: unknown): Answer =>
  (response) =>
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
const html =
  (status: number): Answer =>
  (response) =>
    response.writeHead(status, { "content-type": "text/html" }).end("<html>Checking your browser</html>");
interface Scope {
  readonly guildId: string;
  readonly state: State;
}
const PRICE = { id: "7", name: "price", description: "The price", type: 1 as const };

/** Registers a command at a server that answers so at first. */
async function register(first: Answer, { guildId = "2", state = newState() }: Partial<Scope> = {}) {
  let answer = first;
  const server = createServer((request, response) => answer(response, request));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const lines: string[] = [];
  const note = (_: object, text: string) => void lines.push(text);
  const log = { debug: note, info: note, warn: note, error: note };
  const rest = new REST({
    api: `http://127.0.0.1:${port}`,
    retries: 0,
    timeout: 300,
    rejectOnRateLimit: () => true,
  }).setToken("token");
  const ids: string[] = [];
  const registration = keepRegistering(
    { rest, applicationId: "1", definitions: [PRICE], guildId, guildIds: [], state, log },
    (registered) => void ids.push(...registered.values()),
  );
  await registration.tried;
  return {
    registration,
    lines,
    ids,
    answersNow: (next: Answer) => {
      answer = next;
    },
    close() {
      registration.stop();
      server.closeAllConnections();
      server.close();
    },
  };
}

it.concurrent.for<[string, Answer, string]>([
  [
    "limits the bot for ten minutes",
    json(429, { message: "limited", retry_after: 600, global: false }),
    "Discord asks the bot to wait.",
  ],
  ["is unavailable", json(503, { message: "unavailable", code: 0 }), "Discord answered 503."],
  ["does not answer", () => {}, "Discord couldn't be reached."],
  ["answers with a page and status 200", html(200), "Discord couldn't be reached."],
  ["answers with a page and status 403", html(403), "Discord answered 403: No Description."],
  [
    "does not let the bot into its server yet",
    json(403, { message: "Missing Access", code: 50_001 }),
    "The bot isn't in the server of DISCORD_GUILD_ID.",
  ],
  [
    "does not know the server",
    json(404, { message: "Unknown Guild", code: 10_004 }),
    "The bot isn't in the server of DISCORD_GUILD_ID.",
  ],
  [
    "has registered enough commands for today",
    json(400, { message: "Max number of daily application command creates", code: 30_034 }),
    "Discord answered 400: Max number of daily application command creates.",
  ],
  [
    "repeats its status, and explains several fields",
    json(403, {
      message: "403: Not for this application.",
      code: 0,
      errors: { name: { _errors: [{ code: "BAD", message: "No." }] } },
    }),
    "Discord answered 403: Not for this application.",
  ],
])(
  "keeps registering the commands, and says why not yet, if Discord %s",
  async ([, first, reason], { expect }) => {
    const { registration, lines, ids, answersNow, close } = await register(first);
    expect(registration.isSettled()).toBe(false);
    expect(registration.problem()).toContain(`${reason} `);
    expect(registration.problem()).toContain("keeps trying");
    expect(lines).toEqual(["The commands could not be registered; retrying until they are"]);
    answersNow(json(200, [PRICE]));
    await expect.poll(() => registration.isSettled()).toBe(true);
    expect(registration.problem()).toBeUndefined();
    expect(lines.at(-1)).toBe("The commands are registered");
    expect(ids).toContain("7");
    close();
  },
);

it("gives up if Discord refuses the commands themselves", async () => {
  const { registration, lines, close } = await register(
    json(400, { message: "Invalid Form Body", code: 50_035, errors: {} }),
  );
  expect(registration.isSettled()).toBe(true);
  expect(registration.problem()).toContain("Discord refused them");
  expect(lines).toEqual(["Discord refused the commands; the registered ones stay in use"]);
  close();
});

it("removes the commands of an earlier server, and tries again until Discord has done it", async () => {
  const state = newState();
  const earlier = await register(json(200, [PRICE]), { guildId: "9", state });
  expect(earlier.registration.isSettled()).toBe(true);
  earlier.close();
  const answerFor: (isDown: boolean) => Answer = (isDown) => (response, request) =>
    request.url?.includes("/guilds/9/") && isDown
      ? json(503, { message: "unavailable", code: 0 })(response, request)
      : json(200, [PRICE])(response, request);
  const { registration, lines, ids, answersNow, close } = await register(answerFor(true), { state });
  expect(registration.isSettled()).toBe(true);
  expect(registration.problem()).toBeUndefined();
  expect(ids).toEqual(["7"]);
  const removed = "The commands in an earlier DISCORD_GUILD_ID are removed";
  expect(lines).toContain("The commands in an earlier DISCORD_GUILD_ID could not be removed; retrying");
  expect(lines).not.toContain(removed);
  // A failure meanwhile does not mean that the commands are not registered.
  answersNow(json(503, { message: "unavailable", code: 0 }));
  await expect.poll(() => lines).toContain("The commands of an earlier setting could not be read");
  expect(registration.problem()).toBeUndefined();
  answersNow(answerFor(false));
  await expect.poll(() => lines, { timeout: 10_000 }).toContain(removed);
  close();
});
