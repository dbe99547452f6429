import { createBackground } from "../src/background.js";
import { createSubscriptions } from "../src/delivery/subscriptions.js";
import { createDirectory } from "../src/directory/directory.js";
import { createNames } from "../src/directory/names.js";
import { createLinks } from "../src/discord/links.js";
import { createRenderer } from "../src/discord/message.js";
import { createPacer } from "../src/discord/pacer.js";
import { createDiscordTime } from "../src/discord/time.js";
import { createExplorerService } from "../src/explorer/service.js";
import { feeds } from "../src/feeds/index.js";
import { VALIDATOR_FEED } from "../src/feeds/validator/index.js";
import { createResponses } from "../src/feeds/validator/respond.js";
import type { Log } from "../src/log.js";
import { createCache } from "../src/storage/cache.js";
import { createIdKeys } from "../src/storage/id-keys.js";
import { compete } from "../src/storage/lease.js";
import type { RedisClient } from "../src/storage/redis.js";
import { createState } from "../src/storage/state.js";
import type { Store, Write } from "../src/storage/store.js";
import type { VirtualClock } from "./clock.js";
import type { Moment } from "./history/index.js";
import type { MemoryStore } from "./store.js";
import type { SimulatedProcess, Surroundings } from "./world.js";

/** Who holds the lease, and until when: what the bot keeps in Redis for it. */
export class LeaseKeeper {
  #holder: string | undefined;
  #until = 0;

  constructor(readonly now: () => number) {}

  /** What the bot's scripts do, told apart by what only one of them holds. */
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

/** What feeds write together with what is to be told of it. */
const NEWS: ReadonlySet<string> = new Set(["alerts", "requests", "validators", "price-watches"]);

interface ProcessDeps {
  readonly clock: VirtualClock;
  readonly surroundings: Surroundings;
  readonly store: MemoryStore;
  readonly lease: LeaseKeeper;
  readonly onFault: (line: string) => void;
}

/** Starts a process of the bot, on the virtual clock: all of its background work, and what the buttons of alerts do. */
export function startProcess(
  { clock, surroundings, store, lease, onFault }: ProcessDeps,
  process: SimulatedProcess,
): ReturnType<typeof createResponses> {
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
    writes.some(({ op, collection }) => op !== "expect" && NEWS.has(collection));
  const own: Store = {
    get: (collection, id) => touch(() => store.get(collection, id)),
    async *pages(collection) {
      yield* await touch(async () => store.pages(collection));
    },
    collections: () => touch(() => store.collections()),
    commit: (writes) => touch(() => store.commit(writes), 4, isNews(writes) ? "news" : "any"),
    close: async () => {},
  };
  return clock.runAs(process, () => {
    const state = createState(own, { log });
    const cache = createCache({ memoryMb: 4, log });
    const explorer = createExplorerService({
      upstream: ({ path, query }) => surroundings.ask(process, path, query),
      cache,
    });
    const directory = createDirectory();
    const names = createNames({ directory, explorer: explorer.for("background"), state, log });
    const rest = surroundings.restFor(process);
    const renderer = createRenderer(createLinks(createIdKeys(state, log)));
    const background = createBackground({
      feeds,
      explorer,
      directory,
      names,
      state,
      rest,
      pacer: createPacer(),
      // Nothing is drawn: a canvas takes real time.
      charts: { price: async () => undefined, bars: async () => undefined },
      discordTime: createDiscordTime([rest]),
      environment: () => [],
      renderer,
      polls: { governance: { pollSeconds: 60 }, watchPollSeconds: 300 },
      log,
      onDelivered() {},
      onPoll() {},
    });
    const client = {
      isReady: true,
      eval: (script: string, { arguments: given = [] }: { arguments?: readonly string[] }) =>
        touch(async () => lease.evaluate(script, given[0] ?? "")),
    };
    compete(client as unknown as RedisClient, state, background, log);
    const subscriptions = createSubscriptions(state);
    return createResponses({ feed: VALIDATOR_FEED, state, subscriptions, renderer, names, rest });
  });
}
