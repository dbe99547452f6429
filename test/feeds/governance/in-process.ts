import { REST } from "discord.js";
import type { SandboxDiscord } from "../../../sandbox/discord/server.js";
import type { SandboxExplorer } from "../../../sandbox/explorer/server.js";
import { createCharts } from "../../../src/charts/charts.js";
import { defaultsOf } from "../../../src/delivery/feed.js";
import { createJanitor } from "../../../src/delivery/janitor.js";
import { createOutbox } from "../../../src/delivery/outbox.js";
import { createRunner } from "../../../src/delivery/runner.js";
import { createSubscriptions } from "../../../src/delivery/subscriptions.js";
import { createDirectory } from "../../../src/directory/directory.js";
import { createNames } from "../../../src/directory/names.js";
import { createRenderer } from "../../../src/discord/message.js";
import { createPacer } from "../../../src/discord/pacer.js";
import { createHttp } from "../../../src/explorer/http.js";
import { createExplorerService } from "../../../src/explorer/service.js";
import { governance } from "../../../src/feeds/governance/index.js";
import { createCache } from "../../../src/storage/cache.js";
import type { Lease } from "../../../src/storage/lease.js";
import type { State } from "../../../src/storage/state.js";
import { NO_TROUBLE, newLinks } from "../../harness.js";

/** Runs the governance feed in this process, for one subscribed channel. The caller polls. */
export async function runGovernance(explorer: SandboxExplorer, discord: SandboxDiscord, state: State) {
  const log = {
    debug: () => {},
    info: () => {},
    warn: () => {},
    error: (details: object) => console.error(details),
  };
  const get = createHttp({ apiUrl: `${explorer.url}/v1`, apiKey: explorer.key });
  const service = createExplorerService({
    upstream: ({ path, query }) => get(path, query, AbortSignal.timeout(2_000)),
    cache: createCache({ memoryMb: 16, log }),
  });
  const lease: Lease = { epoch: 1, validUntil: () => Number.POSITIVE_INFINITY };
  const subscriptions = createSubscriptions(state);
  await state.commit(
    subscriptions.writes({
      ...defaultsOf(governance.definition),
      topics: { new: true, outcome: true, reminders: true, changes: true, votes: true },
      channelId: discord.channels.governance.id,
      feed: governance.definition.name,
      subject: null,
      guildId: discord.guild.id,
      userId: null,
      forum: false,
      tagId: null,
      since: 0,
    }),
  );
  const janitor = createJanitor(state, subscriptions);
  const rest = new REST({ api: discord.url, retries: 0, offset: 0 }).setToken(discord.token);
  const renderer = createRenderer(newLinks());
  const now = Date.now;
  const directory = createDirectory();
  const names = createNames({ directory, explorer: service.for("background"), state, log });
  const running = governance.create(
    {
      explorer: service,
      state,
      lease,
      subscriptions,
      renderer,
      charts: createCharts(log),
      directory,
      names,
      rest,
      pacer: createPacer(),
      self: NO_TROUBLE,
      log,
      now,
    },
    60_000,
  );
  const outbox = createOutbox({
    state,
    lease,
    rest,
    renderer,
    pacer: createPacer(0),
    subscriptions,
    janitor,
    feeds: new Map([[running.feed.definition.name, running.feed]]),
    log,
    now,
    discordTime: now,
    onDelivered: () => {},
    onRecorded: () => {},
  });
  const runner = createRunner(running, [], {
    state,
    now,
    outbox,
    upkeep: { touch: () => {} },
    subscriptions,
    janitor,
  });
  return { running, outbox, runner };
}
