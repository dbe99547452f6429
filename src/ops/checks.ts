import { randomBytes } from "node:crypto";
import { accessSync, constants, copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import {
  DiscordAPIError,
  REST,
  type RESTPostAPIChatInputApplicationCommandsJSONBody,
  Routes,
} from "discord.js";
import type { Config } from "../config.js";
import { PersonError } from "../discord/errors.js";
import { lackedIn, readPlace } from "../discord/permissions.js";
import { forGuild, isRegistered } from "../discord/registration.js";
import { ExplorerError } from "../explorer/errors.js";
import { createHttp } from "../explorer/http.js";
import { openFileState } from "../storage/file-state.js";
import { connectRedis } from "../storage/redis.js";
import { createRedisState } from "../storage/redis-state.js";
import { type State, StateError } from "../storage/state.js";
import { createSubscriptions } from "../watch/subscriptions.js";

/** One thing the bot needs, and how it stands. */
export interface Finding {
  readonly what: string;
  /** Undefined where it works, but the operator should know something. */
  readonly ok: boolean | undefined;
  readonly detail: string;
  /** What to do about it. */
  readonly mend?: string;
}

type Definition = RESTPostAPIChatInputApplicationCommandsJSONBody;

const fine = (what: string, detail: string): Finding => ({ what, ok: true, detail });
const notice = (what: string, detail: string, mend: string): Finding => ({
  what,
  ok: undefined,
  detail,
  mend,
});
const wrong = (what: string, detail: string, mend: string): Finding => ({ what, ok: false, detail, mend });

/** An error in few words, without addresses, which may hold secrets. */
function wordsOf(error: unknown): string {
  if (error instanceof DiscordAPIError) return `Discord answered ${error.status}: ${error.message}`;
  const code = error instanceof Error && "code" in error ? ` (${String(error.code)})` : "";
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : "";
  return error instanceof Error ? `${error.name}${code}${cause}` : "unknown error";
}

interface Me {
  readonly id: string;
  readonly username: string;
}

interface GatewayInfo {
  readonly url: string;
  readonly shards: number;
  readonly session_start_limit: { readonly remaining: number; readonly total: number };
}

/** Whether a WebSocket can be opened there: the handshake alone, without identifying. */
function handshake(url: string): Promise<boolean> {
  const address = new URL(url.replace(/^ws/, "http"));
  const send = address.protocol === "https:" ? requestHttps : requestHttp;
  return new Promise((resolve) => {
    const sent = send(address, {
      timeout: 5_000,
      headers: {
        connection: "Upgrade",
        upgrade: "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": randomBytes(16).toString("base64"),
      },
    });
    const settle = (opened: boolean) => {
      sent.destroy();
      resolve(opened);
    };
    sent.on("upgrade", () => settle(true));
    sent.on("response", () => settle(false));
    sent.on("timeout", () => settle(false));
    sent.on("error", () => settle(false));
    sent.end();
  });
}

async function* checkDiscord(
  rest: REST,
  { guildId, shards }: Config["discord"],
  definitions: readonly Definition[],
): AsyncGenerator<Finding, Me | undefined> {
  let me: Me;
  try {
    me = (await rest.get(Routes.user())) as Me;
    yield fine("Token", `accepted: the bot is ${me.username}`);
  } catch (error) {
    const refused = error instanceof DiscordAPIError && error.status === 401;
    yield refused
      ? wrong(
          "Token",
          "refused by Discord",
          "Set DISCORD_TOKEN to the token on the application's Bot page (Reset Token).",
        )
      : wrong(
          "Token",
          wordsOf(error),
          "Check that this machine reaches DISCORD_API_URL, also through its firewall.",
        );
    return undefined;
  }
  let id: string;
  try {
    ({ id } = (await rest.get(Routes.currentApplication())) as { id: string });
    yield fine("Application", `its id is ${id}`);
  } catch (error) {
    yield wrong("Application", wordsOf(error), "Try again in a minute; look at Discord's status page.");
    return me;
  }

  const route =
    guildId === undefined ? Routes.applicationCommands(id) : Routes.applicationGuildCommands(id, guildId);
  const where = guildId === undefined ? "everywhere" : `in the server ${guildId}`;
  try {
    const registered = (await rest.get(route)) as unknown[];
    const ours = guildId === undefined ? definitions : definitions.map(forGuild);
    yield isRegistered(ours, registered)
      ? fine("Commands", `${registered.length} registered ${where}`)
      : notice(
          "Commands",
          `those registered ${where} are of another version`,
          "Start the bot: it registers them.",
        );
  } catch (error) {
    yield wrong(
      "Commands",
      wordsOf(error),
      "Check DISCORD_GUILD_ID: the bot must have been invited to that server.",
    );
  }

  try {
    yield await checkGateway(rest, shards);
  } catch (error) {
    yield wrong("Gateway", wordsOf(error), "Try again in a minute; look at Discord's status page.");
  }
  return me;
}

async function checkGateway(rest: REST, shards: Config["discord"]["shards"]): Promise<Finding> {
  const gateway = (await rest.get(Routes.gatewayBot())) as GatewayInfo;
  const { remaining, total } = gateway.session_start_limit;
  const own = shards === "auto" ? gateway.shards : shards.count;
  if (remaining < own)
    return wrong(
      "Gateway",
      `only ${remaining} of ${total} starts are left today`,
      "Wait until tomorrow, and find out what restarts the bot so often.",
    );
  if (!(await handshake(gateway.url)))
    return wrong(
      "Gateway",
      "its address takes no WebSocket",
      "Check that a firewall or proxy lets WebSockets through.",
    );
  if (own < gateway.shards)
    return notice(
      "Gateway",
      `reachable; ${own} shards, where Discord recommends ${gateway.shards}`,
      "Raise the count in DISCORD_SHARDS on every process.",
    );
  return fine("Gateway", `reachable; ${own} shards; ${remaining} of ${total} starts left today`);
}

async function checkExplorer(config: Config["explorer"]): Promise<Finding> {
  const get = createHttp(config);
  const { host } = new URL(config.apiUrl);
  try {
    await get("market/get-price", {}, AbortSignal.timeout(10_000));
    return fine("Explorer", `${host} answers, and accepts the key`);
  } catch (error) {
    const problem = error instanceof ExplorerError ? error.problem : "failing";
    if (problem === "refused")
      return wrong(
        "Explorer",
        `${host} refuses the key`,
        "Set EXPLORER_API_KEY to a valid key; check EXPLORER_API_URL too.",
      );
    if (problem === "missing" || problem === "unreadable")
      return wrong(
        "Explorer",
        `${host} answers something else`,
        "Check EXPLORER_API_URL: the service's base address, with or without /v1.",
      );
    if (problem === "limited")
      return notice("Explorer", `${host} asks for fewer requests`, "Lower EXPLORER_REQUESTS_PER_MINUTE.");
    return wrong(
      "Explorer",
      `${host} does not answer (${problem})`,
      "Check EXPLORER_API_URL, and that this machine reaches it.",
    );
  }
}

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

async function* checkRedis(url: string): AsyncGenerator<Finding, State | undefined> {
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
function openCopy(dataDir: string): { readonly state: State; readonly clean: () => void } | undefined {
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

async function* checkSubscriptions(
  rest: REST,
  me: Me,
  state: State,
  channelId: string | undefined,
): AsyncGenerator<Finding> {
  const subscriptions = createSubscriptions(state, channelId);
  const all = await subscriptions.all();
  if (all.length === 0) yield fine("Subscriptions", "none yet: `/subscribe governance` makes one");
  for (const { channelId: id, guildId, roleId, thread } of all) {
    const what = `Channel ${id}`;
    try {
      const guild = guildId ?? ((await rest.get(Routes.channel(id))) as { guild_id?: string }).guild_id ?? "";
      const place = await readPlace(rest, guild, id);
      const lacking = await lackedIn(rest, me.id, place, { roleId, thread });
      const name = `${"name" in place.channel ? `#${place.channel.name}` : id} in ${place.guild.name}`;
      const { paused, error } = await subscriptions.health(id);
      if (lacking.length > 0)
        yield wrong(
          what,
          `${name}: the bot lacks ${lacking.join(", ")}`,
          "Grant it in the channel's settings, then `/subscribe resume`.",
        );
      else if (paused)
        yield wrong(
          what,
          `${name}: paused${error ? ` (${error})` : ""}`,
          "Take it up again with `/subscribe resume` there.",
        );
      else yield fine(what, name);
    } catch (error) {
      const words = error instanceof PersonError ? "the bot cannot see it" : wordsOf(error);
      yield wrong(what, words, "Grant View Channel there, or end it with `/subscribe remove`.");
    }
  }
}

/** Checks everything the bot needs against the real things, one after another. Nothing is changed, no secret shown. */
export async function* checkAll(config: Config, definitions: readonly Definition[]): AsyncGenerator<Finding> {
  const rest = new REST({ api: config.discord.apiUrl, retries: 1, timeout: 8_000 });
  rest.setToken(config.discord.token);
  const me = yield* checkDiscord(rest, config.discord, definitions);
  yield await checkExplorer(config.explorer);
  let clean = () => {};
  let state: State | undefined;
  try {
    if (config.redisUrl !== undefined) state = yield* checkRedis(config.redisUrl);
    else {
      const opened = openCopy(config.dataDir);
      if (opened) ({ state, clean } = opened);
      yield fine(
        "DATA_DIR",
        opened ? "can be written to" : "can be written to; the first start makes the file",
      );
    }
  } catch (error) {
    const words = error instanceof StateError ? error.message : wordsOf(error);
    yield wrong(
      config.redisUrl === undefined ? "DATA_DIR" : "Redis",
      words,
      "Set it to a folder the bot may write to, or set REDIS_URL.",
    );
  }
  try {
    if (me && state) yield* checkSubscriptions(rest, me, state, config.governance.channelId);
  } catch (error) {
    // A copy taken while a bot writes may be torn.
    yield notice("Subscriptions", wordsOf(error), "Run it again.");
  } finally {
    await state?.close();
    clean();
  }
}
