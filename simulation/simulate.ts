import { createHash } from "node:crypto";
import { USUAL } from "../sandbox/discord/permissions.js";
import type { Message } from "../sandbox/discord/world.js";
import { createRandom } from "../sandbox/explorer/random.js";
import { defaultsOf } from "../src/delivery/feed.js";
import { feeds } from "../src/feeds/index.js";
import { type Subscription, subscriptionId } from "../src/storage/catalogue.js";
import { DAY, HOUR, MINUTE, SECOND } from "../src/util/units.js";
import type { VirtualClock } from "./clock.js";
import { createHistory, WATCHED, type Window, windowAt } from "./history.js";
import { judge, type Watch } from "./oracle.js";
import { LeaseKeeper, startProcess } from "./process.js";
import { MemoryStore } from "./store.js";
import { type SimulatedProcess, Surroundings } from "./world.js";

/** What came of a simulated time. */
export interface Simulated {
  /** What was told wrongly, or went wrong, each in a line. */
  readonly wrong: readonly string[];
  /** Of all messages: the same seed gives the same. */
  readonly digest: string;
  readonly messages: number;
  readonly requests: { readonly explorer: number; readonly discord: number };
  readonly commits: number;
  /** Documents that are left, by collection. */
  readonly documents: Readonly<Record<string, number>>;
  readonly processes: number;
}

/** Lets the whole background of the bot live through a history that a seed draws, and judges what was told. */
export async function simulate(clock: VirtualClock, seed: number, days: number): Promise<Simulated> {
  const history = createHistory(seed, days);
  const { startAt, endAt } = history;
  clock.now = startAt;
  const random = createRandom(seed + 77);
  Math.random = () => random.next();
  const surroundings = new Surroundings(clock, history, seed);
  const store = new MemoryStore();
  const lease = new LeaseKeeper(() => clock.now);
  const { discord, ledger } = surroundings;
  const wrong: string[] = [];
  const onFault = (line: string) => {
    if (wrong.length < 50) wrong.push(`Logged at ${new Date(clock.now).toISOString()}: ${line}`);
  };

  // Channels, people, and what they are told of.
  const owner = discord.addUser("Owner");
  const guild = discord.addGuild("Community", owner, USUAL);
  guild.members.set(discord.bot.id, []);
  const channels = Array.from({ length: 5 }, (_, index) =>
    discord.addChannel({ type: 0, guild_id: guild.id, name: `channel-${index}` }),
  );
  const person = discord.addUser("Ana");
  const direct = discord.directChannel(person);
  const watches: Watch[] = [];
  const subscriptions: Subscription[] = [];
  const subscribe = (channelId: string, feedName: string, subject: string | null, more: object = {}) => {
    const definition = feeds.find((feed) => feed.definition.name === feedName)?.definition;
    if (!definition) throw new RangeError(feedName);
    subscriptions.push({
      ...defaultsOf(definition),
      channelId,
      feed: feedName,
      subject,
      guildId: channelId === direct.id ? null : guild.id,
      userId: channelId === direct.id ? person.id : null,
      forum: false,
      tagId: null,
      since: startAt,
      ...more,
    });
  };
  const partyOf = (number: number) =>
    ledger.validators.find(({ party }) => party.name === `Node ${number}`)?.party.id ?? "";
  for (const { id } of [...channels.slice(0, 3), direct])
    for (let validator = 0; validator < WATCHED; validator += 1) {
      if (random.chance(0.5)) continue;
      const afterMs = random.pick([20 * MINUTE, 45 * MINUTE, 3 * HOUR]);
      watches.push({ channelId: id, validator, afterMs });
      subscribe(id, "validator", partyOf(validator), { after: afterMs });
    }
  const newcomers = [channels[3]?.id ?? ""];
  const governance = [channels[3]?.id ?? "", channels[4]?.id ?? ""];
  for (const id of newcomers) subscribe(id, "newcomers", null);
  for (const id of governance) subscribe(id, "governance", null);
  await store.commit(
    subscriptions.map((each) => ({
      op: "put" as const,
      collection: "subscriptions",
      id: subscriptionId(each.channelId, each.feed, each.subject),
      text: JSON.stringify(each),
    })),
  );

  // Processes: one that is started again whenever it is killed, and at times a second.
  const down: Window[] = [];
  let processes = 0;
  const alive: SimulatedProcess[] = [];
  const offsetNow = () =>
    (windowAt(history.jumps, clock.now) as (typeof history.jumps)[number] | undefined)?.offset ?? 0;
  const start = (onDeath: () => void): SimulatedProcess => {
    const process: SimulatedProcess = {
      offset: offsetNow(),
      isDead: false,
      doom: undefined,
      onDeath: () => {
        process.isDead = true;
        alive.splice(alive.indexOf(process), 1);
        clock.runOutside(onDeath);
      },
    };
    processes += 1;
    alive.push(process);
    startProcess({ clock, surroundings, store, lease, onFault }, process);
    return process;
  };
  let downMs = 5 * SECOND;
  let main: SimulatedProcess;
  const startMain = () => {
    main = start(() => {
      // Another one takes over only when the lease has run out.
      down.push({ from: clock.now, to: clock.now + downMs + 10 * SECOND });
      clock.after(downMs, startMain);
    });
  };
  startMain();
  for (const kill of history.kills)
    clock.after(kill.at - startAt, () => {
      downMs = kill.downMs;
      main.doom = kill;
    });
  for (const { from, to } of history.doubles)
    clock.after(from - startAt, () => {
      const second = start(() => {});
      clock.after(to - from, () => {
        if (!second.isDead) second.onDeath();
        down.push({ from: clock.now, to: clock.now + 10 * SECOND });
      });
    });
  for (const { from, to, offset } of history.jumps) {
    const set = (ms: number) => {
      for (const process of alive) process.offset = ms;
    };
    clock.after(from - startAt, () => set(offset));
    clock.after(to - startAt, () => set(0));
  }
  for (const happening of history.happenings)
    clock.after(happening.at - startAt, () => {
      const request =
        "title" in happening ? ledger.voteRequests.find(({ title }) => title === happening.title) : undefined;
      if (happening.kind === "open")
        ledger.openVoteRequest({
          title: happening.title,
          motion: "feature",
          lastsMs: happening.lastsMs + DAY,
          effectiveInMs: happening.lastsMs + 2 * DAY,
        });
      else if (happening.kind === "vote" && request) ledger.castVote(request, happening.accept);
      else if (happening.kind === "close" && request) ledger.closeVoteRequest(request, happening.status);
      else if (happening.kind === "join") ledger.joinValidator(happening.name);
      else if (happening.kind === "price") ledger.setPrice(happening.price);
    });

  await clock.run(endAt);
  for (const process of alive) process.isDead = true;

  const messages: ReadonlyMap<string, readonly Message[]> = discord.messages;
  wrong.push(...judge({ history, watches, newcomers, governance, messages, down }));
  const refused = discord.refusals.filter(({ status }) => status === 400);
  wrong.push(...refused.slice(0, 5).map((each) => `Discord refused ${JSON.stringify(each).slice(0, 300)}`));
  const texts = [...messages].map(([id, own]) => [
    id,
    own.map(({ content, embeds, timestamp }) => [content, embeds, timestamp]),
  ]);
  return {
    wrong,
    digest: createHash("sha256").update(JSON.stringify(texts)).digest("hex").slice(0, 16),
    messages: [...messages.values()].reduce((sum, own) => sum + own.length, 0),
    requests: surroundings.requests,
    commits: store.commits,
    documents: store.sizes(),
    processes,
  };
}
