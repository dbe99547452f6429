import { Refused, type SandboxExplorer, startSandboxExplorer } from "../../../sandbox/explorer/server.js";
import type { Subscription } from "../../../src/delivery/collections.js";
import { draftOf } from "../../../src/delivery/feed.js";
import { createJanitor } from "../../../src/delivery/janitor.js";
import { createDirectory } from "../../../src/directory/directory.js";
import { ExplorerError } from "../../../src/explorer/errors.js";
import type { ValidatorEvent } from "../../../src/feeds/validator/events.js";
import { validator } from "../../../src/feeds/validator/index.js";
import { createValidatorWatch } from "../../../src/feeds/validator/watch.js";
import { createRoundsReader } from "../../../src/ledger/rounds.js";
import type { State } from "../../../src/storage/state.js";
import { DAY, MINUTE, SECOND } from "../../../src/util/units.js";
import { newExplorer, newState } from "../../harness.js";

export const START = Math.floor(Date.now() / DAY - 1) * DAY;
const POLL_MS = 10 * MINUTE;

/** A row of the list of validators. */
interface Row {
  readonly validator: string;
  readonly lastActiveAt: number;
}

/** The behaviour of the network and of its explorer. All times are epoch ms. */
export interface Scenario {
  readonly validators: number;
  /** Numbers of the watched validators. */
  readonly watched: readonly number[];
  /** Returns a validator's last report at a time, as the explorer lists it. */
  readonly lastReport: (number: number, now: number) => number;
  /** Numbers of the validators that have 5 % of their traffic left. */
  readonly lowTraffic?: readonly number[];
  /** Returns the time of the newest update, and the newest round. */
  readonly updateAt?: (now: number) => number;
  readonly roundAt?: (now: number) => number;
  /** True if the explorer answers a request with an error, or with 404 for a single validator. */
  readonly isFailing?: (path: string, page: number) => boolean;
  readonly isUnknown?: (number: number) => boolean;
  /** True if the explorer neither knows nor lists a validator. */
  readonly isUnlisted?: (number: number, now: number) => boolean;
  /** True if the subscription to a validator is paused. */
  readonly isPaused?: (number: number, now: number) => boolean;
  /** Returns the rows of a page of the list, in place of those that the explorer would send. */
  readonly rowsOf?: (rows: readonly Row[], page: number, now: number) => readonly Row[];
  /** Called at the end with the bot's state. */
  readonly inspect?: (state: State) => Promise<void>;
  /** True if the subscriptions have been removed. */
  readonly isUnwatched?: (now: number) => boolean;
  /** Roles that alerts ping, by the number of the validator. */
  readonly roles?: Readonly<Record<number, string>>;
}

/** Reports that repeat after an interval. Each validator has its own offset and an interval up to a twelfth longer. */
export const regular =
  (intervalMs: number) =>
  (number: number, now: number): number => {
    const ownMs = intervalMs * (1 + (number % 13) / 156);
    const offset = START - DAY + ((number * 0.618) % 1) * ownMs;
    return offset + Math.floor((now - offset) / ownMs) * ownMs;
  };

/** Polls the validators of a scenario over a real HTTP server, on a virtual clock that begins at START. Returns the events. */
export async function play(scenario: Scenario, forMs: number): Promise<(ValidatorEvent & { at: number })[]> {
  let now = START;
  const sandbox = await startSandboxExplorer({
    lively: false,
    size: { ...SIZE, validators: scenario.validators, parties: scenario.validators },
  });
  obey(sandbox, scenario, () => now);
  for (const number of scenario.lowTraffic ?? []) {
    const each = sandbox.ledger.validators[number];
    if (each) Object.assign(each, { isSv: false, trafficBought: 100, trafficUsed: 95, trafficOrdered: 100 });
  }
  const explorer = newExplorer(sandbox, () => now).for("background", { maxAgeMs: 0, keep: false });
  const parties = sandbox.ledger.validators.map(({ party }) => party.id);
  const state = newState();
  const readRound = createRoundsReader(explorer, state, () => now);
  const draft = draftOf(validator.definition, "1");
  const subscriptions = scenario.watched.map((number) => ({
    ...draft,
    topics: { ...draft.topics, traffic: scenario.lowTraffic !== undefined },
    subject: parties[number] ?? "",
    guildId: "2",
    roleId: scenario.roles?.[number] ?? null,
  }));
  const subscribers = {
    subscriptions: async () => (scenario.isUnwatched?.(now) ? [] : subscriptions),
    isHeard: async ({ subject }: Pick<Subscription, "subject">) =>
      scenario.isPaused?.(parties.indexOf(subject ?? ""), now) !== true,
  };
  const janitor = createJanitor(state, { all: async () => subscriptions }, validator.collections);
  const poll = createValidatorWatch({
    explorer,
    state,
    directory: {
      ...createDirectory(() => now),
      // As after a reading of the whole list every half hour.
      entry: (_, id) =>
        scenario.isUnlisted?.(parties.indexOf(id), now) ? undefined : { id, name: null, active: null },
      readAt: () => now - (now % (30 * MINUTE)),
    },
    now: () => now,
  });
  const events: (ValidatorEvent & { at: number })[] = [];
  for (; now < START + forMs; now += POLL_MS) {
    for (const each of sandbox.ledger.validators)
      each.lastActiveAt = scenario.lastReport(parties.indexOf(each.party.id), now);
    await readRound(true);
    try {
      for await (const { writes = [], ended = [], events: news = [] } of poll(subscribers)) {
        const endings = await janitor.endSubjects(validator.collections ?? [], ended);
        await state.commit([...writes, ...endings]);
        for (const event of news) events.push({ ...(event as ValidatorEvent), at: now });
      }
    } catch (error) {
      // The next poll tries again.
      if (!(error instanceof ExplorerError)) throw error;
    }
  }
  await scenario.inspect?.(state);
  await sandbox.close();
  return events;
}

const SIZE = { voteRequests: 0, superValidators: 3, updates: 2, tokens: 1 };

/** Lets a sandbox answer as a scenario says. */
function obey(sandbox: SandboxExplorer, scenario: Scenario, now: () => number): void {
  const { updateAt = (at) => at - 5 * SECOND, roundAt = (at) => Math.floor(at / (10 * MINUTE)) } = scenario;
  const parties = sandbox.ledger.validators.map(({ party }) => party.id);
  sandbox.mood = (answer, path, query, { id = "" }) => {
    if (scenario.isFailing?.(path, Number(query.page ?? 0))) throw new Refused(500);
    const isUnlisted = (party: string) => scenario.isUnlisted?.(parties.indexOf(party), now()) === true;
    if (path === "/v1/validators") {
      const page = answer as { readonly content: readonly Row[] };
      const rows = page.content.filter((row) => !isUnlisted(row.validator));
      return { ...page, content: scenario.rowsOf?.(rows, Number(query.page ?? 0), now()) ?? rows };
    }
    if (
      path.startsWith("/v1/validators/:id") &&
      (isUnlisted(id) || scenario.isUnknown?.(parties.indexOf(id)))
    ) {
      if (path.endsWith("/exist")) return false;
      throw new Refused(404);
    }
    if (path.endsWith("/updates")) {
      const page = answer as { readonly content: readonly object[] };
      return { ...page, content: page.content.map((row) => ({ ...row, recordTime: updateAt(now()) })) };
    }
    return path.endsWith("/dashboard") ? { ...(answer as object), latestRound: roundAt(now()) } : answer;
  };
}
