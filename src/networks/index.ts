import type { Background } from "../background.js";
import type { Log } from "../log.js";
import type { Metrics } from "../ops/metrics.js";
import { createKnownNetworks } from "../storage/networks.js";
import type { State } from "../storage/state.js";
import type { Job } from "../util/repeat.js";
import {
  createNetwork,
  type NetworkState,
  type Networks,
  restingNetwork,
  type SharedParts,
} from "./network.js";

/** Creates a log that adds the network to each line. */
const logOf = (log: Log, network: string): Log => ({
  debug: (details, message) => log.debug({ network, ...details }, message),
  info: (details, message) => log.info({ network, ...details }, message),
  warn: (details, message) => log.warn({ network, ...details }, message),
  error: (details, message) => log.error({ network, ...details }, message),
});

/** Creates all networks in the settings, with their background work. */
export function createNetworks(
  given: Omit<SharedParts, "known">,
  state: State,
  log: Log,
  metrics: Metrics,
): {
  readonly networks: Networks;
  readonly backgrounds: readonly Background[];
  /** Starts the jobs that load the stored names. */
  readonly startLoading: () => readonly Job[];
} {
  const { config } = given;
  const ids = config.networks.flatMap(({ id }) => id ?? []);
  const knownNetworks = createKnownNetworks(state, given.store, ids);
  const sharedParts: SharedParts = { ...given, known: knownNetworks };
  const isAlone = config.networks.length === 1;
  const build = (settings: (typeof config.networks)[number]) => {
    const ownLog = isAlone || settings.id === undefined ? log : logOf(log, settings.id);
    return createNetwork(settings, () => networks, sharedParts, ownLog, metrics.of(settings.id));
  };
  const [firstSettings, ...otherSettings] = config.networks;
  const [first, ...others] = [build(firstSettings), ...otherSettings.map(build)] as const;
  /** They are kept, because their states cache what they have read. */
  const restingNetworks = new Map<string, NetworkState>();
  const restingNetworkOf = (id: string): NetworkState => {
    const network = restingNetworks.get(id) ?? restingNetwork(id, sharedParts, log);
    restingNetworks.set(id, network);
    return network;
  };
  const networks: Networks = {
    served: [first.network, ...others.map(({ network }) => network)],
    feeds: given.feeds.map(({ definition }) => definition),
    known: knownNetworks,
    async resting() {
      const allIds = await knownNetworks.load();
      // A network without a name uses the data of the oldest one.
      const ownIds = new Set(ids.length === 0 ? [knownNetworks.oldest()] : ids);
      return allIds.filter((id) => !ownIds.has(id)).map(restingNetworkOf);
    },
  };
  return {
    networks,
    backgrounds: [first, ...others].map(({ background }) => background),
    startLoading: () => [first, ...others].map((each) => each.startLoading()),
  };
}
