import { setTimeout as delay } from "node:timers/promises";
import { type Client, Events, REST } from "discord.js";
import { createButtons, createCommands } from "../commands/index.js";
import { tellRefusal } from "../commands/watch/watches.js";
import { createHousekeeping, stalledOf } from "./background.js";
import { createDrawingQueue } from "./charts/charts.js";
import { type Config, ConfigError, misspeltVariables } from "./config.js";
import { forgetOldRevisions } from "./delivery/limits.js";
import type { FeedModule } from "./delivery/module.js";
import { createDiscordClient, inviteLink, keepToken } from "./discord/client.js";
import { createDiscordTime } from "./discord/clock.js";
import { createDispatch } from "./discord/dispatch.js";
import { explainClose, gatewayOf, logIn, missingShards, watchGateway } from "./discord/gateway.js";
import { commandPaths } from "./discord/help.js";
import { createPacer, MANY_REFUSALS, slowOnRefusals } from "./discord/pacer.js";
import { keepRegistering, type Registration } from "./discord/registration.js";
import { feeds as allFeeds, withOperator } from "./feeds/index.js";
import { createHeartbeat } from "./heartbeat.js";
import { createLog, type Log, logUncaught } from "./log.js";
import { createNetworkChoices, forgetOldChoices } from "./networks/choices.js";
import { createNetworkOf } from "./networks/choose.js";
import { createNetworks } from "./networks/index.js";
import { serveHealth, type Unready } from "./ops/health.js";
import { createMetrics, type Metrics } from "./ops/metrics.js";
import { REDIS_PREFIX } from "./storage/cache.js";
import { createIdKeys, forgetOldIds } from "./storage/id-keys.js";
import { openStorage, type Storage } from "./storage/index.js";
import { compete, holdForever, together } from "./storage/lease.js";
import { unservedNetworks } from "./storage/networks.js";
import { claimVersion, createState } from "./storage/state.js";
import { ConflictError, type StateError } from "./storage/store.js";
import { createWriteProbe } from "./storage/write-probe.js";
import { digest } from "./util/digest.js";
import { errorCode } from "./util/error-code.js";
import { present } from "./util/present.js";
import type { Job } from "./util/repeat.js";
import { unlessAborted } from "./util/timeouts.js";
import { MINUTE } from "./util/units.js";

/** A running bot. */
export interface Bot {
  /** Accepts no more work, waits up to 5 s for running work, and closes everything. */
  stop(): Promise<void>;
}

/** Options for starting a bot, besides its settings. */
interface StartOptions {
  /** Stops waiting if Discord cannot be reached. */
  readonly stopped: AbortSignal;
  /** Called if Discord closes the connection permanently, or the settings do not fit the state. The settings must be changed. */
  readonly onBroken: (error: ConfigError | StateError) => void;
  /** The feeds to run. By default all of src/feeds. */
  readonly feeds?: readonly FeedModule[];
}

const FINISH_MS = 5_000;
/** Time after which a stopping bot gives up the answers in progress, in ms. The rest of FINISH_MS is for telling people. */
const GIVE_UP_MS = 4_000;
/** Maximum time that the login waits for Redis, to check if the settings fit the state, in ms. */
const CHECK_MS = 3_000;
/**
 * Time that Discord has to answer before the stored names are loaded, in ms. Loading thousands of names takes as long as logging in,
 * if Discord answers at once. Usually it takes longer, and the names are loaded meanwhile.
 */
const NAMES_AFTER_MS = 250;
/**
 * Interval at which unused queues of discord.js' REST client are removed, in ms. The client creates a queue for the answers to
 * each interaction. On its own, it removes queues only once an hour, and never again after a failed login.
 */
const SWEEP_MS = MINUTE;

/**
 * Starts the bot.
 * @throws {ConfigError} if Discord refuses the token, or the HTTP port cannot be opened
 * @throws {StateError} if the state cannot be used
 */
export async function startBot(config: Config, options: StartOptions): Promise<Bot> {
  const log = createLog(
    config,
    present([
      config.discord.token,
      ...config.networks.map(({ explorer }) => explorer.apiKey),
      // The address of a monitor usually contains a secret.
      config.heartbeatUrl,
    ]),
  );
  const endLogging = logUncaught(log);
  for (const hint of misspeltVariables()) log.warn({ hint }, "A variable of the environment may be misspelt");
  const storage = await openStorage(config, log);
  try {
    return await startOn(storage, config, options, log, endLogging);
  } catch (error) {
    // A database file that is not closed leaves a part of the state in another file.
    await storage.close();
    throw error;
  }
}

/** Starts the bot on an open storage. @throws {ConfigError} @throws {StateError} */
async function startOn(
  storage: Storage,
  config: Config,
  { stopped, onBroken, feeds = allFeeds }: StartOptions,
  log: Log,
  endLogging: () => void,
): Promise<Bot> {
  const metrics = await createMetrics(
    config.httpPort !== undefined,
    withOperator(feeds).map(({ definition }) => definition.name),
    config.networks.map(({ id }) => id),
    () => gatewayOf(client),
  );
  const { redis, store } = storage;
  const state = createState(store, { log });
  // Redis may not be connected yet. In that case, the lease holder checks the version.
  if (!redis) await claimVersion(state);
  const idKeys = createIdKeys(state, log);
  const identify = redis && { redis, key: `${REDIS_PREFIX}identify:${digest(config.discord.token)}` };
  const client = createDiscordClient(config.discord, identify);
  // A separate client, so that a thousand announcements do not delay an answer to a person.
  const backgroundRest = createImpatientRest(config.discord, 0);
  const pacer = createPacer();
  slowOnRefusals(pacer, [client.rest, backgroundRest], log);
  let paths: ReadonlyMap<string, string> = new Map();
  let registration: Registration | undefined;
  const { networks, backgrounds, startLoading } = createNetworks(
    {
      config,
      feeds,
      store,
      redis,
      keys: idKeys,
      drawing: createDrawingQueue(),
      rest: client.rest,
      backgroundRest,
      pacer,
      discordTime: createDiscordTime([client.rest, backgroundRest]),
      commandPaths: () => paths,
      commandsProblem: () => registration?.problem() ?? (registration?.isSettled() ? null : undefined),
    },
    state,
    log,
    metrics,
  );
  // Network names that buttons cannot distinguish end the bot: at once, or as soon as Redis can be read.
  const endIfConflict = (error: unknown) => {
    if (error instanceof ConflictError) onBroken(error);
  };
  const loadNetworks = () => networks.known.load().then((known) => warnOfUnserved(known, config, log));
  const checking = redis ? redis.connected(CHECK_MS).then(loadNetworks).catch(endIfConflict) : loadNetworks();
  // A bot that ended only after its login would identify at every restart (Discord: 1,000 times a day).
  await Promise.race([checking, delay(CHECK_MS, undefined, { ref: false, signal: stopped })]);
  stopped.throwIfAborted();
  const background = together(
    present([
      createHousekeeping([forgetOldIds, forgetOldChoices, forgetOldRevisions], log, metrics.lease),
      ...backgrounds,
      config.heartbeatUrl !== undefined &&
        createHeartbeat({
          url: config.heartbeatUrl,
          stalled: async () => [...(await stalledOf(backgrounds)), ...missingShards(client)],
          log,
        }),
    ]),
  );

  const choices = createNetworkChoices(state);
  const commands = createCommands(feeds, config.networks, choices);
  const registeredDefinitions = commands.map(({ definition }) => definition);
  const stopping = new AbortController();
  const dispatch = createDispatch({
    commands,
    networkOf: createNetworkOf(networks, choices, client.rest),
    buttons: createButtons(feeds),
    afterword: (userId, say) => tellRefusal(userId, say, networks),
    commandPaths: () => paths,
    onInteraction: metrics.interaction,
    stopping: stopping.signal,
    log,
  });
  const inFlight = new Set<Promise<void>>();
  client.on(Events.InteractionCreate, (interaction) => {
    if (stopped.aborted) return;
    const interactionWork = dispatch(interaction).finally(() => inFlight.delete(interactionWork));
    inFlight.add(interactionWork);
  });
  watchGateway(client, log);
  const canWrite = createWriteProbe(state);
  const health = await openHealth(config, metrics, () =>
    findUnready(client, canWrite, stopped.aborted, registration),
  );

  const ready = whenReady(client);
  const loading = Promise.race([ready, delay(NAMES_AFTER_MS, undefined, { ref: false })]).then(startLoading);
  let leadership: Job | undefined;
  const stop = async () => {
    log.info({}, "Stopping after the running work is finished");
    registration?.stop();
    setTimeout(() => stopping.abort(), GIVE_UP_MS).unref();
    const finished = Promise.allSettled([
      ...inFlight,
      leadership?.stop(),
      ...(await loading).map((each) => each.stop()),
    ]);
    await Promise.race([finished, delay(FINISH_MS, undefined, { ref: false })]);
    // Its connections close now, and do not reconnect.
    client.removeAllListeners(Events.ShardReconnecting);
    await client.destroy();
    health?.close();
    await idKeys.flush();
    await storage.close();
    log.info({}, "Stopped");
    endLogging();
  };
  await logIn(client, config.discord.token, log, stopped);
  client.on(Events.ShardDisconnect, ({ code }) => onBroken(new ConfigError([explainClose(code)])));
  const readiness = await unlessAborted(ready, stopped);
  if (!readiness) return { stop };
  const { applicationId, guildIds } = readiness;
  setInterval(() => client.rest.handlers.sweep(({ inactive }) => inactive), SWEEP_MS).unref();

  // Commands are registered concurrently with the background work. Neither waits for the other.
  registration = keepRegistering(
    {
      rest: createImpatientRest(config.discord, 3),
      applicationId,
      definitions: registeredDefinitions,
      guildId: config.discord.guildId,
      guildIds,
      state,
      log,
    },
    (ids) => {
      paths = commandPaths(registeredDefinitions, ids);
    },
  );
  const noteFailure = (error: unknown) => {
    endIfConflict(error);
    redis?.noteFailure(error);
  };
  const announced = unlessAborted(registration.tried, stopped).then(() => {
    if (stopped.aborted) return;
    log.info({ link: inviteLink(applicationId) }, "Invite link");
    log.info({ user: client.user?.tag, commands: commands.length }, "Ready");
  });
  leadership = await (redis
    ? compete(redis.client, state, background, log, noteFailure)
    : holdForever(state, background));
  await announced;
  return { stop };
}

/**
 * Creates a REST client that does not wait for rate limits. The outbox and the registration of the commands decide themselves how
 * to go on after a limit or a failure.
 */
const createImpatientRest = ({ apiUrl, token }: Config["discord"], retries: number): REST =>
  keepToken(
    new REST({
      api: apiUrl,
      retries,
      timeout: 8_000,
      offset: 0,
      rejectOnRateLimit: () => true,
      invalidRequestWarningInterval: MANY_REFUSALS,
    }),
  ).setToken(token);

/** Resolves with the application's id and its servers once all shards are connected. */
function whenReady(client: Client): Promise<{ applicationId: string; guildIds: readonly string[] }> {
  return new Promise((resolve) => {
    const guildIds: string[] = [];
    const noteGuilds = () => guildIds.push(...client.guilds.cache.keys());
    // Prepended, so that the servers are read before their stubs are dropped from the cache. Removed once the client is ready, so
    // that reconnections do not add them again.
    client.prependListener(Events.ShardReady, noteGuilds);
    client.once(Events.ClientReady, ({ application }) => {
      client.off(Events.ShardReady, noteGuilds);
      resolve({ applicationId: application.id, guildIds });
    });
  });
}

/** Returns the reasons why the bot is not ready. Empty if it is ready. */
async function findUnready(
  client: Client,
  canWrite: () => Promise<boolean>,
  isStopping: boolean,
  registration: Registration | undefined,
): Promise<readonly string[]> {
  const reasons: string[] = [];
  if (isStopping) reasons.push("it is stopping");
  reasons.push(...missingShards(client));
  const problem = registration?.problem();
  if (!registration?.isSettled())
    reasons.push(`the commands aren't registered yet${problem === undefined ? "" : ` (${problem})`}`);
  if (!(await canWrite())) reasons.push("the state can't be written");
  return reasons;
}

/** Logs that the state has networks that the settings don't name, as after one was renamed. */
function warnOfUnserved(known: readonly string[], { networks }: Config, log: Log): void {
  const ids = networks.flatMap(({ id }) => id ?? []);
  const unserved = unservedNetworks(known, ids);
  if (unserved.length > 0)
    log.warn(
      { networks: unserved },
      "The state has networks that NETWORKS does not name; their subscriptions are on hold",
    );
}

/** Starts the health server if a port is configured. @throws {ConfigError} if the port cannot be opened */
async function openHealth(
  { httpPort: port, httpHost: host }: Pick<Config, "httpPort" | "httpHost">,
  metrics: Metrics,
  unready: Unready,
) {
  if (port === undefined) return undefined;
  try {
    return await serveHealth({ port, host, metrics, unready });
  } catch (error) {
    const code = errorCode(error) || String(error);
    throw new ConfigError([
      `HTTP_PORT ${port} can't be opened on HTTP_HOST ${host} (${code}). Use a free port and an address of this machine`,
    ]);
  }
}
