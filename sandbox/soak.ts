import { setTimeout as delay } from "node:timers/promises";
import type { Interaction } from "./discord/interactions.js";
import { createRandom } from "./explorer/random.js";
import { memoryOf } from "./process-memory.js";
import { readingCommands } from "./reading-commands.js";
import { startRedisPair } from "./redis-pair.js";
import { redisInstalled } from "./redis-process.js";
import { createVoteRequests } from "./soak/announcement-audit.js";
import { faultsOf } from "./soak/faults.js";
import { makeStack } from "./stack.js";

/**
 * Mixes commands, clicks, polls and every fault of the sandbox at random: `npm run soak`, or `npm run soak --
 * MINUTES SEED`. It prints its seed. The exit code is 0 only if Discord refused nothing, no message was lost
 * or duplicated, everything was answered if possible, the bot never ended by itself, and its memory stayed
 * flat. In the second half the bot is not killed, so that the memory of one process can be measured.
 */

/** Time after the last failover in which vote requests open, in ms. */
const AFTER_FAILOVER_MS = 20_000;

const minutes = Number(process.argv[2] ?? 10);
const seed = Number(process.argv[3] ?? Math.floor(Math.random() * 1e9));
const random = createRandom(seed);
console.log(`Soaking for ${minutes} minutes with the seed ${seed}`);

const redis = redisInstalled() ? await startRedisPair() : undefined;
const place = await makeStack({
  explorer: { size: { validators: 300, parties: 800, updates: 300, voteRequests: 330 } },
  env: ({ channels }) => ({
    ...(redis ? { REDIS_URL: redis.url } : {}),
    GOVERNANCE_CHANNEL_ID: channels.governance.id,
    GOVERNANCE_POLL_SECONDS: "1",
    EXPLORER_REQUESTS_PER_MINUTE: "3000",
  }),
});
const { explorer, discord } = place;
const { world, driver, guild, people, limits, gateway } = discord;
const { ledger } = explorer;

const forum = world.addChannel({ type: 15, guild_id: guild.id, name: "forum" });
const addText = (name: string) => world.addChannel({ type: 0, guild_id: guild.id, name });
const withVotes = addText("with-votes");
const others = ["one", "two", "three"].map(addText);
const crowd = Array.from({ length: 60 }, (_, at) => {
  const user = world.addUser(`Soaker ${at}`);
  guild.members.set(user.id, []);
  return user;
});

await place.start();
for (const channel of [forum, withVotes, ...others]) {
  const given = { channel: channel.id, ...(channel === withVotes ? { thread: true, votes: true } : {}) };
  await driver.ask({ user: people.owner, channel: discord.channels.general }, "/subscribe governance", given);
}
const audited = [discord.channels.governance, withVotes, ...others, forum];
const polls = () => explorer.requests.filter(({ path }) => path.endsWith("/vote-requests")).length;
await world.until(() => polls() > 8, "the baseline");

/** Interactions sent while no fault kept the bot from answering. Others are sent too, but not checked. */
const due: Interaction[] = [];
let calm = true;
let sent = 0;
const problems: string[] = [];
const memory: number[] = [];
/** Output of earlier processes. */
const outputs: string[] = [];
const counts = new Map<string, number>();
const count = (what: string) => counts.set(what, (counts.get(what) ?? 0) + 1);

const somebody = () => ({ user: random.pick(crowd), channel: discord.channels.general });
const keep = (interaction: Interaction) => {
  sent += 1;
  if (calm) due.push(interaction);
  if (due.length > 2_000) due.splice(0, 1_000).filter(isUnanswered).forEach(complain);
};
/** True if an interaction has no answer, or still shows "thinking". */
const isUnanswered = ({ answered, thinking }: Interaction) => answered === undefined || thinking;
const complain = ({ id, type }: Interaction) =>
  problems.push(`Interaction ${id} of type ${type} went unanswered`);

const COMMANDS = readingCommands(ledger, random);

function typeSomething(): void {
  const [command, given] = random.pick(COMMANDS);
  count("commands");
  keep(driver.type(somebody(), command, given()));
}

function clickSomething(): void {
  const messages = (world.messages.get(discord.channels.general.id) ?? []).slice(-40);
  const message = messages.length > 0 ? random.pick(messages) : undefined;
  const components = message ? driver.clickable(message) : [];
  if (!message || components.length === 0) return;
  const component = random.pick(components);
  const who = {
    ...somebody(),
    ...(message.visibleTo ? { user: world.users.get(message.visibleTo) ?? people.ana } : {}),
  };
  count("clicks");
  if (component.type === 3)
    keep(
      driver.pick(who, message, component.custom_id ?? "", random.pick(component.options ?? [])?.value ?? ""),
    );
  else keep(driver.press(who, message, component.custom_id ?? ""));
}

const faults = faultsOf(place, redis, () => {
  outputs.push(place.bot().output());
  memory.length = 0;
});
const requests = createVoteRequests({ ledger, world, random, channels: audited, votesIn: withVotes });

const endsAt = Date.now() + minutes * 60_000;
const lastKillAt = endsAt - minutes * 30_000;
const load = setInterval(() => {
  typeSomething();
  if (random.chance(0.6)) clickSomething();
}, 60);
const ledgerMoves = setInterval(requests.move, 4_000);
const watching = setInterval(() => {
  memory.push(memoryOf(place.bot().child.pid ?? 0));
  const general = world.messages.get(discord.channels.general.id);
  if (general && general.length > 300) general.splice(0, general.length - 200);
  world.files.clear();
}, 5_000);

function lookAtExit(): void {
  const { exitCode, signalCode } = place.bot().child;
  if (exitCode !== null || signalCode !== null)
    problems.push(`The bot ended by itself (${exitCode ?? signalCode})`);
}

while (Date.now() < endsAt && problems.length === 0) {
  await delay(random.int(1_000, 5_000));
  const [name, ms, begin] = random.pick(
    Date.now() < lastKillAt ? faults : faults.filter(([each]) => !each.startsWith("bot")),
  );
  count(name);
  const restarts = name.startsWith("bot") || name.startsWith("gateway");
  if (restarts) {
    calm = false;
    // Interactions in transit are lost when the bot is killed or disconnected.
    const settled = due.filter((each) => !isUnanswered(each));
    due.splice(0, due.length, ...settled);
  }
  lookAtExit();
  const end = await begin();
  await delay(ms);
  end();
  if (restarts)
    await world.until(() => [...gateway.sessions.values()].some(({ socket }) => socket), "the gateway");
  calm = true;
  lookAtExit();
}
// A failover comes last, because a later one, or a restart, would help a bot that stays connected to the replica.
if (redis) {
  await redis.failOver();
  count("redis: fails over");
  await delay(AFTER_FAILOVER_MS);
}
clearInterval(load);
clearInterval(ledgerMoves);
console.log("Faults cleared; everything that is due is to be announced");
await world.until(() => requests.wrong().length === 0, "the announcements", 180_000).catch(() => {});
await delay(4_000);
clearInterval(watching);

problems.push(...requests.wrong().slice(0, 20));
due.filter(isUnanswered).forEach(complain);
lookAtExit();
if (limits.refused > 0) problems.push(`${limits.refused} requests were refused by Discord's limits`);
/** Discord's codes for a thread that exists or is archived already: after a lost answer or a failed write, the bot asks again. */
const ASKED_AGAIN = [160_004, 50_083];
const isRepeated = (body: object) => "code" in body && ASKED_AGAIN.some((code) => code === body.code);
// A 500 is an error of the sandbox.
for (const refusal of world.refusals.filter(({ status, body }) => status < 500 && !isRepeated(body)))
  problems.push(`Discord refused: ${JSON.stringify(refusal).slice(0, 300)}`);
outputs.push(place.bot().output());
const said = new Map<string, number>();
for (const [, level, message] of outputs.join("\n").matchAll(/"level":"(warn|error)".*"msg":"([^"]+)/g))
  said.set(`${level}: ${message}`, (said.get(`${level}: ${message}`) ?? 0) + 1);
for (const [line, times] of said) console.log(`${line} (${times})`);
const errors = outputs
  .flatMap((output) => output.split("\n"))
  .filter((line) => /Unexpected error|[Uu]nhandled/.test(line));
problems.push(...errors.slice(0, 5));
const third = Math.floor(memory.length / 3);
const middle = (from: number) =>
  memory.slice(from, from + third).toSorted((a, b) => a - b)[Math.floor(third / 2)] ?? 0;
const [second, last] = [middle(third), middle(2 * third)];
if (minutes >= 10 && last > second * 1.15)
  problems.push(`Memory grew from ${second.toFixed(0)} to ${last.toFixed(0)} MB`);

for (const [what, times] of [...counts].toSorted()) console.log(`${what}: ${times}`);
console.log(
  `${sent} interactions; ${requests.opened()} vote requests, ${requests.closed()} outcomes and their votes in ${audited.length} channels; memory ${second.toFixed(0)} → ${last.toFixed(0)} MB`,
);
await place.close();
await redis?.close();
console.log(
  problems.length === 0
    ? "Nothing refused, lost, doubled or unanswered."
    : `\n${problems.join("\n")}\nSeed ${seed}`,
);
process.exit(problems.length === 0 ? 0 : 1);
