import type { REST } from "discord.js";
import { type Background, createBackground } from "../background.js";
import { createCharts, type DrawingQueue } from "../charts/charts.js";
import type { Config, NetworkConfig } from "../config.js";
import { codeOf } from "../config-shapes.js";
import type { FeedDefinition } from "../delivery/feed.js";
import { createJanitor, type Janitor } from "../delivery/janitor.js";
import { collectionsOf, type FeedModule, type FeedServices } from "../delivery/module.js";
import {
  createSubscriptions,
  type FixedSubscription,
  type Subscriptions,
} from "../delivery/subscriptions.js";
import { createSubscribeLinks, createWatchLinks } from "../delivery/watch-buttons.js";
import { createDirectory } from "../directory/directory.js";
import { createDirectoryLoader, DIRECTORY_MS } from "../directory/fill.js";
import { createLearner } from "../directory/learn.js";
import { createNames } from "../directory/names.js";
import { createLinks } from "../discord/links.js";
import { createRenderer } from "../discord/message.js";
import type { Pacer } from "../discord/pacer.js";
import { createLinkMatch, createPages } from "../discord/pages.js";
import { createExplorer } from "../explorer/index.js";
import { environmentSubscriptions, withOperator } from "../feeds/index.js";
import { createRhythms } from "../ledger/network-rhythm.js";
import { createPriceHistory } from "../ledger/price-history.js";
import { createUnforeseen, oncePerMinute } from "../ledger/unforeseen.js";
import type { Log } from "../log.js";
import type { NetworkMetrics } from "../ops/metrics.js";
import type { ScreenServices } from "../screens/view.js";
import { createCache } from "../storage/cache.js";
import type { IdKeys } from "../storage/id-keys.js";
import { type KnownNetworks, prefixOf } from "../storage/networks.js";
import type { Redis } from "../storage/redis.js";
import { createState, type State } from "../storage/state.js";
import { StateError, type Store } from "../storage/store.js";
import { md } from "../text/markdown.js";
import { createNotice } from "../util/notice.js";
import { type Job, repeat } from "../util/repeat.js";
import { DAY, SECOND } from "../util/units.js";
import { networkChoices } from "./choices.js";

/** State of a network, which may no longer be served. */
export interface NetworkState {
  /** Name in NETWORKS. `undefined` if there is one network without a name. */
  readonly id: string | undefined;
  /** Display name. */
  readonly name: string;
  readonly state: State;
  readonly subscriptions: Subscriptions;
  readonly janitor: Janitor;
}

/** A network that the bot serves, with its own parts. */
export interface Network extends NetworkState, FeedServices {
  /** Name to show in messages. `undefined` for the default network. */
  readonly label: string | undefined;
  /** Returns how much of a URL of the network's web explorer a text contains, in characters. 0 without a link to it. */
  readonly linkMatch: (text: string) => number;
  readonly screens: ScreenServices;
  /** Maximum number of subscriptions per server, to all networks together. */
  readonly maxSubscriptions: number;
  /** All networks of the bot, including this one. */
  readonly networks: Networks;
}

/** The networks of the bot. */
export interface Networks {
  /** The default network comes first. */
  readonly served: readonly [Network, ...Network[]];
  /** The feeds that channels and people can subscribe to. */
  readonly feeds: readonly FeedDefinition[];
  /**
   * Returns the networks that are no longer in the settings. The bot neither reads nor announces them.
   * @throws {StateError}
   */
  resting(): Promise<readonly NetworkState[]>;
  readonly known: KnownNetworks;
}

/** Maximum time for Redis to connect after the start, in ms. Until then, its absence is not logged here. */
const CONNECT_MS = 10_000;

/** The networks whose data is stored. */
export type StoredNetworks = Pick<Networks, "resting"> & { readonly served: readonly NetworkState[] };

/** Returns all networks that have stored data. @throws {StateError} */
export const allNetworks = async ({ served, resting }: StoredNetworks): Promise<readonly NetworkState[]> => [
  ...served,
  ...(await resting()),
];

/** Parts that all networks share. */
export interface SharedParts {
  readonly config: Config;
  /** The feeds that channels and people can subscribe to. */
  readonly feeds: readonly FeedModule[];
  readonly store: Store;
  readonly known: KnownNetworks;
  readonly redis: Redis | undefined;
  readonly keys: IdKeys;
  readonly drawing: DrawingQueue;
  readonly rest: REST;
  readonly backgroundRest: REST;
  readonly pacer: Pacer;
  readonly discordTime: () => number;
  /** Discord's command ids by command name, once the commands are registered. */
  readonly commandPaths: () => ReadonlyMap<string, string>;
  /** Returns the reason if the commands are not registered, null if they are. `undefined` until Discord has answered. */
  readonly commandsProblem: () => string | null | undefined;
}

/** Creates the function for a network's code in links and marks. The oldest network and one without a name have no code. */
const codeIn =
  ({ id }: Pick<NetworkConfig, "id">, known: KnownNetworks) =>
  () =>
    id === undefined || known.oldest() === id ? undefined : codeOf(id);

/** Creates the function for a network's subscriptions from the environment. */
export const environmentOf =
  (
    { id, governanceChannelId }: NetworkConfig,
    { governance, operatorChannelId }: Pick<Config, "governance" | "operatorChannelId">,
    known: KnownNetworks,
    feeds: readonly FeedModule[],
  ) =>
  (): readonly FixedSubscription[] => {
    const governanceIds =
      id === undefined
        ? { GOVERNANCE_CHANNEL_ID: governanceChannelId }
        : {
            [`GOVERNANCE_CHANNEL_ID_${id.toUpperCase()}`]: governanceChannelId,
            GOVERNANCE_CHANNEL_ID: known.oldest() === id ? governance.channelId : undefined,
          };
    return environmentSubscriptions(governanceIds, operatorChannelId, feeds);
  };

/** Creates a network, its background work, and the job that loads its names. */
export function createNetwork(
  settings: NetworkConfig,
  networks: () => Networks,
  shared: SharedParts,
  log: Log,
  metrics: NetworkMetrics,
): { readonly network: Network; readonly background: Background; readonly startLoading: () => Job } {
  const { config, store, known, redis, keys, rest } = shared;
  const feeds = withOperator(shared.feeds);
  const charts = createCharts(log, shared.drawing);
  const { id, name, coin } = settings;
  const state = createState(store, { log, prefix: prefixOf(id, known) });
  const code = codeIn(settings, known);
  const links = createLinks(keys, code);
  const networkLabel = settings === config.networks[0] ? undefined : name;
  const renderer = createRenderer(links, {
    commands: shared.commandPaths,
    pageOf: createPages(settings.explorer.pages),
    label: networkLabel,
    networkOption: config.networks.length > 1 ? md` with \`network: ${name}\`` : md``,
    coin,
    salt: code,
  });
  const unforeseen = createUnforeseen({ log, onUnforeseen: metrics.unforeseen });
  const explorer = createExplorer(settings.explorer, {
    // Separate caches, so that one explorer's answers do not evict another's.
    cache: createCache({ memoryMb: config.cacheMemoryMb / config.networks.length, redis, log }),
    redis,
    log,
    scope: id,
    onRead: metrics.read,
    onAnswer: oncePerMinute(unforeseen.note),
    onFetched: (endpoint, data) => learn(endpoint, data),
    onRequest: metrics.request,
    onKeyRefused: metrics.keyRefused,
  });
  const directory = createDirectory();
  const loadDirectory = createDirectoryLoader(directory, state, log);
  const anyAge = explorer.for("background", { maxAgeMs: DAY });
  const names = createNames({ directory, explorer: anyAge, state, log, coin });
  const learn = createLearner(directory, names);
  const environment = environmentOf(settings, config, known, feeds);
  const background = createBackground({
    feeds,
    state,
    charts,
    explorer,
    directory,
    loadDirectory,
    names,
    rest: shared.backgroundRest,
    pacer: shared.pacer,
    discordTime: shared.discordTime,
    environment,
    renderer,
    polls: config,
    self: {
      troubles: explorer.troubles,
      unforeseen: unforeseen.recent,
      explorerVariables: [settings.explorer.variables.key, settings.explorer.variables.url],
      commandsProblem: settings === config.networks[0] ? shared.commandsProblem : () => null,
    },
    log,
    onDelivered: metrics.delivery,
    onPoll: metrics.poll,
    onWaiting: metrics.waiting,
  });
  const prices = createPriceHistory(state, log);
  const subscriptions = createSubscriptions(state, environment);
  const definitions = feeds.map(({ definition }) => definition);
  const otherNames = config.networks.filter((each) => each !== settings).map((each) => each.name);
  const network: Network = {
    id,
    name,
    label: networkLabel,
    state,
    subscriptions,
    janitor: createJanitor(state, subscriptions, [...collectionsOf(feeds), networkChoices]),
    explorer,
    directory,
    names,
    links,
    linkMatch: createLinkMatch(settings.explorer.pages),
    renderer,
    screens: {
      directory,
      names,
      prices,
      rhythms: createRhythms(state, log),
      charts,
      networkName: name,
      watchLinks: createWatchLinks(definitions),
      subscribeLinks: createSubscribeLinks(definitions),
      watchNames: definitions.flatMap(({ watches = [] }) => watches.map((watch) => watch.name)),
      others: otherNames,
    },
    rest,
    maxSubscriptions: config.subscriptionsPerServer,
    get networks() {
      return networks();
    },
  };
  return { network, background, startLoading: () => keepLoaded(loadDirectory, log) };
}

/** Loads the stored names at an interval, because another process may have read new ones. */
export function keepLoaded(loadDirectory: () => Promise<void>, log: Log): Job {
  const startedAt = performance.now();
  const failureNotice = createNotice<unknown>(
    (err) => log.warn({ err }, "The stored names cannot be read; retrying"),
    () => log.info({}, "The stored names can be read again"),
  );
  const loadNames = async () => {
    await loadDirectory();
    failureNotice.ends();
  };
  return repeat(loadNames, DIRECTORY_MS, log, {
    retryMs: SECOND,
    onError: (err) => {
      // While Redis is still connecting, the connection logs its own errors.
      if (!(err instanceof StateError)) log.error({ err }, "The stored names could not be loaded");
      else if (performance.now() - startedAt > CONNECT_MS) failureNotice.begins(err);
    },
  });
}

/** Returns the state of a network that is no longer in the settings. */
export function restingNetwork(
  id: string,
  { store, known, feeds }: Pick<SharedParts, "store" | "known" | "feeds">,
  log: Log,
): NetworkState {
  const state = createState(store, { log, prefix: prefixOf(id, known) });
  const subscriptions = createSubscriptions(state);
  const janitor = createJanitor(state, subscriptions, collectionsOf(withOperator(feeds)), false);
  return { id, name: id, state, subscriptions, janitor };
}
