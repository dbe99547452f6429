import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { Events, REST } from "discord.js";
import { commands } from "../commands/index.js";
import { createCharts } from "./charts/charts.js";
import { type Config, ConfigError } from "./config.js";
import { createDiscordClient, inviteLink } from "./discord/client.js";
import { createDispatch } from "./discord/dispatch.js";
import { explainClose, gatewayOf, logIn, watchGateway } from "./discord/gateway.js";
import { commandHelp } from "./discord/help.js";
import { registerCommands } from "./discord/registration.js";
import { createDirectory } from "./explorer/directory.js";
import { createHttp } from "./explorer/http.js";
import { createQuota, createTokens } from "./explorer/quota.js";
import { createExplorerService } from "./explorer/service.js";
import { createSharedTokens } from "./explorer/shared-tokens.js";
import { createUpstream } from "./explorer/upstream.js";
import { serveHealth } from "./ops/health.js";
import { createLog } from "./ops/log.js";
import { createMetrics } from "./ops/metrics.js";
import { createCache, REDIS_PREFIX } from "./storage/cache.js";
import { createIdKeys } from "./storage/id-keys.js";
import { compete, holdForever } from "./storage/lease.js";
import { createRedisState } from "./storage/redis-state.js";
import { createBackground } from "./watch/background.js";
import { DIRECTORY_MS, loadDirectory } from "./watch/directory.js";
import { createPriceHistory } from "./watch/prices.js";
import { repeat } from "./watch/repeat.js";
import { createSubscriptions } from "./watch/subscriptions.js";

/** A bot at work. */
export interface Bot {
  /** Takes no more work, finishes what is in flight (5 s at most), and closes everything. */
  stop(): Promise<void>;
}

const FINISH_MS = 5_000;
/**
 * Each interaction's answers have a queue of their own in discord.js' REST, kept until it is swept: by itself every hour,
 * and never again after a login that failed.
 */
const SWEEP_MS = 60_000;

/**
 * Builds the parts and connects them.
 * @param stopped ends the waiting for a Discord that cannot be reached
 * @param broken called where Discord ends the connection for good: only other settings, or a new start, help
 * @throws {ConfigError} where Discord refuses the token
 * @throws {StateError} where the state cannot be used
 */
export async function startBot(
  config: Config,
  stopped: AbortSignal,
  broken: (error: ConfigError) => void,
): Promise<Bot> {
  const log = createLog(config, [config.discord.token, config.explorer.apiKey]);
  const metrics = await createMetrics(config.httpPort !== undefined, () => gatewayOf(client));
  // Only what is used is loaded: each of the two costs some megabytes and tens of milliseconds.
  const redis =
    config.redisUrl === undefined
      ? undefined
      : (await import("./storage/redis.js")).connectRedis(config.redisUrl, log);
  const state = redis
    ? createRedisState(redis.client)
    : (await import("./storage/file-state.js")).openFileState(config.dataDir);
  const cache = createCache({ memoryMb: config.cacheMemoryMb, redis, log });
  const keys = createIdKeys(state, log);

  const { requestsPerMinute } = config.explorer;
  const ownTokens = createTokens(requestsPerMinute);
  const quota = createQuota({
    tokens: redis
      ? createSharedTokens(
          redis,
          requestsPerMinute,
          ownTokens,
          `${REDIS_PREFIX}quota:${digest(config.explorer.apiUrl + config.explorer.apiKey)}`,
        )
      : ownTokens,
    concurrency: config.explorer.concurrency,
  });
  const upstream = createUpstream({
    get: createHttp(config.explorer),
    quota,
    news: {
      onDown: (err) =>
        log.warn({ err }, "The explorer is not answering; it is tried again from time to time"),
      onRefused: (err) =>
        log.error(
          { err },
          "The explorer refuses EXPLORER_API_KEY (or EXPLORER_API_URL is wrong); it is tried again",
        ),
      onBack: () => log.info({}, "The explorer answers again"),
      onRequest: ({ status, lane, ms, waitedMs }) => metrics.request(status, lane, ms, waitedMs),
    },
  });
  const explorer = createExplorerService({
    upstream,
    cache,
    origin: digest(config.explorer.apiUrl),
    onRead: metrics.read,
  });

  const identify = redis && { redis, key: `${REDIS_PREFIX}identify:${digest(config.discord.token)}` };
  const client = createDiscordClient(config.discord, identify);
  const subscriptions = createSubscriptions(state, config.governance.channelId);
  // What to do about a limit or a failure is decided by the outbox: this one neither waits nor tries again.
  const rest = new REST({
    api: config.discord.apiUrl,
    retries: 0,
    timeout: 8_000,
    offset: 0,
    rejectOnRateLimit: () => true,
  });
  rest.setToken(config.discord.token);
  const pollMs = config.governance.pollSeconds * 1_000;
  const directory = createDirectory();
  const loading = repeat(() => loadDirectory(directory, state, log), DIRECTORY_MS, log);
  const background = createBackground({
    state,
    explorer,
    directory,
    rest,
    subscriptions,
    keys,
    pollMs,
    metrics,
    log,
  });

  const inFlight = new Set<Promise<void>>();
  let stopping = false;
  const definitions = commands.map(({ definition }) => definition);
  let commandIds: ReadonlyMap<string, string> = new Map();
  const screens = {
    directory,
    prices: createPriceHistory(state, log),
    charts: createCharts(log),
    help: {
      commands: () => commandHelp(definitions, commandIds),
      source: new URL(config.explorer.apiUrl).host,
    },
  };
  const dispatch = createDispatch({
    commands,
    services: { explorer, screens, subscriptions, state, rest: client.rest },
    keys,
    metrics,
    log,
  });
  client.on(Events.InteractionCreate, (interaction) => {
    if (stopping) return;
    const work = dispatch(interaction).finally(() => inFlight.delete(work));
    inFlight.add(work);
  });
  watchGateway(client, log);

  const unready = async () => {
    const { ready, all } = gatewayOf(client);
    const storage = await state.get("settings", "registration").then(
      () => [],
      () => ["the state cannot be read"],
    );
    return [
      ...(stopping ? ["it is stopping"] : []),
      ...(all === 0 || ready < all ? [`${ready} of ${all || "?"} shards are connected`] : []),
      ...storage,
    ];
  };
  const health =
    config.httpPort === undefined
      ? undefined
      : await serveHealth({ port: config.httpPort, metrics, unready }).catch((error: unknown) => {
          const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
          throw new ConfigError([
            `HTTP_PORT ${config.httpPort} cannot be opened (${code}): it wants a free port`,
          ]);
        });

  const ready = new Promise<{ applicationId: string; guildIds: readonly string[] }>((resolve) => {
    const guildIds: string[] = [];
    const note = () => guildIds.push(...client.guilds.cache.keys());
    // Before the stubs are dropped; not again with each reconnection.
    client.prependListener(Events.ShardReady, note);
    client.once(Events.ClientReady, ({ application }) => {
      client.off(Events.ShardReady, note);
      resolve({ applicationId: application.id, guildIds });
    });
  });
  await logIn(client, config.discord.token, log, stopped);
  client.on(Events.ShardDisconnect, ({ code }) => broken(new ConfigError([explainClose(code)])));
  const { applicationId, guildIds } = await ready;
  const sweeping = setInterval(
    () => client.rest.handlers.sweep(({ inactive }) => inactive),
    SWEEP_MS,
  ).unref();

  // Side by side with the background work: neither waits for the other.
  const registering = registerCommands({
    rest: client.rest,
    applicationId,
    definitions,
    guildId: config.discord.guildId,
    guildIds,
    state,
    log,
  }).then(
    (ids) => {
      commandIds = ids;
    },
    (err: unknown) =>
      log.error({ err }, "The commands could not be registered; those Discord has stay in use"),
  );
  const leadership = redis
    ? compete(redis.client, state, background, log)
    : await holdForever(state, background);
  await registering;
  log.info({ link: inviteLink(applicationId) }, "Invite link");
  log.info({ user: client.user?.tag, commands: commands.length }, "Ready");

  return {
    async stop() {
      stopping = true;
      const finished = Promise.allSettled([...inFlight, leadership.stop(), loading.stop()]);
      await Promise.race([finished, delay(FINISH_MS, undefined, { ref: false })]);
      await client.destroy();
      health?.close();
      clearInterval(sweeping);
      await keys.flush();
      await state.close();
      await redis?.close();
    },
  };
}

/** A short name for what is not to be written out. */
const digest = (text: string): string => createHash("sha256").update(text).digest("base64url").slice(0, 8);
