import { isDeepStrictEqual } from "node:util";
import { progress } from "../../delivery/collections.js";
import type { FeedDeps, PollSteps, Subscribers } from "../../delivery/module.js";
import { ifAnswered } from "../../explorer/errors.js";
import type { Explorer } from "../../explorer/service.js";
import { toAction, toTag } from "../../ledger/actions.js";
import { readRounds } from "../../ledger/rounds.js";
import {
  type UpgradeChange,
  type UpgradeDecision,
  type UpgradeVote,
  upgradeDecision,
} from "../../ledger/upgrades.js";
import { actionIn, readDetail } from "../../ledger/vote-requests.js";
import { readableDate, statusGroup } from "../../ledger/vote-rules.js";
import { ageOf, believed, isClockSet } from "../../util/clock.js";
import { defined, present } from "../../util/present.js";
import { DAY, HOUR, MINUTE } from "../../util/units.js";
import { type TrackedVoteRequest, trackedVoteRequests } from "../governance/collections.js";
import { isInDoubt, sawEnd } from "../governance/tracking.js";
import { PROGRESS as GOVERNANCE } from "../governance/watch.js";
import { EXAMINED, openIn, standstills, UPGRADES_FEED, type Upgrade, upgrades } from "./collections.js";
import { judgeStandstill, judgeUpgrade, NOTHING_NEW } from "./decide.js";
import type { UpgradeEvent } from "./events.js";

/** Time after its end at which an upgrade or a standstill is forgotten, in ms. */
const KEPT_MS = 30 * DAY;

/** Maximum number of details that a poll reads. */
const MAX_DETAILS = 5;
/** Time after which a detail without an action is read again, in ms. */
const REREAD_MS = HOUR;
/** Time after which a detail is read again if the explorer did not answer, in ms. Until then, others have their turn. */
const RETRY_MS = 2 * MINUTE;

const oldOf = (documents: ReadonlyMap<string, { readonly endedAt?: number }>, now: number): string[] =>
  [...documents].flatMap(([subject, { endedAt }]) =>
    endedAt !== undefined && endedAt < now - KEPT_MS ? [subject] : [],
  );

/** A vote request that is open or accepted. */
interface Candidate {
  readonly id: string;
  readonly title: string | null;
  readonly openedAt: number | null | undefined;
  /** When it took or takes effect, epoch ms. Missing while it is open. */
  readonly acceptedFor?: number;
}

/** Longest wait after the start until the vote requests are read, in ms. A reminder of what was last known is better than none. */
const PATIENCE_MS = 15 * MINUTE;

/** Age of the last reading of the vote requests after which messages say so, in ms. */
export const UNREAD_VOTES_MS = HOUR;
/** Time for which the bot must have noticed that before a reminder says so, in ms. */
const NOTICED_MS = 5 * MINUTE;

const isAccepted = (status: string | null) => ["accepted", "implemented"].includes(statusGroup(status));

/** Returns the tracked vote requests that are open or accepted. They are stored, unlike what names are made from. */
const candidatesIn = (tracked: Iterable<TrackedVoteRequest>): Candidate[] =>
  [...tracked].flatMap((each) => {
    const { identity, phase, status, terms, openedAt, openUntil, closedAt } = each;
    const { title } = terms;
    if (phase === "open") return [{ id: identity, title, openedAt }];
    if (!isAccepted(status)) return [];
    // If the request had ended before the bot was started, its end is unknown, and its other dates are the best guess.
    const latest = Math.min(terms.voteBefore ?? Infinity, closedAt ?? Infinity);
    const endedAt = sawEnd(each) ? (openUntil ?? closedAt) : openedAt;
    const acceptedFor = readableDate(terms.targetEffectiveAt) ?? endedAt ?? latest;
    return Number.isFinite(acceptedFor) ? [{ id: identity, title, openedAt, acceptedFor }] : [];
  });

/**
 * Returns the changes of the schedule by the accepted vote requests, by their identity.
 * @param before the stored changes. Those by requests whose outcome is in doubt stay
 */
function changesBy(
  votes: readonly (Candidate & UpgradeVote)[],
  before: Upgrade["changes"],
  doubtful: readonly TrackedVoteRequest[],
): Record<string, UpgradeChange> {
  const keptDecisions = doubtful.map(({ identity }) => [identity, before?.[identity]] as const);
  const accepted = votes.flatMap(({ id, acceptedFor, upgradeChange }) =>
    acceptedFor === undefined ? [] : [[id, upgradeChange] as const],
  );
  return Object.fromEntries(
    [...keptDecisions, ...accepted].flatMap(([id, change]) => (change ? [[id, change] as const] : [])),
  );
}

interface UpgradesWatchDeps extends Pick<FeedDeps, "state" | "names" | "now"> {
  readonly explorer: Explorer;
}

/** True if an accepted vote request turned out to be open, or to have ended otherwise. A request of an unknown outcome did not. */
const isRevoked = ({ phase, status, endUnconfirmed }: TrackedVoteRequest): boolean =>
  phase === "open" || (!endUnconfirmed && !isAccepted(status) && statusGroup(status) !== "other");

/** True if the bot has seen a vote request end, or its outcome change, after that time. */
const hasEndedSince = (request: TrackedVoteRequest, at: number): boolean => {
  const { closedAt = 0, restatedAt = 0 } = request;
  return restatedAt > at || (sawEnd(request) && closedAt > at);
};

/** Creates the poll that compares the accepted schedule and the rounds with what was announced. */
export function createUpgradesWatch({ explorer, state, names, now }: UpgradesWatchDeps) {
  const readTimes = state.open(progress);
  /** When the details of vote requests may be read again, epoch ms. */
  const rereadAt = new Map<string, number>();

  /** True for a vote request whose details were not read, or did not contain its action. */
  const isUnknown = ({ id, title }: Candidate): boolean =>
    names.isUnexamined({ identity: id, title }) || (toTag(title) === null && names.actionOf(id) === "");

  /**
   * Reads the details of the newest vote requests, so that an upgrade is known as soon as it is accepted. The one that decided the
   * known schedule comes first, at each poll until it is read.
   */
  const examine = async (candidates: readonly Candidate[], decidedBy: string | undefined) => {
    const isDue = ({ id }: Candidate) =>
      id === decidedBy || now() >= believed(rereadAt.get(id) ?? 0, now(), REREAD_MS);
    const rank = ({ id, openedAt }: Candidate) =>
      id === decidedBy ? Number.POSITIVE_INFINITY : (openedAt ?? 0);
    const unexamined = candidates
      .filter((each) => isDue(each) && isUnknown(each))
      .toSorted((a, b) => rank(b) - rank(a));
    for (const { id } of unexamined.slice(0, MAX_DETAILS)) {
      rereadAt.set(id, now() + RETRY_MS);
      const answer = await ifAnswered(
        readDetail(explorer, { contractId: null, trackingCid: id }).then((detail) => ({ detail })),
      );
      if (answer) rereadAt.set(id, now() + REREAD_MS);
      if (answer) names.learn(id, answer.detail ? actionIn(answer.detail) : toAction(null));
    }
  };

  /**
   * Returns the last accepted decision. `undefined` if the known one is missing in the list, if its detail has not been read since the
   * start, or while an outcome is in doubt: the decision before it would look like a new one.
   */
  const decisionAfter = (
    open: Upgrade | undefined,
    tracked: readonly TrackedVoteRequest[],
    votes: readonly (Candidate & UpgradeVote)[],
  ): UpgradeDecision | undefined => {
    const isAboutIt = (id: string) => names.upgradeOf(id) ?? open?.changes?.[id];
    if (tracked.some((each) => isInDoubt(each, now()) && isAboutIt(each.identity))) return undefined;
    const lastDecision = upgradeDecision(votes, now());
    const known = tracked.find(({ identity }) => identity === open?.decidedBy);
    if (!open) return lastDecision;
    if (!known) return undefined;
    const isRead = names.upgradeOf(known.identity) !== undefined || open.changes?.[known.identity];
    if (!isRead) return undefined;
    if (isAccepted(known.status)) return lastDecision;
    if (!isRevoked(known)) return undefined;
    const revokedAt = known.reopenedAt ?? known.restatedAt ?? now();
    const remainingSchedule = lastDecision?.schedule;
    return {
      by: lastDecision?.by ?? known.identity,
      at: revokedAt,
      schedule: remainingSchedule && remainingSchedule.upgradeAt > revokedAt ? remainingSchedule : undefined,
    };
  };

  const startedAt = now();
  /** True if an upgrade may have been cancelled while no bot was running, because the vote requests have not been read since. */
  const isWaiting = (readAt: number | undefined): boolean =>
    readAt !== undefined && readAt < startedAt && ageOf(startedAt, now()) < PATIENCE_MS;

  /** Time since which the bot has known that the vote requests have not been read for long. After a sleep, they are about to be. */
  let unreadSince: number | undefined;
  /** Returns an event with the time when the vote requests were last read, if that was long ago. */
  const withReadAt = (event: UpgradeEvent, readAt: number | undefined): UpgradeEvent => {
    const isNoticed = unreadSince !== undefined && ageOf(unreadSince, now()) >= NOTICED_MS;
    return event.kind === "reminder" && isNoticed ? { ...event, ...defined({ readAt }) } : event;
  };

  return async function* (subscribers: Subscribers): PollSteps {
    const firstRead = await readTimes.get(UPGRADES_FEED);
    const [knownUpgrades, knownStandstills] = await Promise.all([
      state.open(upgrades).list(),
      state.open(standstills).list(),
    ]);
    if ((await subscribers.subscriptions()).length === 0) {
      const subjects = [...knownUpgrades.keys(), ...knownStandstills.keys()];
      if (firstRead || subjects.length > 0)
        yield { writes: [readTimes.delete(UPGRADES_FEED), readTimes.delete(EXAMINED)], ended: subjects };
      return "done";
    }
    const tracked = await state.open(trackedVoteRequests).list();
    const candidates = candidatesIn(tracked.values());
    const [openUpgrade] = openIn(knownUpgrades);
    await examine(candidates, openUpgrade?.[1].decidedBy);
    const isBaseline = firstRead === undefined;
    const votesRead = await readTimes.get(GOVERNANCE);
    const isUnread = votesRead !== undefined && ageOf(votesRead.completeAt, now()) >= UNREAD_VOTES_MS;
    unreadSince = isUnread ? (unreadSince ?? now()) : undefined;
    const wasExamined = (await readTimes.get(EXAMINED)) !== undefined;
    const votes = candidates.map((each) => ({
      ...each,
      upgradeChange: names.upgradeOf(each.id) ?? openUpgrade?.[1].changes?.[each.id] ?? null,
    }));
    const decision = decisionAfter(openUpgrade?.[1], [...tracked.values()], votes);
    // An upgrade that was accepted before the first reading is no news, however long it takes to read the details.
    const isNews = [...tracked.values()].some(
      (each) =>
        firstRead !== undefined &&
        [decision?.by, openUpgrade?.[1].decidedBy].includes(each.identity) &&
        (hasEndedSince(each, firstRead.completeAt) || isRevoked(each)),
    );
    const rounds = await readRounds(state, now());
    const schedule = isWaiting(votesRead?.completeAt)
      ? NOTHING_NEW
      : judgeUpgrade(knownUpgrades, {
          decision,
          rounds,
          isBaseline: !isNews,
          now: now(),
          isClockSet: isClockSet(startedAt, now()),
        });
    const standing = judgeStandstill(openIn(knownStandstills)[0], rounds, isBaseline);
    // The rounds after an upgrade are told once.
    const isTold = schedule.events.some(({ kind }) => kind === "advancing");
    const isSchedule = ({ kind }: UpgradeEvent) => ["scheduled", "moved", "cancelled"].includes(kind);
    const events = [
      ...schedule.events
        .filter((each) => isNews || !isSchedule(each))
        .map((each) => withReadAt(each, votesRead?.completeAt)),
      ...standing.events.filter(({ kind }) => !(isTold && kind === "moving")),
    ];
    const [[subject, upgrade] = []] = openIn(new Map([...knownUpgrades, ...schedule.changed]));
    const doubtful = [...tracked.values()].filter((each) => isInDoubt(each, now()));
    const changes = changesBy(votes, openUpgrade?.[1].changes, doubtful);
    const isChanged = upgrade !== undefined && !isDeepStrictEqual(upgrade.changes ?? {}, changes);
    const changed = new Map(schedule.changed);
    if (subject !== undefined && isChanged) changed.set(subject, { ...upgrade, changes });
    const isExamined =
      votesRead !== undefined &&
      candidates.every(
        ({ id, title, acceptedFor }) =>
          acceptedFor === undefined || !names.isUnexamined({ identity: id, title }),
      );
    const ended = [...oldOf(knownUpgrades, now()), ...oldOf(knownStandstills, now())];
    const writes = present([
      ...[...changed].map(([id, each]) => state.open(upgrades).put(id, each)),
      ...[...standing.changed].map(([id, each]) => state.open(standstills).put(id, each)),
      isBaseline && readTimes.put(UPGRADES_FEED, { completeAt: now() }),
      isExamined && !wasExamined && readTimes.put(EXAMINED, { completeAt: now() }),
    ]);
    if (writes.length + ended.length > 0)
      yield { events, writes, changed: [...schedule.changed.keys(), ...standing.changed.keys()], ended };
    return "done";
  };
}
