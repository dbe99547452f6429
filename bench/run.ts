import { cpus } from "node:os";
import type { Given } from "../sandbox/discord/driver.js";
import { createRandom } from "../sandbox/explorer/random.js";
import { makeStack, type Stack } from "../sandbox/stack.js";
import { growth } from "./growth.js";
import { large } from "./large.js";
import {
  buildBare,
  contentsOf,
  cpuOf,
  crowd,
  forgetPast,
  inOpenLoop,
  inTurns,
  median,
  memoryOf,
  percentile,
  type Subject,
  startBare,
  typed,
} from "./measure.js";
import { networks } from "./networks.js";
import { watches } from "./watches.js";

/**
 * Measures the bot's resources as ratios to a bare discord.js bot in the same run (bench/bare.ts), and its
 * requests to the explorer. Prints a table in Markdown. `npm run bench -- cpu,time` runs some of the
 * sections.
 */

const SECTIONS = [
  "cpu",
  "time",
  "start",
  "memory",
  "servers",
  "requests",
  "posted",
  "pace",
  "flood",
  "growth",
  "networks",
  "watches",
  "large",
] as const;
const chosen = process.argv[2]?.split(",") ?? SECTIONS;
const wanted = (section: (typeof SECTIONS)[number]) => chosen.includes(section);

const production = {
  SUBSCRIPTIONS_PER_SERVER: "10000",
  NODE_ENV: "production",
  EXPLORER_REQUESTS_PER_MINUTE: "6000",
};
const row = (what: string, value: string, aim: string) => console.log(`| ${what} | ${value} | ${aim} |`);
const ratio = (value: number) => value.toFixed(2);
const log = (text: string) => console.error(`${new Date().toISOString().slice(11, 19)} ${text}`);

/** Starts our bot on a separate sandbox, and waits until it has read the lists for autocompletion. */
async function startOurs(more: Record<string, string> = {}): Promise<{ place: Stack; subject: Subject }> {
  const place = await makeStack({ explorer: { lively: false }, env: () => ({ ...production, ...more }) });
  await place.start();
  const subject = { discord: place.discord, bot: place.bot(), somebody: crowd(place.discord, 200) };
  const read = () => place.explorer.requests.some(({ path }) => path.endsWith("/parties/top"));
  await place.discord.world.until(read, "the lists", 60_000);
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  return { place, subject };
}

async function againstBare(commands: readonly string[]): Promise<void> {
  const { place, subject: ours } = await startOurs();
  for (const command of commands) {
    const answer = await place.discord.driver.ask(ours.somebody(), command);
    const bare = await startBare(contentsOf(answer), place.discord.world.commands.get("") ?? []);
    const both = [ours, bare] as const;
    for (const subject of both) {
      await inTurns(subject, 6_000, 20, typed(subject.discord, command));
      forgetPast(subject);
    }
    if (wanted("cpu")) {
      const perSecond: [number[], number[]] = [[], []];
      for (let run = 0; run < 5; run += 1) {
        for (const [at, subject] of both.entries()) {
          const before = cpuOf(subject.bot);
          await inTurns(subject, 4_000, 20, typed(subject.discord, command));
          perSecond[at]?.push(4_000 / (cpuOf(subject.bot) - before));
          forgetPast(subject);
        }
      }
      row(
        `cached \`${command}\`: commands per second of CPU, bot ÷ bare`,
        ratio(median(perSecond[0]) / median(perSecond[1])),
        "≥ 0.85",
      );
    }
    if (wanted("time")) {
      const runs = { p50: [[], []] as [number[], number[]], p99: [[], []] as [number[], number[]] };
      for (let run = 0; run < 5; run += 1) {
        for (const [at, subject] of both.entries()) {
          const times = await inOpenLoop(subject, 200, 5_000, typed(subject.discord, command));
          runs.p50[at]?.push(percentile(times, 0.5));
          runs.p99[at]?.push(percentile(times, 0.99));
          forgetPast(subject);
        }
      }
      row(
        `cached \`${command}\`, 200 a second: p50 to the answer, bot ÷ bare`,
        ratio(median(runs.p50[0]) / median(runs.p50[1])),
        "≤ 1.2",
      );
      row(`the same, p99`, ratio(median(runs.p99[0]) / median(runs.p99[1])), "≤ 1.5");
    }
    await bare.bot.stop();
    await bare.discord.close();
  }
  await place.close();
}

async function startTimes(): Promise<void> {
  const { place, subject } = await startOurs();
  const answer = await place.discord.driver.ask(subject.somebody(), "/network");
  const bare = await startBare(contentsOf(answer), place.discord.world.commands.get("") ?? []);
  const times: [number[], number[]] = [[], []];
  for (let run = 0; run < 7; run += 1) {
    await place.bot().stop();
    const ours = performance.now();
    await place.start();
    times[0].push(performance.now() - ours);
    const other = performance.now();
    const again = await startBare({}, []);
    times[1].push(performance.now() - other);
    await again.bot.stop();
    await again.discord.close();
  }
  row("start to ready, bot ÷ bare", ratio(median(times[0]) / median(times[1])), "≤ 1.5");
  await bare.bot.stop();
  await bare.discord.close();
  await place.close();
}

/** Mix of commands for all screens without pictures, weighted by how often people use them. */
function mixOf({ explorer: { ledger } }: Stack): readonly (readonly [command: string, given: () => Given])[] {
  const random = createRandom(42);
  const rank = (count: number) => Math.min(count - 1, Math.floor(count ** random.next()) - 1);
  const none = () => ({});
  return [
    ["/network", none],
    ["/proposals list", none],
    ["/validator show", () => ({ validator: ledger.validators[rank(200)]?.party.id ?? "" })],
    ["/validator list", none],
    ["/party show", () => ({ party: ledger.parties[rank(200)]?.id ?? "" })],
    ["/proposals show", () => ({ proposal: ledger.voteRequests[rank(20)]?.firstContractId ?? "" })],
    ["/party top", none],
    ["/transfers", none],
    ["/validator new", none],
    ["/event list", none],
    ["/update list", none],
    ["/contract list", none],
    ["/help", none],
  ];
}

async function memory(): Promise<void> {
  const COMMANDS = 100_000;
  const STEPS = 20;
  const { place, subject: ours } = await startOurs();
  const mix = mixOf(place);
  const answer = await place.discord.driver.ask(ours.somebody(), "/network");
  const bare = await startBare(contentsOf(answer), place.discord.world.commands.get("") ?? []);
  const held: [number[], number[]] = [[], []];
  for (let step = 0; step < STEPS; step += 1) {
    for (const [at, subject] of [ours, bare].entries()) {
      let turn = 0;
      await inTurns(subject, COMMANDS / STEPS, 20, (who) => {
        turn += 1;
        const [command, given] = mix[turn % mix.length] ?? ["/network", () => ({})];
        return subject.discord.driver.type(who, command, given());
      });
      forgetPast(subject);
      held[at]?.push(memoryOf(subject.bot));
    }
    if (step % 5 === 0) log(`memory: ${((step + 1) * COMMANDS) / STEPS} commands`);
  }
  const lastHalf = (all: readonly number[]) => all.slice(STEPS / 2);
  const [oursMb, bareMb] = [median(lastHalf(held[0])), median(lastHalf(held[1]))];
  row(
    "memory over the last half of 100,000 commands, before a chart, bot ÷ bare",
    `${ratio(oursMb / bareMb)} (${oursMb.toFixed(0)} and ${bareMb.toFixed(0)} MB)`,
    "≤ 1.5",
  );
  const quarter = (from: number) => median(held[0].slice(from, from + STEPS / 4));
  row("its last quarter ÷ its third", ratio(quarter((STEPS * 3) / 4) / quarter(STEPS / 2)), "flat");
  for (let at = 0; at < 40; at += 1) await place.discord.driver.ask(ours.somebody(), "/validator versions");
  await inTurns(ours, 5_000, 20, typed(ours.discord, "/network"));
  const after = memoryOf(ours.bot);
  row("after charts: beyond bare, MB", (after - bareMb).toFixed(0), "≤ 64 + 120");
  await bare.bot.stop();
  await bare.discord.close();
  await place.close();
}

/**
 * Measures memory after the start, for different numbers of servers, and after many people have used the bot.
 */
async function servers(): Promise<void> {
  const measure = async (guilds: number, people: number, commands = 10_000) => {
    const place = await makeStack({
      explorer: { lively: false, size: { parties: 100, validators: 40 } },
      env: () => production,
    });
    const { discord } = place;
    for (let at = 1; at < guilds; at += 1) discord.world.addGuild(`Server ${at}`, discord.people.owner, 0n);
    await place.start();
    const subject = { discord, bot: place.bot(), somebody: crowd(discord, people) };
    for (let left = commands; left > 0; left -= 5_000) {
      await inTurns(subject, Math.min(left, 5_000), 20, typed(discord, "/network"));
      forgetPast(subject);
    }
    const held = memoryOf(subject.bot);
    await place.close();
    return held;
  };
  const runs = async (guilds: number) =>
    median([await measure(guilds, 1), await measure(guilds, 1), await measure(guilds, 1)]);
  row("memory on 2,500 servers ÷ on one", ratio((await runs(2_500)) / (await runs(1))), "≤ 1.05");
  const many = 100_000;
  const ofMany = (await measure(1, many, many)) / (await measure(1, 1, many));
  row("memory after 100,000 commands by 100,000 people ÷ by one", ratio(ofMany), "1");
}

async function requests(): Promise<void> {
  const COMMANDS = 10_000;
  const place = await makeStack({
    explorer: { lively: false },
    // The hour takes about a minute, but timers use real time, so a poll per second corresponds to one per
    // minute.
    env: () => ({ ...production, HTTP_PORT: "18081", GOVERNANCE_POLL_SECONDS: "1" }),
  });
  await place.start();
  const somebody = crowd(place.discord, 500);
  const mix = [["/price", () => ({})], ...mixOf(place)] as const;
  const random = createRandom(7);
  const sent = async () => {
    const text = await (await fetch("http://127.0.0.1:18081/metrics")).text();
    const all = [...text.matchAll(/crier_upstream_seconds_count\{status="\d+",priority="people"\} (\d+)/g)];
    return all.reduce((sum, [, count]) => sum + Number(count), 0);
  };
  const before = await sent();
  for (let at = 0; at < COMMANDS; at += 1) {
    place.pass(3_600_000 / COMMANDS);
    const [command, given] = mix[Math.min(mix.length - 1, Math.floor(mix.length ** random.next()) - 1)] ?? [
      "/network",
      () => ({}),
    ];
    await place.discord.driver.ask(somebody(), command, given());
    if (at % 1_000 === 0) forgetPast(place);
  }
  const caused = (await sent()) - before;
  // The background work sends no requests for single validators, parties or (as none is new) vote requests
  // here.
  const single = place.explorer.requests.filter(({ path }) =>
    /validators\/.+::|parties\/.+::|details$/.test(decodeURIComponent(path)),
  );
  const perCommand = (count: number) => (count / COMMANDS).toFixed(3);
  row(`explorer requests caused by people ÷ commands, ${COMMANDS} in an hour`, perCommand(caused), "≤ 0.02");
  row("those among them for lists, price and statistics", perCommand(caused - single.length), "");
  await place.close();
}

async function posted(): Promise<void> {
  const place = await makeStack({
    explorer: { lively: false },
    env: ({ channels }) => ({
      ...production,
      GOVERNANCE_CHANNEL_ID: channels.governance.id,
      GOVERNANCE_POLL_SECONDS: "1",
    }),
  });
  await place.start();
  const { world, channels } = place.discord;
  const polls = () => place.explorer.requests.filter(({ path }) => path.endsWith("/vote-requests")).length;
  await world.until(() => polls() > 8, "the baseline", 30_000);
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  const times: number[] = [];
  for (let at = 0; at < 8; at += 1) {
    const count = world.read(channels.governance).length;
    const startedAt = performance.now();
    place.explorer.ledger.openVoteRequest();
    await world.until(() => world.read(channels.governance).length > count, "the announcement");
    times.push(performance.now() - startedAt);
    await new Promise((resolve) => setTimeout(resolve, 1_300 + at * 130));
  }
  row(
    "vote request visible → posted, longest of 8, polling every second",
    `${(Math.max(...times) / 1_000).toFixed(1)} s`,
    "≤ 2 s",
  );
  await place.close();
}

async function pace(): Promise<void> {
  const CHANNELS = 1_000;
  const { place, subject } = await startOurs({ GOVERNANCE_POLL_SECONDS: "1" });
  const { discord } = place;
  const owner = { user: discord.people.owner, channel: discord.channels.general };
  const channels = Array.from({ length: CHANNELS }, (_, at) =>
    discord.world.addChannel({ type: 0, guild_id: discord.guild.id, name: `channel-${at}` }),
  );
  discord.limits.enforced = false;
  for (const channel of channels)
    await discord.driver.ask(owner, "/subscribe governance", { channel: channel.id });
  discord.limits.enforced = true;
  const command = typed(discord, "/price");
  await discord.driver.ask(subject.somebody(), "/price");
  const idle = percentile(await inOpenLoop(subject, 50, 10_000, command), 0.99);
  place.explorer.ledger.openVoteRequest({ title: "For all" });
  const announced = () => channels.filter((channel) => discord.world.read(channel).length > 0).length;
  await discord.world.until(() => announced() > 0, "the first announcement");
  const startedAt = performance.now();
  const load = inOpenLoop(subject, 50, 15_000, command);
  await discord.world.until(() => announced() === CHANNELS, "every announcement", 120_000);
  const took = (performance.now() - startedAt) / 1_000;
  row(
    "announcement to 1,000 channels ÷ the time that 50 requests a second allow",
    ratio(took / (CHANNELS / 50)),
    "≤ 1.1",
  );
  row("`/price`, p99 meanwhile ÷ idle", ratio(percentile(await load, 0.99) / idle), "≤ 2");
  row("requests refused by Discord's limits meanwhile", String(discord.limits.refused), "0");
  await place.close();
}

/** Measures everyone's commands while one person types continuously into a field with autocompletion. */
async function flood(): Promise<void> {
  const { place, subject } = await startOurs();
  const { discord } = place;
  const command = typed(discord, "/price");
  await discord.driver.ask(subject.somebody(), "/price");
  const idle = percentile(await inOpenLoop(subject, 50, 10_000, command), 0.99);
  const person = { user: discord.people.ben, channel: discord.channels.general };
  const texts = [
    "q".repeat(600),
    "quartz pavilion ".repeat(30),
    "1220",
    "e",
    "delta labs",
    `::${"v ".repeat(149)}`,
  ];
  let at = 0;
  // Twice as fast as a person can type.
  const typing = setInterval(() => {
    at += 1;
    const given = { party: texts[at % texts.length] ?? "" };
    discord.driver.complete(person, "/party show", "party", given).catch(() => {});
  }, 1_000 / 12);
  const flooded = percentile(await inOpenLoop(subject, 50, 10_000, command), 0.99);
  clearInterval(typing);
  row("`/price`, p99 while one person floods completion ÷ idle", ratio(flooded / idle), "≤ 2");
  await place.close();
}

console.log(
  `${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}, ${new Date().toISOString().slice(0, 10)}\n`,
);
console.log("| what | measured | aim |\n| --- | --- | --- |");
await buildBare();
if (wanted("cpu") || wanted("time")) await againstBare(["/network", "/validator list"]);
for (const [section, run] of [
  ["start", startTimes],
  ["memory", memory],
  ["servers", servers],
  ["requests", requests],
  ["posted", posted],
  ["pace", pace],
  ["flood", flood],
  ["growth", growth],
  ["networks", () => networks(production, row)],
  ["watches", watches],
  ["large", large],
] as const) {
  if (!wanted(section)) continue;
  log(section);
  await run();
}
process.exit(0);
