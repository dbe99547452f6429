import { listScheduledEvents } from "../sandbox/discord/scheduled-events.js";
import type { World } from "../sandbox/discord/world.js";
import { upgradeMotion, upgradeSetting } from "../sandbox/explorer/actions.js";
import type { VoteRequest } from "../sandbox/explorer/model.js";
import { createRandom, type Random } from "../sandbox/explorer/random.js";
import { StateError } from "../src/storage/store.js";
import { PersonError } from "../src/util/person-error.js";
import { DAY, HOUR, MINUTE } from "../src/util/units.js";
import type { VirtualClock } from "./clock.js";
import { createCommunity } from "./community.js";
import type { SimulatedExplorer } from "./explorer.js";
import type { Front, Presser } from "./front.js";
import type { History, Look } from "./history/index.js";
import type { Motion } from "./history/motions.js";
import type { OddMotion } from "./history/odd-motions.js";
import { createModerators } from "./moderators.js";
import type { Answer, Ballot, CalendarPage, Case, Cast, HoldPage, Succession } from "./oracle/evidence.js";
import type { MemoryStore } from "./store.js";
import { createVisits } from "./visits.js";

/** Time after which the person watches a new vote request, in ms. */
const WATCHED_AFTER = 10 * MINUTE;
/** Interval at which the messages about an explorer that is behind are checked, in ms. */
const HOLD_MS = 10 * MINUTE;
/** Interval at which the server's calendar is checked, in ms. */
const CALENDAR_MS = 90 * MINUTE;

interface NetworkDeps {
  readonly clock: VirtualClock;
  readonly history: History;
  readonly explorer: SimulatedExplorer;
  readonly discord: World;
  readonly store: MemoryStore;
  readonly random: Random;
  /** Prefix of the network's collections. */
  readonly prefix: string;
  /** The network's name, for bots with several networks. */
  readonly label: string | undefined;
  /** Returns its buttons and screens, `undefined` if no process is running. */
  readonly front: () => Front | undefined;
}

/** Returns the action that sets the network's upgrade, or removes one. */
const upgradeAction = (upgradeAt: number | null, removedAt: number): unknown =>
  upgradeAt === null
    ? upgradeMotion(upgradeSetting(removedAt), {}).actionConfig
    : upgradeMotion({}, upgradeSetting(upgradeAt)).actionConfig;

/** Plays a network's ledger and community through a history, and collects the evidence for the judges. */
export async function playNetwork(deps: NetworkDeps): Promise<Omit<Case, "messages" | "down">> {
  const { clock, history, explorer, discord, store, random, prefix, label } = deps;
  const { ledger } = explorer;
  const { startAt, endAt } = history;
  const community = createCommunity(discord, ledger, random, history);
  const scoped = <Write extends { readonly collection: string }>(write: Write): Write => ({
    ...write,
    collection: `${prefix}${write.collection}`,
  });
  await store.commit(community.writes.map(scoped));
  const at = (moment: number, happens: () => void) => clock.after(moment - startAt, happens);

  const ballots: Ballot[] = [];
  const casts: Cast[] = [];
  const noteBallot = (title: string, ballot: VoteRequest["ballots"][number] | undefined, isOwn: boolean) => {
    if (ballot && ballot.accept !== null) casts.push({ at: clock.now, title, accept: ballot.accept });
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
    isStuck,
    upgradeAt,
    listedAt,
    goneAt,
    ...each
  }: Motion & Partial<Pick<OddMotion, "listedAt" | "goneAt">>) => {
    let request: VoteRequest | undefined;
    /** Removes it from what the explorer lists, or adds it again in its place. */
    const list = (isListed: boolean) => {
      const all = ledger.voteRequests;
      if (!request) return;
      const place = all.findIndex(({ createdAt }) => createdAt <= each.at);
      if (isListed) all.splice(place < 0 ? all.length : place, 0, request);
      else all.splice(all.indexOf(request), 1);
    };
    at(each.at, () => {
      const effectiveInMs = effectiveAt === null ? null : effectiveAt - each.at;
      const opened = ledger.openVoteRequest({
        title,
        motion: "feature",
        ...(upgradeAt === undefined
          ? {}
          : { actionConfig: upgradeAction(upgradeAt, effectiveAt ?? voteBefore) }),
        lastsMs: voteBefore - each.at,
        effectiveInMs,
      });
      opened.isStuck = isStuck;
      request = opened;
      noteBallot(title, opened.ballots[0], true);
      if (listedAt !== undefined && listedAt > each.at) list(false);
    });
    if (listedAt !== undefined && listedAt > each.at) at(listedAt, () => list(true));
    if (goneAt != null) at(goneAt, () => list(false));
    for (const vote of votes)
      at(vote.at, () => {
        const voter = vote.isChange ? request?.ballots.at(-1)?.voter : undefined;
        if (vote.isChange) casts.push({ at: clock.now, title, accept: !vote.accept, isUndone: true });
        if (request) noteBallot(title, ledger.castVote(request, vote.accept, voter), false);
        ledger.move();
      });
    at(closesAt, () => {
      if (request && status !== null) ledger.closeVoteRequest(request, status);
      ledger.move();
    });
    if (isWatched && each.at + WATCHED_AFTER < closesAt)
      at(each.at + WATCHED_AFTER, () => {
        const identity = request?.firstContractId;
        if (identity) void store.commit([scoped(community.watchProposal(identity, title, clock.now))]);
      });
  };
  for (const each of new Set([...history.motions, ...history.oddMotions])) motion(each);
  for (const { at: moment, name } of history.joinings) at(moment, () => ledger.joinValidator(name));

  const superValidators = ledger.superValidators.map(({ name }) => name ?? "");
  const successions: Succession[] = [];
  if (history.successionAt !== null)
    at(history.successionAt, () => successions.push({ at: clock.now, ...explorer.succeed() }));

  const answers: Answer[] = [];
  const wrong: string[] = [];
  /** Returns an open alert that a person may respond to, and the buttons of its message. */
  const alertAt = (source: Random, isMine: (channelId: string) => boolean = () => true) => {
    const front = deps.front();
    const open = store
      .read(`${prefix}alerts`)
      .filter(
        ({ kind, endedAt, channelId }) =>
          kind === "silent" && endedAt === undefined && isMine(String(channelId)),
      );
    if (!front || open.length === 0) return undefined;
    const alert = source.pick(open);
    const [channelId, id, since] = [String(alert.channelId), String(alert.validator), Number(alert.since)];
    const name = ledger.validators.find(({ party }) => party.id === id)?.party.name ?? "";
    const to = { id, since, on: "card" };
    const press = (answer: Look["says"], by: Presser) =>
      answer === "acknowledge"
        ? front.press("ack", to, by)
        : front.press("snooze", { ...to, for: answer }, by);
    const said = { at: clock.now, channelId, validator: Number(name.slice(5)), since, isSure: false };
    return { channelId, subject: String(alert.subject), said, press };
  };
  /** Notes an error that no person should see. An alert may be over, and the store of a killed process is closed. */
  const refused = (error: unknown) => {
    if (!(error instanceof PersonError || error instanceof StateError))
      wrong.push(`A response failed at ${new Date(clock.now).toISOString()}: ${error}`);
  };
  /** Presses a button of an open alert, if a process is running. */
  const look = ({ says }: Look) => {
    const alert = alertAt(random);
    if (!alert) return;
    const { channelId, press } = alert;
    const said = { ...alert.said, says };
    answers.push(said);
    const userId = channelId === community.directId ? community.personId : community.ownerId;
    press(says, { userId, channelId }).then(() => {
      said.isSure = true;
    }, refused);
  };
  for (const each of history.looks) at(each.at, () => look(each));
  /** Two people press different buttons of an alert at the same moment. What both are told must be kept. */
  const lookTogether = () => {
    // A separate random source, so that the rest of a seed's history stays the same.
    const separate = createRandom(clock.now);
    const alert = alertAt(separate, (channelId) => channelId !== community.directId);
    if (!alert) return;
    const { channelId, subject, said, press } = alert;
    answers.push({ ...said, says: "acknowledge" }, { ...said, says: "8h" });
    const [first, second] = [community.ownerId, community.moderatorId];
    const [taker, snoozer] = separate.chance(0.5) ? [first, second] : [second, first];
    const by = (userId: string) => ({ userId, channelId });
    const presses = [() => press("acknowledge", by(taker)), () => press("8h", by(snoozer))];
    Promise.all((separate.chance(0.5) ? presses : presses.toReversed()).map((begin) => begin())).then(
      async () => {
        const kept = await store.get(`${prefix}responses`, `${channelId}/${subject}`);
        // The first to take an alert has it.
        if (!kept?.includes('"acknowledged":') || !kept.includes(`"snoozed":{"by":"${snoozer}"`))
          wrong.push(`Not kept what two people were told at ${new Date(said.at).toISOString()}: ${kept}`);
      },
      refused,
    );
  };
  for (const each of history.togetherAt) at(each, lookTogether);
  const moderate = createModerators({
    clock,
    ledger,
    community,
    store,
    prefix,
    front: deps.front,
    onWrong: (line) => wrong.push(line),
  });
  for (const each of history.dialogs) at(each.at, () => void moderate(each));
  const holds: HoldPage[] = [];
  const held = [...new Set(community.validators.map(({ channelId }) => channelId))];
  for (const { from, to } of history.lags)
    for (let moment = from; moment < to; moment += HOLD_MS)
      at(moment, () => {
        for (const channelId of held)
          for (const { content, embeds } of discord.messages.get(channelId) ?? [])
            if (content.includes("newest data is"))
              holds.push({ at: clock.now, channelId, text: JSON.stringify(embeds) });
      });
  const calendar: CalendarPage[] = [];
  for (let moment = startAt + DAY; moment < endAt; moment += CALENDAR_MS)
    at(moment, () => {
      const guild = discord.guilds.get(community.guildId);
      const events = guild ? listScheduledEvents(discord, guild) : [];
      calendar.push({ at: clock.now, names: events.map(({ name }) => name) });
    });

  const { visit, visits } = createVisits({ clock, ledger, history, community, random, front: deps.front });
  for (let moment = startAt + HOUR / 2; moment < endAt; moment += random.int(20 * MINUTE, 3 * HOUR))
    at(moment, () => void visit());
  return {
    history,
    community,
    answers,
    ballots,
    casts,
    calendar,
    visits,
    wrong,
    label,
    superValidators,
    successions,
    holds,
  };
}
