import { createBackground, createHousekeeping } from "../src/background.js";
import { codeOf } from "../src/config-shapes.js";
import { createJanitor } from "../src/delivery/janitor.js";
import { collectionsOf } from "../src/delivery/module.js";
import { createSubscriptions } from "../src/delivery/subscriptions.js";
import { createDirectory } from "../src/directory/directory.js";
import { createDirectoryLoader } from "../src/directory/fill.js";
import { createLearner } from "../src/directory/learn.js";
import { createNames } from "../src/directory/names.js";
import { createDiscordTime } from "../src/discord/clock.js";
import { createLinks } from "../src/discord/links.js";
import { createRenderer } from "../src/discord/message.js";
import { createPacer } from "../src/discord/pacer.js";
import { createExplorerService } from "../src/explorer/service.js";
import { feeds } from "../src/feeds/index.js";
import { createRhythms } from "../src/ledger/network-rhythm.js";
import { createPriceHistory } from "../src/ledger/price-history.js";
import type { Log } from "../src/log.js";
import { keepLoaded, type Network, type Networks } from "../src/networks/network.js";
import { createCache } from "../src/storage/cache.js";
import { createIdKeys, forgetOldIds } from "../src/storage/id-keys.js";
import { compete, together } from "../src/storage/lease.js";
import { createKnownNetworks, prefixOf } from "../src/storage/networks.js";
import type { RedisClient } from "../src/storage/redis.js";
import { createState } from "../src/storage/state.js";
import { StateError, type Store, type Write } from "../src/storage/store.js";
import type { VirtualClock } from "./clock.js";
import type { SimulatedExplorer } from "./explorer.js";
import { createFront, type Front } from "./front.js";
import type { History, Moment } from "./history/index.js";
import { windowAt } from "./history/windows.js";
import type { MemoryStore } from "./store.js";
import type { SimulatedProcess, Surroundings } from "./world.js";

/** Simulates the bot's lease in Redis. */
export class LeaseKeeper {
  #holder: string | undefined;
  #until = 0;

  constructor(readonly now: () => number) {}

  /** Executes the bot's Lua scripts, which are recognized by unique parts of their text. */
  evaluate(script: string, token: string): number {
    const isHeld = this.#until > this.now();
    if (script.includes("if held then return 0 end")) {
      if (isHeld) return 0;
    } else if (this.#holder !== token) return 0;
    if (script.includes('"DEL"')) {
      this.#holder = undefined;
      this.#until = 0;
      return 1;
    }
    this.#holder = token;
    this.#until = this.now() + 6_000;
    return 1;
  }
}

/** The networks of a bot with two. The first one is the oldest, whose collections have no prefix. */
export const NETWORKS = [
  { id: "main", label: undefined, prefix: "" },
  { id: "test", label: "TestNet", prefix: "test:" },
] as const;

/** Collections that feeds write together with their events. */
const NEWS: ReadonlySet<string> = new Set([
  "alerts",
  "requests",
  "validators",
  "price-watches",
  "upgrades",
  "standstills",
]);

/** Maximum number of subscriptions of a server. */
const MAX_SUBSCRIPTIONS = 200;

interface ProcessDeps {
  readonly clock: VirtualClock;
  readonly history: Pick<History, "fullDisks">;
  readonly surroundings: Surroundings;
  /** One per network, the default one first. */
  readonly explorers: readonly SimulatedExplorer[];
  readonly store: MemoryStore;
  readonly lease: LeaseKeeper;
  readonly onFault: (line: string) => void;
}

/** Starts a bot process on the virtual clock, with all background work and the front of each network. */
export function startProcess(
  { clock, history, surroundings, explorers, store, lease, onFault }: ProcessDeps,
  process: SimulatedProcess,
): readonly Front[] {
  const log: Log = {
    debug() {},
    info() {},
    warn() {},
    error: (details: object, message: string) => {
      const { err } = details as { err?: unknown };
      onFault(`${message}: ${err instanceof Error ? err.stack : JSON.stringify(details)}`);
    },
  };
  const touch = <T>(work: () => Promise<T>, ms = 0, moment: Moment = "any") =>
    surroundings.touch(process, work, ms, moment);
  const isNews = (writes: readonly Write[]) =>
    writes.some(({ op, collection }) => op !== "expect" && NEWS.has(collection.replace(/^.*:/, "")));
  const commit = async (writes: readonly Write[]) => {
    if (windowAt(history.fullDisks, clock.now)) throw new StateError("The disk is full");
    return store.commit(writes);
  };
  const own: Store = {
    get: (collection, id) => touch(() => store.get(collection, id)),
    async *pages(collection, start) {
      yield* await touch(async () => store.pages(collection, start));
    },
    collections: () => touch(() => store.collections()),
    commit: (writes) => touch(() => commit(writes), 4, isNews(writes) ? "news" : "any"),
    changes: store.changes,
    close: async () => {},
  };
  return clock.runAs(process, () => {
    const root = createState(own, { log });
    const ids = explorers.length > 1 ? NETWORKS.map(({ id }) => id) : [];
    const known = createKnownNetworks(root, own, ids);
    const pacer = createPacer();
    const rest = surroundings.restFor(process);
    const discordTime = createDiscordTime([rest]);
    const keys = createIdKeys(root, log);
    const built = explorers.map((simulated, index) => {
      const { id, label } = (explorers.length > 1 && NETWORKS[index]) || {};
      const state = createState(own, { log, prefix: prefixOf(id, known) });
      const explorer = createExplorerService({
        upstream: ({ path, query }) => simulated.ask(process, path, query),
        cache: createCache({ memoryMb: 4, log }),
        onFetched: (endpoint, data) => learn(endpoint, data),
      });
      const directory = createDirectory();
      // Charts are not drawn, because a canvas takes real time.
      const charts = { price: async () => undefined, bars: async () => undefined };
      const names = createNames({ directory, explorer: explorer.for("background"), state, log });
      const learn = createLearner(directory, names);
      const loadDirectory = createDirectoryLoader(directory, state, log);
      const code = () => (id === undefined || known.oldest() === id ? undefined : codeOf(id));
      const links = createLinks(keys, code);
      const renderer = createRenderer(links, { label, salt: code });
      const background = createBackground({
        feeds,
        explorer,
        directory,
        loadDirectory,
        names,
        state,
        rest,
        pacer,
        charts,
        discordTime,
        environment: () => [],
        renderer,
        polls: { governance: { pollSeconds: 60 }, watchPollSeconds: 300 },
        log,
        self: {
          troubles: () => new Map(),
          unforeseen: () => [],
          explorerVariables: [],
          commandsProblem: () => null,
        },
        onDelivered() {},
        onPoll() {},
        onWaiting() {},
      });
      const subscriptions = createSubscriptions(state);
      const network: Network = {
        id,
        name: label ?? "",
        label,
        state,
        subscriptions,
        janitor: createJanitor(state, subscriptions, collectionsOf(feeds)),
        explorer,
        directory,
        names,
        links,
        linkMatch: () => 0,
        renderer,
        screens: {
          directory,
          names,
          prices: createPriceHistory(state, log),
          rhythms: createRhythms(state, log),
          charts,
          networkName: "",
          watchLinks: () => [],
          subscribeLinks: () => [],
          watchNames: [],
          others: [],
        },
        rest,
        maxSubscriptions: MAX_SUBSCRIPTIONS,
        get networks() {
          return networks;
        },
      };
      // A process without the lease also answers, from the names that the others have stored.
      keepLoaded(loadDirectory, log);
      return { background, network };
    });
    const [first, ...others] = built.map(({ network }) => network);
    if (!first) throw new RangeError("A bot needs a network");
    const networks: Networks = {
      served: [first, ...others],
      feeds: feeds.map(({ definition }) => definition),
      resting: async () => [],
      known,
    };
    const client = {
      isReady: true,
      eval: (script: string, { arguments: given = [] }: { arguments?: readonly string[] }) =>
        touch(async () => lease.evaluate(script, given[0] ?? "")),
    };
    const work = together([
      createHousekeeping([forgetOldIds], log, () => {}),
      ...built.map(({ background }) => background),
    ]);
    compete(client as unknown as RedisClient, root, work, log);
    return built.map(({ network }) => createFront(network, surroundings.discord.bot.id));
  });
}
