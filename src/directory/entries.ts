import type { VoteRequestListItem } from "../explorer/schema/governance.js";
import type { ValidatorSummary } from "../explorer/schema/validators.js";
import {
  mayStillVote,
  OUTCOME_UNKNOWN,
  PHASE_WORDS,
  type Standable,
  standingOf,
} from "../ledger/vote-phase.js";
import { openedAtIn, tallyIn } from "../ledger/vote-requests.js";
import { isOpen, neededFor, readableDate, statusGroup, statusWords } from "../ledger/vote-rules.js";
import { defined } from "../util/present.js";
import type { NamedEntry } from "./collections.js";
import type { Names } from "./names.js";
import type { NamedRequest } from "./request-facts.js";

/** Returns a vote request's entry for completion. */
export function proposalEntry(
  request: NamedRequest &
    Standable & {
      /** When it was opened, if that is known. */
      readonly openedAt: number | null;
      /** Time of its contract. */
      readonly createdAt?: number | null;
      readonly requester?: string | null;
      readonly requesterName?: string | null;
    },
  id: string,
  names: Names,
  now: number,
): NamedEntry {
  const seen = { ...names.seenOf(id), ...request };
  const { enoughYesAt, hasExpired, closed } = seen;
  const standing = standingOf(seen, neededFor(request, undefined), now);
  const { phase, next } = standing;
  // The first time that was seen stays, because each vote makes a new contract, whose time may be that of the vote.
  const openedAt = request.openedAt ?? names.seenOf(id).openedAt ?? request.createdAt ?? undefined;
  const requester =
    request.requesterName ?? (request.requester ? names.called(request.requester) : undefined);
  const date =
    next && phase !== "ended" ? `, ${next.name} ${new Date(next.at).toISOString().slice(0, 10)}` : "";
  const action = names.actionOf(id);
  const upgradeChange = names.upgradeOf(id);
  const isAccepted = ["accepted", "implemented"].includes(statusGroup(request.status));
  // Without a date for it, what was accepted has taken effect.
  const latest = request.voteBefore === null ? undefined : Math.min(request.voteBefore, now);
  const acceptedFor =
    readableDate(request.targetEffectiveAt) ?? closed?.after ?? closed?.by ?? request.createdAt ?? latest;
  return {
    id,
    name: names.ownName(request),
    active: isOpen(request, now) && mayStillVote(request, standing),
    note: `${PHASE_WORDS[phase] ?? (request.isGone ? OUTCOME_UNKNOWN : statusWords(request.status))}${date}`,
    ...defined({
      requester,
      openedAt,
      action,
      goneAt: request.isGone ? now : undefined,
      closed,
      enoughYesAt,
      hasExpired,
      upgradeChange,
      acceptedFor: isAccepted ? acceptedFor : undefined,
    }),
  };
}

/** Returns a vote request in the list, with its tally and its opening time. */
export const listedIn = (row: VoteRequestListItem, identity: string) => ({
  ...row,
  ...tallyIn(row),
  identity,
  openedAt: openedAtIn(row),
});

/** Returns a validator's entry, or an empty list if its row has no id. */
export const validatorEntry = (row: ValidatorSummary): NamedEntry[] => {
  const { validator: id, validatorName: name, active, version, lastActiveAt } = row;
  return id === null ? [] : [{ id, name, active, version, seenAt: lastActiveAt }];
};
