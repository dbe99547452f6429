import { createHash } from "node:crypto";
import { listScheduledEvents } from "../sandbox/discord/scheduled-events.js";
import type { Message } from "../sandbox/discord/world.js";
import type { VoteRequest } from "../sandbox/explorer/model.js";
import { createRandom } from "../sandbox/explorer/random.js";
import type { Click } from "../src/discord/clicks.js";
import { DAY, MINUTE } from "../src/util/units.js";
import type { VirtualClock } from "./clock.js";
import { createCommunity } from "./community.js";
import { createHistory, type Look } from "./history/index.js";
import type { Motion } from "./history/motions.js";
import { startLives } from "./lives.js";
import type { Answer, Ballot, CalendarPage } from "./oracle/evidence.js";
import { judge } from "./oracle/index.js";
import { MemoryStore } from "./store.js";
import { Surroundings } from "./world.js";

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
  readonly answers: number;
  /** The messages that hold a text, each in a line. */
  find(text: string): readonly string[];
}

/** How long after a vote request has opened the person watches it, in ms. */
const WATCHED_AFTER = 10 * MINUTE;

const isOfFinishedEvent = (body: object): boolean => "code" in body && body.code === 180_000;

/** How often somebody looks at the server's calendar, in ms. */
const CALENDAR_MS = 90 * MINUTE;

/** Lets the whole background of the bot live through a history that a seed draws, and judges what was told. */
export async function simulate(clock: VirtualClock, seed: number, days: number): Promise<Simulated> {
  const history = createHistory(seed, days);
  const { startAt, endAt } = history;
  clock.now = startAt;
  const random = createRandom(seed + 77);
  Math.random = () => random.next();
  const surroundings = new Surroundings(clock, history, seed);
  const store = new MemoryStore();
  const { discord, ledger } = surroundings;
  const wrong: string[] = [];
  const onFault = (line: string) => {
    if (wrong.length < 50) wrong.push(`Logged at ${new Date(clock.now).toISOString()}: ${line}`);
  };
  const community = createCommunity(discord, ledger, random, startAt);
  await store.commit(community.writes);
  const at = (moment: number, happens: () => void) => clock.after(moment - startAt, happens);

  const ballots: Ballot[] = [];
  const noteBallot = (title: string, ballot: VoteRequest["ballots"][number] | undefined, isOwn: boolean) => {
    if (ballot?.voter.name && ballot.accept !== null)
      ballots.push({ at: clock.now, title, voter: ballot.voter.name, accept: ballot.accept, isOwn });
  };
  const motion = ({
    title,
    voteBefore,
    effectiveAt,
    votes,
    closesAt,
    status,
    isWatched,
    ...each
  }: Motion) => {
    const find = () => ledger.voteRequests.find((request) => request.title === title);
    at(each.at, () => {
      const effectiveInMs = effectiveAt === null ? null : effectiveAt - each.at;
      const opened = ledger.openVoteRequest({
        title,
        motion: "feature",
        lastsMs: voteBefore - each.at,
        effectiveInMs,
      });
      noteBallot(title, opened.ballots[0], true);
    });
    for (const vote of votes)
      at(vote.at, () => {
        const request = find();
        if (request) noteBallot(title, ledger.castVote(request, vote.accept), false);
        ledger.move();
      });
    at(closesAt, () => {
      const request = find();
      if (request && status !== null) ledger.closeVoteRequest(request, status);
      ledger.move();
    });
    if (isWatched && each.at + WATCHED_AFTER < closesAt)
      at(each.at + WATCHED_AFTER, () => {
        const request = find();
        const identity = request?.firstContractId;
        if (identity) void store.commit([community.watchProposal(identity, title, clock.now)]);
      });
  };
  for (const each of history.motions) motion(each);
  for (const { at: moment, name } of history.joinings) at(moment, () => ledger.joinValidator(name));

  const lives = startLives({ clock, history, surroundings, store, onFault });
  const answers: Answer[] = [];
  /** Somebody presses a button of an alert that is open, where a process is there to answer. */
  const look = ({ says }: Look) => {
    const buttons = lives.buttons();
    const open = store
      .read("alerts")
      .filter(({ kind, endedAt }) => kind === "silent" && endedAt === undefined);
    if (!buttons || open.length === 0) return;
    const alert = random.pick(open);
    const [channelId, id, since] = [String(alert.channelId), String(alert.validator), Number(alert.since)];
    const name = ledger.validators.find(({ party }) => party.id === id)?.party.name ?? "";
    const said = { at: clock.now, channelId, validator: Number(name.slice(5)), since, says, isSure: false };
    answers.push(said);
    const userId = channelId === community.directId ? community.personId : community.ownerId;
    // As much of a click as a button of an alert looks at.
    const click = {
      channelId,
      user: { id: userId },
      member: null,
      memberPermissions: { has: () => true },
    } as unknown as Click;
    const to = { id, since, on: "card" as const };
    const pressed =
      says === "acknowledge" ? buttons.acknowledge(to, click) : buttons.snooze({ ...to, for: says }, click);
    pressed.then(
      () => {
        said.isSure = true;
      },
      () => {},
    );
  };
  for (const each of history.looks) at(each.at, () => look(each));
  const calendar: CalendarPage[] = [];
  for (let moment = startAt + DAY; moment < endAt; moment += CALENDAR_MS)
    at(moment, () => {
      const guild = discord.guilds.get(community.guildId);
      const events = guild ? listScheduledEvents(discord, guild) : [];
      calendar.push({ at: clock.now, names: events.map(({ name }) => name) });
    });

  await clock.run(endAt);
  lives.end();

  const messages: ReadonlyMap<string, readonly Message[]> = discord.messages;
  wrong.push(...judge({ history, community, answers, ballots, calendar, messages, down: lives.down }));
  // A bot whose clock is behind cannot know that an event has ended by itself.
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
    answers: answers.filter(({ isSure }) => isSure).length,
    find: (text) =>
      texts.flatMap(([id, own]) =>
        own.map((message) => `${id} ${JSON.stringify(message)}`).filter((line) => line.includes(text)),
      ),
  };
}
