import { createHash } from "node:crypto";
import type { Message } from "../sandbox/discord/world.js";
import { createRandom } from "../sandbox/explorer/random.js";
import { DAY } from "../src/util/units.js";
import type { VirtualClock } from "./clock.js";
import { SimulatedExplorer } from "./explorer.js";
import { createHistory, type History, type HistoryChoice } from "./history/index.js";
import { type Lives, startLives } from "./lives.js";
import { playNetwork } from "./network.js";
import { judge } from "./oracle/index.js";
import { NETWORKS } from "./process.js";
import { MemoryStore } from "./store.js";
import { Surroundings } from "./world.js";

/** Result of a simulation. */
export interface Simulated {
  /** Errors, one line each. */
  readonly wrong: readonly string[];
  /** Digest of all messages. The same seed always gives the same digest. */
  readonly digest: string;
  readonly messages: number;
  readonly requests: { readonly explorer: number; readonly discord: number };
  readonly commits: number;
  /** Number of remaining documents by collection. */
  readonly documents: Readonly<Record<string, number>>;
  readonly processes: number;
  readonly answers: number;
  /** Returns the messages that contain a text, one line each. */
  find(text: string): readonly string[];
}

const isOfFinishedEvent = (body: object): boolean => "code" in body && body.code === 180_000;

/** Time between two reports of the progress, in ms. */
const PROGRESS_MS = 30 * DAY;

/** Offset of the second network's seed. Both histories start at the same time of the year. */
const NEXT_SEED = 500_000;

/** Creates a history for each network. Faults of the bot and of Discord are shared. */
function historiesOf(
  seed: number,
  days: number,
  networks: number,
  choice: HistoryChoice,
): readonly [History, ...History[]] {
  const first = createHistory(seed, days, choice);
  const { discordFaults, kills, doubles, jumps } = first;
  const others = Array.from({ length: networks - 1 }, (_, index) => ({
    ...createHistory(seed + (index + 1) * NEXT_SEED, days, choice),
    discordFaults,
    kills,
    doubles,
    jumps,
  }));
  return [first, ...others];
}

/**
 * Runs the bot's whole background through the history of a seed, and judges the messages.
 * @param networks number of networks, one or two
 * @param choice settings that override the seed
 * @param onProgress called after every 30 days with the number of days so far, and the number of errors in
 * the log. Messages are judged at the end
 */
export async function simulate(
  clock: VirtualClock,
  seed: number,
  days: number,
  networks: number,
  choice: HistoryChoice = {},
  onProgress: (days: number, logged: number) => void = () => {},
): Promise<Simulated> {
  const histories = historiesOf(seed, days, networks, choice);
  const [history] = histories;
  clock.now = history.startAt;
  const random = createRandom(seed + 77);
  Math.random = () => random.next();
  const surroundings = new Surroundings(clock, history, seed);
  const store = new MemoryStore();
  const { discord } = surroundings;
  const explorers: SimulatedExplorer[] = [];
  for (const [index, own] of histories.entries())
    explorers.push(
      new SimulatedExplorer(clock, own, surroundings, seed + index * NEXT_SEED, explorers[0]?.ledger),
    );
  const wrong: string[] = [];
  const onFault = (line: string) => {
    if (wrong.length < 50) wrong.push(`Logged at ${new Date(clock.now).toISOString()}: ${line}`);
  };
  let lives: Lives | undefined;
  const played = await Promise.all(
    explorers.map((explorer, index) => {
      const { prefix, label } = NETWORKS[index] ?? NETWORKS[0];
      const front = () => lives?.fronts()?.[index];
      const own = histories[index] ?? history;
      return playNetwork({ clock, history: own, explorer, discord, store, random, prefix, label, front });
    }),
  );
  lives = startLives({ clock, history, surroundings, explorers, store, onFault });
  const { down } = lives;

  for (let until = history.startAt; until < history.endAt; ) {
    until = Math.min(until + PROGRESS_MS, history.endAt);
    await clock.run(until);
    if (until < history.endAt) onProgress((until - history.startAt) / DAY, wrong.length);
  }
  lives.end();

  const messages: ReadonlyMap<string, readonly Message[]> = discord.messages;
  for (const each of played) wrong.push(...judge({ ...each, messages, down }));
  // A bot whose clock is behind cannot know that an event has already ended.
  const refused = discord.refusals.filter(({ status, body }) => status === 400 && !isOfFinishedEvent(body));
  wrong.push(...refused.slice(0, 5).map((each) => `Discord refused ${JSON.stringify(each).slice(0, 300)}`));
  const texts = [...messages].map(
    ([id, own]) => [id, own.map(({ content, embeds, timestamp }) => [timestamp, content, embeds])] as const,
  );
  return {
    wrong,
    digest: createHash("sha256").update(JSON.stringify(texts)).digest("hex").slice(0, 16),
    messages: [...messages.values()].reduce((sum, own) => sum + own.length, 0),
    requests: surroundings.requests,
    commits: store.commits,
    documents: store.sizes(),
    processes: lives.count(),
    answers: played.flatMap(({ answers }) => answers).filter(({ isSure }) => isSure).length,
    find: (text) =>
      texts.flatMap(([id, own]) =>
        own.map((message) => `${id} ${JSON.stringify(message)}`).filter((line) => line.includes(text)),
      ),
  };
}
