import { setTimeout as delay } from "node:timers/promises";
import { DiscordError } from "./discord/errors.js";
import type { Interaction } from "./discord/interactions.js";
import type { Channel, Component, Message } from "./discord/world.js";
import { createRandom } from "./explorer/random.js";
import { makePlace } from "./place.js";
import { memoryOf } from "./process-memory.js";
import { redisInstalled, startRedis } from "./redis-process.js";

/**
 * Commands, clicks, polls and every fault of the sandbox, mixed at random from a printed seed: `npm run soak`, or
 * `npm run soak -- MINUTES SEED`. It ends with 0 only if nothing was refused by Discord, lost or doubled, nothing went
 * unanswered that could be answered, the bot never ended by itself, and its memory stayed flat: in the second half it is
 * not killed any more, so that one process shows it.
 */

const minutes = Number(process.argv[2] ?? 10);
const seed = Number(process.argv[3] ?? Math.floor(Math.random() * 1e9));
const random = createRandom(seed);
console.log(`Soaking for ${minutes} minutes with the seed ${seed}`);

const redis = redisInstalled() ? await startRedis() : undefined;
const place = await makePlace({
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
const others = Array.from({ length: 4 }, (_, at) =>
  world.addChannel({ type: 0, guild_id: guild.id, name: `told-${at}` }),
);
const crowd = Array.from({ length: 60 }, (_, at) => {
  const user = world.addUser(`Soaker ${at}`);
  guild.members.set(user.id, []);
  return user;
});

await place.start();
for (const channel of [forum, ...others]) {
  const given = { channel: channel.id, ...(channel === others[0] ? { thread: true, votes: true } : {}) };
  await driver.ask({ user: people.owner, channel: discord.channels.general }, "/subscribe governance", given);
}
const told: readonly Channel[] = [discord.channels.governance, ...others, forum];
const polls = () => explorer.requests.filter(({ path }) => path.endsWith("/vote-requests")).length;
await world.until(() => polls() > 8, "the baseline", 60_000);

/** What the bot was asked while nothing kept it from answering; the rest is asked all the same. */
const due: Interaction[] = [];
let calm = true;
let asked = 0;
const problems: string[] = [];
const memory: number[] = [];
/** What the processes before this one have printed. */
const outputs: string[] = [];
const counts = new Map<string, number>();
const count = (what: string) => counts.set(what, (counts.get(what) ?? 0) + 1);

const somebody = () => ({ user: random.pick(crowd), channel: discord.channels.general });
const keep = (interaction: Interaction) => {
  asked += 1;
  if (calm) due.push(interaction);
  if (due.length > 2_000) due.splice(0, 1_000).filter(isUnanswered).forEach(complain);
};
/** Not answered, or still said to be thinking. */
const isUnanswered = ({ answered, thinking }: Interaction) => answered === undefined || thinking;
const complain = ({ id, type }: Interaction) =>
  problems.push(`Interaction ${id} of type ${type} went unanswered`);

const COMMANDS: readonly (readonly [string, () => Record<string, string>])[] = [
  ["/price", () => ({ over: random.pick(["1d", "7d", "30d"]) })],
  ["/network", () => ({})],
  ["/help", () => ({})],
  ["/validator list", () => ({ status: random.pick(["ALL", "ACTIVE", "INACTIVE"]) })],
  ["/validator new", () => ({})],
  ["/validator versions", () => ({})],
  ["/validator show", () => ({ validator: random.pick(ledger.validators).party.id })],
  ["/party list", () => ({})],
  ["/party top", () => ({})],
  ["/party show", () => ({ party: random.pick(ledger.parties).id })],
  ["/party rewards", () => ({ party: random.pick(ledger.parties).id })],
  ["/proposals list", () => ({})],
  ["/proposals show", () => ({ proposal: random.pick(ledger.voteRequests).firstContractId })],
  ["/proposals votes", () => ({ proposal: random.pick(ledger.voteRequests).firstContractId })],
  ["/transfers", () => ({})],
  ["/contract list", () => ({})],
  ["/contract show", () => ({ contract: random.pick(ledger.contracts).contractId })],
  ["/event list", () => ({})],
  ["/event show", () => ({ event: random.pick(ledger.events).eventId })],
  ["/update list", () => ({})],
  ["/update show", () => ({ update: random.pick(ledger.updates).updateId })],
  ["/token show", () => ({ contract: random.pick(ledger.tokens).contractId })],
  ["/lookup", () => ({ id: random.pick(ledger.parties).id.slice(0, random.int(3, 90)) })],
];

function typeSomething(): void {
  const [command, given] = random.pick(COMMANDS);
  count("commands");
  keep(driver.type(somebody(), command, given()));
}

const clickable = (message: Message): Component[] =>
  driver
    .components(message)
    .filter(({ disabled, url, type }) => !disabled && !url && (type === 2 || type === 3));

function clickSomething(): void {
  const messages = (world.messages.get(discord.channels.general.id) ?? []).slice(-40);
  const message = messages.length > 0 ? random.pick(messages) : undefined;
  const components = message ? clickable(message) : [];
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

/** Each lasts a while, and then all is well again. */
const FAULTS: readonly (readonly [
  name: string,
  ms: number,
  begin: () => (() => void) | Promise<() => void>,
])[] = [
  ...(["html", "empty", "silence", "stall", "reset", "bomb", "huge"] as const).map(
    (kind) => [`explorer: ${kind}`, 3_000, () => strike({ kind })] as const,
  ),
  ["explorer: slow", 6_000, () => strike({ kind: "slow", ms: 2_500 })],
  ["explorer: 500", 6_000, () => strike({ kind: "status", status: 500 })],
  ["explorer: 429", 4_000, () => strike({ kind: "status", status: 429, retryAfter: "2" })],
  ["explorer: 401", 3_000, () => strike({ kind: "status", status: 401 })],
  ["explorer: redirect", 2_000, () => strike({ kind: "redirect", to: "https://elsewhere.example/" })],
  ["discord: posts lost", 2_000, () => trap("lost")],
  ["discord: posts cut off", 2_000, () => trap("reset")],
  ["discord: 500 for posts", 2_000, () => trap(new DiscordError(500, 0, "Internal Server Error"))],
  [
    "gateway: dropped",
    4_000,
    () => {
      gateway.drop();
      return () => {};
    },
  ],
  [
    "bot: killed",
    1_000,
    async () => {
      await place.bot().stop("SIGKILL");
      outputs.push(place.bot().output());
      memory.length = 0;
      await place.start();
      return () => {};
    },
  ],
  ...(redis
    ? ([
        [
          "redis: frozen",
          3_000,
          () => {
            redis.freeze();
            return () => redis.thaw();
          },
        ],
        [
          "redis: killed",
          1_500,
          async () => {
            await redis.kill();
            return () => void redis.start();
          },
        ],
      ] as const)
    : []),
];

function strike(fault: Parameters<typeof explorer.strike>[0]): () => void {
  explorer.strike(fault);
  return () => explorer.heal();
}

function trap(error: DiscordError | "lost" | "reset"): () => void {
  const one = { method: "POST", path: /^\/channels\/\d+\/messages$/, error, times: 3 };
  discord.trap(one);
  return () => {
    one.times = 0;
  };
}

/** Titles of those that were opened; each is to be told once in each channel. */
const opened: string[] = [];
const saysNew = (message: Message, title: string) => {
  const text = JSON.stringify(message.embeds);
  return text.includes(`${title}"`) && /(New v|V)ote request: /.test(text)
    ? true
    : /opened while/i.test(text) && text.includes(title);
};
/** A channel's messages and those of its threads; a forum has nothing but threads. */
const messagesIn = (channel: Channel): Message[] =>
  [channel, ...[...world.channels.values()].filter(({ parent_id }) => parent_id === channel.id)].flatMap(
    ({ id }) => world.messages.get(id) ?? [],
  );
const timesTold = (channel: Channel, title: string) =>
  messagesIn(channel).filter((message) => saysNew(message, title)).length;
const timesClosed = (channel: Channel, title: string) =>
  messagesIn(channel).filter(({ embeds }) => JSON.stringify(embeds).includes(`"Closed: ${title}"`)).length;
/** What is said of the votes on a request, where each is told. */
const votesOn = (title: string): string[] =>
  messagesIn(others[0] ?? forum)
    .map(({ embeds }) => JSON.stringify(embeds))
    .filter((text) => text.includes(`"Vote on ${title}"`))
    .map((text) => /\*\*[^*]+\*\* votes/.exec(text)?.[0] ?? text);

function moveLedger(): void {
  const open = ledger.voteRequests.filter(
    ({ status, title }) => status === "In Progress" && opened.includes(title),
  );
  const choice = random.next();
  if (choice < 0.3 || open.length === 0) {
    const title = `Soak ${opened.length}x${random.hex(6)}`;
    opened.push(title);
    ledger.openVoteRequest({ title, lastsMs: 5 * 86_400_000 });
    count("vote requests opened");
  } else if (choice < 0.85) ledger.castVote(random.pick(open), random.chance(0.8));
  else {
    const request = random.pick(open);
    if (told.every((channel) => timesTold(channel, request.title) === 1))
      ledger.closeVoteRequest(request, "Accepted");
  }
}

const endsAt = Date.now() + minutes * 60_000;
const lastKillAt = endsAt - minutes * 30_000;
const load = setInterval(() => {
  typeSomething();
  if (random.chance(0.6)) clickSomething();
}, 60);
const ledgerMoves = setInterval(moveLedger, 4_000);
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
    Date.now() < lastKillAt ? FAULTS : FAULTS.filter(([each]) => !each.startsWith("bot")),
  );
  count(name);
  const restarts = name.startsWith("bot") || name.startsWith("gateway");
  if (restarts) {
    calm = false;
    // What is on its way when the bot is killed, or cut off, is lost with it.
    const settled = due.filter((each) => !isUnanswered(each));
    due.splice(0, due.length, ...settled);
  }
  lookAtExit();
  const end = await begin();
  await delay(ms);
  end();
  if (restarts)
    await world.until(
      () => [...gateway.sessions.values()].some(({ socket }) => socket),
      "the gateway",
      60_000,
    );
  calm = true;
  lookAtExit();
}
clearInterval(load);
clearInterval(ledgerMoves);
console.log("Healing; everything that is due is to be told");
const closed = () =>
  ledger.voteRequests
    .filter(({ title, status }) => opened.includes(title) && status !== "In Progress")
    .map(({ title }) => title);
/** What is told a wrong number of times: each opening and each outcome once in every channel, each vote once in one. */
const wrong = (): string[] =>
  [
    ...opened.flatMap((title) =>
      told.map((channel) => [`"${title}" in #${channel.name}`, timesTold(channel, title)] as const),
    ),
    ...closed().flatMap((title) =>
      told.map(
        (channel) => [`The end of "${title}" in #${channel.name}`, timesClosed(channel, title)] as const,
      ),
    ),
    ...ledger.voteRequests
      .filter(({ title }) => opened.includes(title))
      .flatMap(({ title, ballots, requester }) =>
        ballots
          // The requester's own Yes comes with the request.
          .filter(({ voter }) => voter !== requester)
          .map(({ voter: { name, id } }) => {
            const own = votesOn(title).filter((text) => text.includes(`**${name ?? id}**`));
            return [`The vote of ${name ?? id} on "${title}"`, own.length] as const;
          }),
      ),
  ].flatMap(([what, times]) => (times === 1 ? [] : [`${what} was told ${times} times`]));
await world.until(() => wrong().length === 0, "the announcements", 180_000).catch(() => {});
await delay(4_000);
clearInterval(watching);

problems.push(...wrong().slice(0, 20));
due.filter(isUnanswered).forEach(complain);
lookAtExit();
if (limits.refused > 0) problems.push(`${limits.refused} requests were refused by Discord's limits`);
// A 500 is the sandbox's own doing.
for (const refusal of world.refusals.filter(({ status }) => status < 500))
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
  `${asked} interactions; ${opened.length} vote requests, ${closed().length} outcomes and their votes in ${told.length} channels; memory ${second.toFixed(0)} → ${last.toFixed(0)} MB`,
);
await place.close();
await redis?.close();
console.log(
  problems.length === 0
    ? "Nothing refused, lost, doubled or unanswered."
    : `\n${problems.join("\n")}\nSeed ${seed}`,
);
process.exit(problems.length === 0 ? 0 : 1);
