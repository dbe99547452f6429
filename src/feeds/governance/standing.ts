import type { Subscription } from "../../delivery/collections.js";
import type { AnswerDeps } from "../../delivery/feed.js";
import { ifAnswered } from "../../explorer/errors.js";
import { readPagesOf } from "../../explorer/paging.js";
import type { VoteRequestListItem } from "../../explorer/schema/governance.js";
import type { Reading } from "../../explorer/service.js";
import { standingOf, type VotePhase } from "../../ledger/vote-phase.js";
import {
  countSuperValidators,
  findVoteRequest,
  findVotes,
  fromExplorer,
  type VoteRequest,
} from "../../ledger/vote-requests.js";
import { isOpen, neededFor } from "../../ledger/vote-rules.js";
import { isCalled, voterIn, votersIn } from "../../ledger/votes.js";
import { standingText } from "../../screens/vote-parts.js";
import { dateWords, untilWords } from "../../screens/vote-times.js";
import { type Markdown, md } from "../../text/markdown.js";
import { countedWords } from "../../text/numbers.js";
import { present } from "../../util/present.js";
import { withTimeout } from "../../util/timeouts.js";
import { trackedVoteRequests } from "./collections.js";
import { openingFor, reminderTimes, seenOf } from "./reminders.js";
import { remindersOf } from "./topics.js";
import { requestKey } from "./tracking.js";

/** Maximum number of open requests shown to a new subscriber. */
const MAX_SHOWN = 10;
/** Maximum number of pages to read for it. The poll has usually read them. */
const MAX_PAGES = 10;
/** Timeout for loading the names of these requests, in ms. Without a name, their kind is shown. */
const NAMES_MS = 1_000;
/** Timeout for finding out who has voted on one of them, in ms. */
const VOTES_MS = 5_000;

const NO_REMINDER = md`Its reminder times before this date have passed, so I won't remind you of it.`;

/** A vote request that is open now, with its next date, epoch ms. */
interface OpenRequest {
  readonly row: VoteRequestListItem;
  readonly request: VoteRequest;
  readonly needed: number | undefined;
  readonly at: number | undefined;
  readonly phase: VotePhase;
}

/** True if a subscription's last reminder before a date of a request was due already. @param at epoch ms */
async function isTooLate(
  { state, now }: AnswerDeps,
  subscription: Subscription,
  { identity, createdAt }: VoteRequest,
  at: number,
): Promise<boolean> {
  const tracked =
    identity === null ? undefined : await state.open(trackedVoteRequests).get(requestKey(identity));
  const chosen = remindersOf(subscription);
  const opening = tracked ? openingFor(chosen, at, seenOf(tracked, now)) : createdAt;
  return reminderTimes(chosen, at, opening).every((before) => at - before <= now);
}

/** Returns the open vote requests, the nearest date first. `undefined` if the explorer does not answer. */
async function readOpen({
  explorer,
  names,
  now,
}: AnswerDeps): Promise<Reading<readonly OpenRequest[]> | undefined> {
  const listing = readPagesOf(explorer, "voteRequests", () => false, MAX_PAGES);
  const rows = await ifAnswered(listing);
  if (!rows) return undefined;
  const superValidators = await countSuperValidators(explorer);
  const open = rows.data
    .filter((row) => isOpen(row, now))
    .map((row) => {
      const listed = fromExplorer(row, null);
      const request = { ...listed, ...names.seenOf(listed.identity) };
      const needed = neededFor(request, superValidators);
      const { phase, next } = standingOf(request, needed, now);
      return { row, request, needed, at: next?.at, phase };
    })
    .sort((a, b) => (a.at ?? Number.MAX_SAFE_INTEGER) - (b.at ?? Number.MAX_SAFE_INTEGER));
  return { ...rows, data: open };
}

const CANT_READ = md`I can't read the explorer right now, so I can't list what's open.`;

/** Lists open requests. @param signOf returns the sign of a line */
async function openLines(
  { names, now }: AnswerDeps,
  all: readonly OpenRequest[],
  signOf: (each: OpenRequest) => string,
): Promise<Markdown[]> {
  const shown = all.slice(0, MAX_SHOWN);
  await names.read(
    shown.map(({ row }) => row),
    NAMES_MS,
  );
  return present([
    ...shown.map(
      (each) =>
        md`${signOf(each)} ${names.voteRequest(each.request, 120)}, ${untilWords(each.request, each.needed, now)}`,
    ),
    all.length > MAX_SHOWN && md`…and ${all.length - MAX_SHOWN} more`,
  ]);
}

/** True if a super validator has voted on a request; `undefined` if that is unknown. */
async function hasVoted(
  { explorer, names }: AnswerDeps,
  listed: Reading<VoteRequest>,
  voter: string,
): Promise<boolean | undefined> {
  const { identity } = listed.data;
  // The list of all votes may be older than the request.
  const readDetail = async () =>
    identity === null ? undefined : ifAnswered(findVoteRequest(explorer, identity));
  for (const read of [async () => listed, readDetail]) {
    const reading = await read();
    const votes = reading && (await ifAnswered(findVotes(explorer, reading)));
    const voted = votersIn((votes?.data ?? []).filter(({ accept }) => accept !== null));
    // A row of the list may have only the voter's name.
    if (voted.some((each) => isCalled(each, voter) || isCalled(each, names.called(voter)))) return true;
    if (votes?.complete && !votes.problem) return false;
  }
  return undefined;
}

/** Lists the open requests on which a super validator has not voted, and says for which of them no reminder will come any more. */
async function uncastLines(deps: AnswerDeps, subscription: Subscription, voter: string): Promise<Markdown[]> {
  const reading = await readOpen(deps);
  if (!reading) return [CANT_READ];
  // No reminder comes once a request is decided.
  const undecided = reading.data.filter(({ phase }) => phase === "voting");
  const checks = undecided.slice(0, MAX_SHOWN).map(async (each) => {
    const check = hasVoted(deps, { ...reading, data: each.request }, voter);
    return { each, hasVoted: await withTimeout(check, VOTES_MS, () => undefined) };
  });
  const checked = await Promise.all(checks);
  const uncast = checked.filter((one) => one.hasVoted === false).map(({ each }) => each);
  const unknownCount =
    undecided.length - checked.length + checked.filter((one) => one.hasVoted === undefined).length;
  const lateRequests = new Set<OpenRequest>();
  for (const each of uncast)
    if (each.at !== undefined && (await isTooLate(deps, subscription, each.request, each.at)))
      lateRequests.add(each);
  const lines = await openLines(deps, uncast, (each) => (lateRequests.has(each) ? "⏰" : "•"));
  return present([
    uncast.length === 0 && unknownCount === 0 && md`It has voted on everything that's undecided.`,
    uncast.length > 0 && md`Not voted yet:`,
    ...lines,
    lateRequests.size > 0 &&
      md`-# ⏰ The reminder times before this date have passed, so I won't remind you of it.`,
    unknownCount > 0 &&
      md`-# I couldn't check if it has voted on ${countedWords(unknownCount, "open vote request")}.`,
  ]);
}

/** Describes one vote request to a person who watches it. */
async function requestLines(
  deps: AnswerDeps,
  subscription: Subscription,
  identity: string,
): Promise<Markdown[]> {
  const { explorer, names, now } = deps;
  const found = (await ifAnswered(findVoteRequest(explorer, identity)))?.data;
  if (!found) return [];
  const request = names.withSeen(found, identity);
  const standing = standingOf(request, neededFor(request, await countSuperValidators(explorer)), now);
  if (standing.phase !== "voting") return [standingText(request, standing)];
  if (!standing.next) return [md`It has no upcoming deadline.`];
  const isLate = await isTooLate(deps, subscription, request, standing.next.at);
  return present([md`It's open: ${dateWords(standing.next)}.`, isLate && NO_REMINDER]);
}

/** Returns what a new subscriber or watcher of vote requests should know now, such as those that are open already. */
export async function standingFor(
  deps: AnswerDeps,
  subscription: Subscription,
): Promise<readonly Markdown[]> {
  const { subject } = subscription;
  const voter = voterIn(subject);
  if (voter !== undefined)
    return [
      md`You'll only get them for vote requests that it hasn't voted on.`,
      ...(await uncastLines(deps, subscription, voter)),
    ];
  if (subject !== null) return requestLines(deps, subscription, subject);
  const reading = await readOpen(deps);
  if (!reading) return [CANT_READ];
  if (reading.data.length === 0) return [md`Nothing is open at the moment.`];
  const soonestMs = Math.max(...remindersOf(subscription));
  // The first reminder is already due.
  const isNear = ({ at }: OpenRequest) => at !== undefined && at - deps.now <= soonestMs;
  return [
    md`Already open (I won't announce these again):`,
    ...(await openLines(deps, reading.data, (each) => (isNear(each) ? "⏰" : "•"))),
  ];
}
