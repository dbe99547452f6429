import { REST } from "discord.js";
import type { Config } from "../config.js";
import { createSubscriptions } from "../delivery/subscriptions.js";
import type { CommandDefinition } from "../discord/command.js";
import { feeds, withOperator } from "../feeds/index.js";
import { environmentOf } from "../networks/network.js";
import { createKnownNetworks, storeOf } from "../storage/networks.js";
import { createState } from "../storage/state.js";
import { StateError, type Store } from "../storage/store.js";
import { openCopy } from "./data-dir.js";
import { checkDiscord } from "./discord.js";
import { checkExplorer } from "./explorer.js";
import { type Finding, fail, pass, warn, wordsOf } from "./finding.js";
import { checkGateway } from "./gateway.js";
import { checkRedis } from "./redis.js";
import { checkSubscriptions } from "./subscriptions.js";

/** The store to look into, and what to do when it was looked at. */
interface Opened {
  readonly store: Store;
  readonly close: () => Promise<void>;
}

/** Redis, or the data folder; gives what it holds where it can be read. */
async function* checkStorage({ redisUrl, dataDir }: Config): AsyncGenerator<Finding, Opened | undefined> {
  try {
    if (redisUrl !== undefined) {
      const storage = yield* checkRedis(redisUrl);
      return storage && { store: storage.store, close: storage.close };
    }
    const copy = openCopy(dataDir);
    yield pass(
      "DATA_DIR",
      copy.isNew ? "can be written to; the first start makes the file" : "can be written to",
    );
    return {
      store: copy.store,
      async close() {
        await copy.store.close();
        copy.clean();
      },
    };
  } catch (error) {
    const words = error instanceof StateError ? error.message : wordsOf(error);
    yield redisUrl === undefined
      ? fail("DATA_DIR", words, "Set it to a folder the bot may write to, or set REDIS_URL.")
      : fail(
          "Redis",
          words,
          "Check REDIS_URL, and that its user may use every command but the dangerous ones, and INFO.",
        );
    return undefined;
  }
}

/** Which document cannot be read, and why. */
const describe = (details: object): string =>
  Object.entries(details)
    .map(([name, value]) => `${name} ${value}`)
    .join(", ");

/** Checks everything the bot needs against the real things, one after another. Nothing is changed, no secret shown. */
export async function* checkAll(
  config: Config,
  definitions: readonly CommandDefinition[],
): AsyncGenerator<Finding> {
  const rest = new REST({ api: config.discord.apiUrl, retries: 1, timeout: 8_000 });
  rest.setToken(config.discord.token);
  const me = yield* checkDiscord(rest, config.discord, definitions);
  if (me) yield await checkGateway(rest, config.discord.shards);
  for (const { explorer, id } of config.networks) yield await checkExplorer(explorer, id);
  const opened = yield* checkStorage(config);
  try {
    if (!me || !opened) return;
    const unreadable: Finding[] = [];
    const error = (details: object) =>
      void unreadable.push(warn("State", describe(details), "It counts as missing; see docs/operating.md."));
    const looking = { log: { error }, keepAside: false };
    const ids = config.networks.flatMap(({ id }) => id ?? []);
    const known = createKnownNetworks(createState(opened.store, looking), opened.store, ids, false);
    await known.load();
    const all = config.networks.map((network) => {
      const state = createState(storeOf(opened.store, network.id, known), looking);
      const subscriptions = createSubscriptions(
        state,
        environmentOf(network, config, known, withOperator(feeds)),
      );
      return { name: config.networks.length > 1 ? network.name : undefined, subscriptions };
    });
    yield* checkSubscriptions(rest, me, all);
    yield* unreadable;
  } catch (error) {
    // A copy taken while a bot writes may be torn.
    yield warn("Subscriptions", wordsOf(error), "Run it again.");
  } finally {
    await opened?.close();
  }
}
