import { setTimeout as delay } from "node:timers/promises";
import { type Client, Events, REST } from "discord.js";
import { createActions, createCommands } from "../commands/index.js";
import { tellRefusal } from "../commands/watch/watches.js";
import { createHousekeeping, stalledOf } from "./background.js";
import { createDrawingQueue } from "./charts/charts.js";
import { type Config, ConfigError } from "./config.js";
import type { FeedModule } from "./delivery/feed.js";
import { createDiscordClient, inviteLink } from "./discord/client.js";
import { createDispatch } from "./discord/dispatch.js";
import { explainClose, gatewayOf, logIn, watchGateway } from "./discord/gateway.js";
import { commandPaths } from "./discord/help.js";
import { createPacer } from "./discord/pacer.js";
import { registerCommands } from "./discord/registration.js";
import { createDiscordTime } from "./discord/time.js";
import { feeds as allFeeds, withOperator } from "./feeds/index.js";
import { createHeartbeat } from "./heartbeat.js";
import { createLog, logUncaught } from "./log.js";
import { createNetworkChoices, forgetOldChoices } from "./networks/choices.js";
import { createNetworkOf } from "./networks/choose.js";
import { createNetworks } from "./networks/index.js";
import { serveHealth } from "./ops/health.js";
import { createMetrics, type Metrics } from "./ops/metrics.js";
import { REDIS_PREFIX } from "./storage/cache.js";
import { createIdKeys, forgetOldIds } from "./storage/id-keys.js";
import { openStorage } from "./storage/index.js";
import { compete, holdForever, together } from "./storage/lease.js";
import { claimVersion, createState, type State } from "./storage/state.js";
import { digest } from "./util/digest.js";
import { perObject } from "./util/per-object.js";
import { MINUTE } from "./util/units.js";

/** A bot at work. */
export interface Bot {
  /** Takes no more work, finishes what is in flight (5 s at most), and closes everything. */
  stop(): Promise<void>;
}

/** What a bot is started with besides its settings. */
interface StartOptions {
  /** Ends the waiting for a Discord that cannot be reached. */
  readonly stopped: AbortSignal;
  /** Called where Discord ends the connection for good: only other settings, or a new start, help. */
  readonly onBroken: (error: ConfigError) => void;
  /** What can be announced (all of src/feeds). */
  readonly feeds?: readonly FeedModule[];
}

const FINISH_MS = 5_000;
/**
 * Each interaction's answers have a queue of their own in discord.js' REST, kept until it is swept: by itself every hour,
 * and never again after a login that failed.
 */
const SWEEP_MS = MINUTE;

/**
 * Builds the parts and connects them.
 * @throws {ConfigError} where Discord refuses the token
 * @throws {StateError} where the state cannot be used
 */
export async function startBot(
  config: Config,
  { stopped, onBroken, feeds = allFeeds }: StartOptions,
): Promise<Bot> {
  const log = createLog(config, [
    config.discord.token,
    ...config.networks.map(({ explorer }) => explorer.apiKey),
    // Monitors put a secret into it.
    ...(config.heartbeatUrl === undefined ? [] : [config.heartbeatUrl]),
  ]);
  const endLogging = logUncaught(log);
  const definitions = feeds.map(({ definition }) => definition);
  const metrics = await createMetrics(
    config.httpPort !== undefined,
    withOperator(feeds).map(({ definition }) => definition.name),
    config.networks.map(({ id }) => id),
    () => gatewayOf(client),
  );
  const storage = await openStorage(config, log);
  const { redis, store } = storage;
  const state = createState(store, { log });
  // A Redis may not be connected yet: there, whoever takes the lease checks it.
  if (!redis) await claimVersion(state);
  const keys = createIdKeys(state, log);
  const identify = redis && { redis, key: `${REDIS_PREFIX}identify:${digest(config.discord.token)}` };
  const client = createDiscordClient(config.discord, identify);
  const backgroundRest = createBackgroundRest(config.discord);
  let paths: ReadonlyMap<string, string> = new Map();
  const { networks, backgrounds, loading } = createNetworks(
    {
      config,
      feeds: withOperator(feeds),
      store,
      redis,
      keys,
      drawing: createDrawingQueue(),
      rest: client.rest,
      backgroundRest,
      pacer: createPacer(),
      discordTime: createDiscordTime([client.rest, backgroundRest]),
      commandPaths: () => paths,
    },
    state,
    log,
    metrics,
  );
  // Names that cannot be told apart in buttons are found at the start, where the state can be read at once.
  if (!redis) await networks.known.load();
  const background = together([
    createHousekeeping([forgetOldIds, forgetOldChoices], log, metrics.lease),
    ...backgrounds,
    ...(config.heartbeatUrl === undefined
      ? []
      : [createHeartbeat({ url: config.heartbeatUrl, stalled: () => stalledOf(backgrounds), log })]),
  ]);

  const choices = createNetworkChoices(state);
  const commands = createCommands(definitions, config.networks, choices);
  const registered = commands.map(({ definition }) => definition);
  const dispatch = createDispatch({
    commands,
    networkOf: createNetworkOf(networks, choices, client.rest),
    actionsOf: perObject((network) => createActions(network, definitions)),
    afterword: (userId, say) => tellRefusal(userId, say, networks),
    commandPaths: () => paths,
    onInteraction: metrics.interaction,
    log,
  });
  const inFlight = new Set<Promise<void>>();
  let stopping = false;
  client.on(Events.InteractionCreate, (interaction) => {
    if (stopping) return;
    const work = dispatch(interaction).finally(() => inFlight.delete(work));
    inFlight.add(work);
  });
  watchGateway(client, log);
  const health = await openHealth(config, metrics, () => unready(client, state, stopping));

  const ready = whenReady(client);
  await logIn(client, config.discord.token, log, stopped);
  client.on(Events.ShardDisconnect, ({ code }) => onBroken(new ConfigError([explainClose(code)])));
  const { applicationId, guildIds } = await ready;
  const sweeping = setInterval(
    () => client.rest.handlers.sweep(({ inactive }) => inactive),
    SWEEP_MS,
  ).unref();

  // Side by side with the background work: neither waits for the other.
  const registering = registerCommands({
    rest: client.rest,
    applicationId,
    definitions: registered,
    guildId: config.discord.guildId,
    guildIds,
    state,
    log,
  }).then(
    (ids) => {
      paths = commandPaths(registered, ids);
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
      log.info({}, "Stopping: what is under way is finished first");
      stopping = true;
      const finished = Promise.allSettled([
        ...inFlight,
        leadership.stop(),
        ...loading.map((each) => each.stop()),
      ]);
      await Promise.race([finished, delay(FINISH_MS, undefined, { ref: false })]);
      await client.destroy();
      health?.close();
      clearInterval(sweeping);
      await keys.flush();
      await storage.close();
      log.info({}, "Stopped");
      endLogging();
    },
  };
}

/** What to do about a limit or a failure is decided by the outbox: this one neither waits nor tries again. */
const createBackgroundRest = ({ apiUrl, token }: Config["discord"]): REST =>
  new REST({
    api: apiUrl,
    retries: 0,
    timeout: 8_000,
    offset: 0,
    rejectOnRateLimit: () => true,
  }).setToken(token);

/** What the bot is called at Discord, and the servers that it is in, once its shards are connected. */
function whenReady(client: Client): Promise<{ applicationId: string; guildIds: readonly string[] }> {
  return new Promise((resolve) => {
    const guildIds: string[] = [];
    const note = () => guildIds.push(...client.guilds.cache.keys());
    // Before the stubs are dropped; not again with each reconnection.
    client.prependListener(Events.ShardReady, note);
    client.once(Events.ClientReady, ({ application }) => {
      client.off(Events.ShardReady, note);
      resolve({ applicationId: application.id, guildIds });
    });
  });
}

/** What keeps the bot from its work, in words; empty where nothing does. */
async function unready(client: Client, state: State, stopping: boolean): Promise<readonly string[]> {
  const { ready, all } = gatewayOf(client);
  const storage = await state.settings.get("registration").then(
    () => [],
    () => ["the state cannot be read"],
  );
  return [
    ...(stopping ? ["it is stopping"] : []),
    ...(all === 0 || ready < all ? [`${ready} of ${all || "?"} shards are connected`] : []),
    ...storage,
  ];
}

/** @throws {ConfigError} where the port cannot be opened */
async function openHealth(
  { httpPort: port, httpHost: host }: Pick<Config, "httpPort" | "httpHost">,
  metrics: Metrics,
  findUnready: () => Promise<readonly string[]>,
) {
  if (port === undefined) return undefined;
  try {
    return await serveHealth({ port, host, metrics, unready: findUnready });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    throw new ConfigError([
      `HTTP_PORT ${port} cannot be opened on HTTP_HOST ${host} (${code}): they want a free port, and an address of this machine`,
    ]);
  }
}
