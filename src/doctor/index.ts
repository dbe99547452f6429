import { REST } from "discord.js";
import type { Config } from "../config.js";
import { createSubscriptions } from "../delivery/subscriptions.js";
import type { CommandDefinition } from "../discord/command.js";
import { feeds, withOperator } from "../feeds/index.js";
import { environmentOf } from "../networks/network.js";
import { createKnownNetworks, prefixOf, unservedNetworks } from "../storage/networks.js";
import { checkVersion, createState, type State, setAsideCollections } from "../storage/state.js";
import { StateError, type Store } from "../storage/store.js";
import { errorCode } from "../util/error-code.js";
import { countedNames } from "../util/groups.js";
import { BusyStateError, openCopy } from "./data-dir.js";
import { checkDiscord } from "./discord.js";
import { checkExplorer } from "./explorer.js";
import { type Finding, fail, pass, warn, wordsOf } from "./finding.js";
import { checkGateway } from "./gateway.js";
import { checkRedis } from "./redis.js";
import { checkSubscriptions } from "./subscriptions.js";

/** Checks Redis or the data folder. Returns the store if it can be read. */
async function* checkStorage({
  redisUrl,
  dataDir,
}: Config): AsyncGenerator<Finding, { readonly store: Store; close(): Promise<void> } | undefined> {
  try {
    if (redisUrl !== undefined) return yield* checkRedis(redisUrl);
    const copy = openCopy(dataDir);
    yield pass(
      "DATA_DIR",
      copy.isNew ? "can be written to. The bot creates its file when it first starts" : "can be written to",
    );
    return copy;
  } catch (error) {
    if (redisUrl !== undefined)
      yield fail(
        "Redis",
        error instanceof StateError ? error.message : wordsOf(error),
        "Check REDIS_URL. Its user needs INFO and all commands except @dangerous.",
      );
    else if (error instanceof BusyStateError)
      yield warn("DATA_DIR", error.message, "Run the doctor again, or stop the bot first.");
    // The message of a damaged file says what to do.
    else if (error instanceof StateError)
      yield fail(
        "DATA_DIR",
        error.message.replace("DATA_DIR: ", ""),
        "The bot can't start until this is fixed.",
      );
    else yield explainFolder(error, dataDir);
    return undefined;
  }
}

/** Explains why the folder of the state cannot be used. Another folder would begin with an empty state. */
const explainFolder = (error: unknown, dataDir: string): Finding =>
  errorCode(error) === "ENOSPC"
    ? fail("DATA_DIR", "its disk is full", "Free some space.")
    : fail(
        "DATA_DIR",
        `${dataDir} can't be used: ${wordsOf(error)}`,
        "Let the user who runs the bot write to this folder and to the files in it. For a new bot, you can also set another folder or REDIS_URL.",
      );

/** Describes an unreadable document and the problem with it. */
const describe = (details: object): string =>
  Object.entries(details)
    .map(([name, value]) => `${name} ${value}`)
    .join(", ");

/** Yields a warning if the state has networks that the settings don't name. Their subscriptions are on hold. */
function* unservedIn(known: readonly string[], ids: readonly string[]): Iterable<Finding> {
  const unserved = unservedNetworks(known, ids);
  if (unserved.length > 0)
    yield warn(
      "State",
      `it has data of ${unserved.join(", ")}, which NETWORKS doesn't name. Subscriptions there are on hold`,
      "Unless that's intended, add the name to NETWORKS again. A network keeps its name.",
    );
}

/** Yields a warning if documents of a network were set aside because they could not be read. */
async function* setAsideIn(state: State, network: string | undefined): AsyncIterable<Finding> {
  const counts = countedNames(await setAsideCollections(state));
  if (counts.length > 0)
    yield warn(
      network === undefined ? "State" : `State of ${network}`,
      `documents that can't be read were set aside (${counts.join(", ")})`,
      "They count as missing; see docs/operating.md.",
    );
}

/** Runs all checks against the real services, one after another. It makes no changes and prints no secrets. */
export async function* checkAll(
  config: Config,
  definitions: readonly CommandDefinition[],
): AsyncGenerator<Finding> {
  const rest = new REST({ api: config.discord.apiUrl, retries: 1, timeout: 8_000 });
  rest.setToken(config.discord.token);
  const botAccount = yield* checkDiscord(rest, config.discord, definitions);
  if (botAccount) yield await checkGateway(rest, config.discord.shards);
  for (const { explorer, id } of config.networks) yield await checkExplorer(explorer, id);
  const openedStore = yield* checkStorage(config);
  try {
    if (!botAccount || !openedStore) return;
    const unreadable: Finding[] = [];
    const error = (details: object) =>
      void unreadable.push(warn("State", describe(details), "It counts as missing; see docs/operating.md."));
    const looking = { log: { error }, keepAside: false };
    const ids = config.networks.flatMap(({ id }) => id ?? []);
    const sharedState = createState(openedStore.store, looking);
    await checkVersion(sharedState);
    const knownNetworks = createKnownNetworks(sharedState, openedStore.store, ids, false);
    yield* unservedIn(await knownNetworks.load(), ids);
    const networkStates = config.networks.map((network) => {
      const state = createState(openedStore.store, {
        ...looking,
        prefix: prefixOf(network.id, knownNetworks),
      });
      const subscriptions = createSubscriptions(
        state,
        environmentOf(network, config, knownNetworks, withOperator(feeds)),
      );
      return { name: config.networks.length > 1 ? network.name : undefined, subscriptions, state };
    });
    yield* checkSubscriptions(rest, botAccount, networkStates);
    for (const { name, state } of networkStates) yield* setAsideIn(state, name);
    yield* unreadable;
  } catch (error) {
    // A copy that was made while a bot was writing may be inconsistent.
    yield error instanceof StateError
      ? fail("State", error.message, "The bot can't start until this is fixed.")
      : warn("Subscriptions", wordsOf(error), "Run it again.");
  } finally {
    await openedStore?.close();
  }
}
