import { progress } from "../../delivery/collections.js";
import type { FeedDeps, PollSteps, Subscribers } from "../../delivery/module.js";
import type { NamedEntry } from "../../directory/collections.js";
import { ifAnswered } from "../../explorer/errors.js";
import type { Explorer } from "../../explorer/service.js";
import { motionKindOf } from "../../ledger/motion-kinds.js";
import { readRounds } from "../../ledger/rounds.js";
import { type UpgradeDecision, upgradeDecision } from "../../ledger/upgrades.js";
import { actionIn, readDetail } from "../../ledger/vote-requests.js";
import { ageOf } from "../../util/clock.js";
import { DAY, HOUR } from "../../util/units.js";
import { standstills, UPGRADES_FEED, type Upgrade, upgrades } from "./collections.js";
import { judgeStandstill, judgeUpgrade } from "./decide.js";

/** Time after its end at which an upgrade or a standstill is forgotten, in ms. */
const KEPT_MS = 30 * DAY;

/** Maximum number of details that a poll reads. */
const MAX_DETAILS = 5;
/** Time after which a detail without an action is read again, in ms. */
const RETRY_MS = HOUR;

type Endable = { readonly endedAt?: number };

const openOf = <Document extends Endable>(documents: ReadonlyMap<string, Document>) =>
  [...documents].find(([, { endedAt }]) => endedAt === undefined);

const oldOf = (documents: ReadonlyMap<string, Endable>, now: number): string[] =>
  [...documents].flatMap(([subject, { endedAt }]) =>
    endedAt !== undefined && ageOf(endedAt, now) > KEPT_MS ? [subject] : [],
  );

/** True for a vote request that may be about an upgrade, but whose action is not known. */
function isUnexamined({ active, acceptedFor, upgrade, action = "" }: NamedEntry): boolean {
  if (active !== true && acceptedFor === undefined) return false;
  return action === "" || (upgrade === undefined && motionKindOf(action) === "configuration");
}

interface UpgradesWatchDeps extends Pick<FeedDeps, "state" | "directory" | "names" | "now"> {
  readonly explorer: Explorer;
}

/** Creates the poll that compares the accepted schedule and the rounds with what was announced. */
export function createUpgradesWatch({ explorer, state, directory, names, now }: UpgradesWatchDeps) {
  const readTimes = state.open(progress);
  /** When the details of vote requests were last read, epoch ms. */
  const triedAt = new Map<string, number>();

  /** Reads the details of the newest vote requests, so that an upgrade is known as soon as it is accepted. */
  const examine = async () => {
    const unexamined = directory
      .entries("proposal")
      .filter((each) => isUnexamined(each) && ageOf(triedAt.get(each.id) ?? 0, now()) >= RETRY_MS)
      .toSorted((a, b) => (b.openedAt ?? 0) - (a.openedAt ?? 0));
    for (const { id } of unexamined.slice(0, MAX_DETAILS)) {
      triedAt.set(id, now());
      const detail = await ifAnswered(readDetail(explorer, { contractId: null, trackingCid: id }));
      if (detail) names.learn(id, actionIn(detail));
    }
  };

  /** Returns the last accepted decision. `undefined` if the known one is missing in the list, which is no news. */
  const decisionAfter = (open: Upgrade | undefined): UpgradeDecision | undefined => {
    const isLost =
      open !== undefined && directory.entry("proposal", open.decidedBy)?.acceptedFor === undefined;
    return isLost ? undefined : upgradeDecision(directory.entries("proposal"));
  };

  return async function* (subscribers: Subscribers): PollSteps {
    const firstRead = await readTimes.get(UPGRADES_FEED);
    const [knownUpgrades, knownStandstills] = await Promise.all([
      state.open(upgrades).list(),
      state.open(standstills).list(),
    ]);
    if ((await subscribers.subscriptions()).length === 0) {
      const subjects = [...knownUpgrades.keys(), ...knownStandstills.keys()];
      if (firstRead) yield { writes: [readTimes.delete(UPGRADES_FEED)], ended: subjects };
      return "done";
    }
    await examine();
    const isBaseline = firstRead === undefined;
    const openUpgrade = openOf(knownUpgrades);
    const rounds = await readRounds(state, now());
    const decision = decisionAfter(openUpgrade?.[1]);
    const schedule = judgeUpgrade(openUpgrade, { decision, rounds, isBaseline, now: now() });
    const standing = judgeStandstill(openOf(knownStandstills), rounds, isBaseline);
    // The rounds after an upgrade are told once.
    const isTold = schedule.events.some(({ kind }) => kind === "advancing");
    const events = [
      ...schedule.events,
      ...standing.events.filter(({ kind }) => !(isTold && kind === "moving")),
    ];
    const ended = [...oldOf(knownUpgrades, now()), ...oldOf(knownStandstills, now())];
    const writes = [
      ...[...schedule.changed].map(([subject, upgrade]) => state.open(upgrades).put(subject, upgrade)),
      ...[...standing.changed].map(([subject, each]) => state.open(standstills).put(subject, each)),
      ...(isBaseline ? [readTimes.put(UPGRADES_FEED, { completeAt: now() })] : []),
    ];
    if (writes.length + ended.length > 0)
      yield { events, writes, changed: [...schedule.changed.keys(), ...standing.changed.keys()], ended };
    return "done";
  };
}
