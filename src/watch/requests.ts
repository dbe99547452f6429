import { createHash } from "node:crypto";
import { identityOf, statusGroup, toTitle } from "../explorer/governance.js";
import type { VoteRequestListItem } from "../explorer/schema.js";
import { collectionOf, type State, type Write } from "../storage/state.js";
import type { GovernanceEvent } from "./events.js";

/** What people are told when it changes. */
export interface Terms {
  readonly title: string | null;
  /** The action's words, where its detail has been read. */
  readonly action: string | null;
  /** The threshold deadline, epoch ms. */
  readonly voteBefore: number | null;
  readonly targetEffectiveAt: number | null;
}

/** What is known of a vote request from one read to the next. */
export interface KnownRequest {
  readonly identity: string;
  /** The contract ids it has had, the newest last: a row with an older one is stale. */
  readonly contractIds: readonly string[];
  /** Open while votes can be cast; closed for good once the API says so; silent where it was closed when first seen. */
  readonly phase: "open" | "closed" | "silent";
  readonly status: string | null;
  /** A super validator's name or party id; its own Yes is cast automatically. */
  readonly requester: string | null;
  readonly terms: Terms;
  /** Terms that one read has shown and the next must confirm before they are told. */
  readonly unconfirmed?: Terms;
  readonly yes: number | null;
  readonly no: number | null;
  readonly pending: number | null;
  /** Goes up with whatever its announcement shows. */
  readonly revision: number;
  /** Complete reads in a row that it was missing from. */
  readonly missing: number;
  /** Votes by voter, while a subscription wants to hear of them; what is there when they are first read is not told. */
  readonly votes?: Readonly<Record<string, boolean | null>>;
  /** Changed votes that one read has shown and the next must confirm. */
  readonly flips?: Readonly<Record<string, boolean>>;
  /** Its tally has moved since its votes and its action were read. */
  readonly due?: boolean;
  /** It is gone, and nobody says how it ended. */
  readonly endUnconfirmed?: boolean;
  /** Goes up with each vote told. */
  readonly voteSequence: number;
  /** Goes up with each change told. */
  readonly changeSequence: number;
  /** Reminders that are done, as `<deadline>:<before>`. */
  readonly reminded: readonly string[];
  readonly closedAt?: number;
}

/** How many of its contract ids are kept. */
const MOST_CONTRACT_IDS = 40;

/** A request's key in the state: a short hash of its identity, kept for ever. */
export function requestKey(identity: string): string {
  return createHash("sha256").update(identity).digest("base64url").slice(0, 16);
}

/** Whether votes can still be cast, as far as its row tells: by its status, or by its deadlines where that is unknown. */
export function isOpen(
  row: Pick<VoteRequestListItem, "status" | "voteBefore" | "targetEffectiveAt">,
  now: number,
): boolean {
  const group = statusGroup(row.status);
  if (group !== "other") return group === "open";
  return now < Math.max(row.voteBefore ?? 0, row.targetEffectiveAt ?? 0);
}

const termsOf = (row: VoteRequestListItem, before: Terms | undefined): Terms => ({
  title: toTitle(row.title) ?? before?.title ?? null,
  action: before?.action ?? null,
  // A field that is missing for once is no change.
  voteBefore: row.voteBefore ?? before?.voteBefore ?? null,
  targetEffectiveAt: row.targetEffectiveAt ?? before?.targetEffectiveAt ?? null,
});

const castIn = (yes: number | null, no: number | null): number => (yes ?? 0) + (no ?? 0);

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** What is to be known of a request that nothing is known of yet. */
export function firstSeen(
  row: VoteRequestListItem,
  now: number,
  baseline: boolean,
): KnownRequest | undefined {
  const identity = identityOf(row);
  // A row that says neither its status nor a deadline is half an answer: the next read tells.
  const says =
    statusGroup(row.status) !== "other" || row.voteBefore !== null || row.targetEffectiveAt !== null;
  if (identity === null || !says) return undefined;
  const open = isOpen(row, now);
  return {
    identity,
    contractIds: row.contractId === null ? [] : [row.contractId],
    phase: open ? "open" : "silent",
    status: row.status,
    requester: row.requester,
    terms: termsOf(row, undefined),
    yes: row.yesCount,
    no: row.noCount,
    pending: row.abstainCount,
    revision: 1,
    missing: 0,
    // Seen from its opening, all its votes are news, those cast before it was seen too; of an older one, those that come
    // from now on.
    ...(baseline || !open ? {} : { votes: {}, due: castIn(row.yesCount, row.noCount) > 0 }),
    voteSequence: 0,
    changeSequence: 0,
    reminded: [],
    ...(open ? {} : { closedAt: now }),
  };
}

/** What a row changes. */
export interface Difference {
  readonly next: KnownRequest;
  readonly changedFrom?: Terms;
  readonly closed: boolean;
}

/**
 * Compares a row with what is known of its request. A row with an older contract id is a stale answer and changes
 * nothing, and neither does one for a request that is closed, but for the words of its status.
 * @param confirming whether the row is of a complete read: terms are told once two of them agree
 */
export function compare(known: KnownRequest, row: VoteRequestListItem, confirming: boolean): Difference {
  const unchanged: Difference = { next: { ...known, missing: 0 }, closed: false };
  const group = statusGroup(row.status);
  const closed = group !== "open" && group !== "other";
  const at = row.contractId === null ? -1 : known.contractIds.indexOf(row.contractId);
  const older = at >= 0 && at < known.contractIds.length - 1;
  // Votes are never taken back: a version nobody has seen, with fewer of them, was missed and is old.
  const missed = at < 0 && castIn(row.yesCount, row.noCount) < castIn(known.yes, known.no);
  if ((older || missed) && !closed) return unchanged;
  if (known.phase !== "open") {
    const restated = group !== "open" && row.status !== null && row.status !== known.status;
    const next = { ...known, missing: 0, status: row.status, revision: known.revision + 1 };
    return restated ? { ...unchanged, next } : unchanged;
  }
  const contractIds =
    row.contractId === null || at >= 0
      ? known.contractIds
      : [...known.contractIds, row.contractId].slice(-MOST_CONTRACT_IDS);
  const terms = termsOf(row, known.terms);
  // What was not known before is learnt, and no change.
  const was: Terms = {
    title: known.terms.title ?? terms.title,
    action: known.terms.action,
    voteBefore: known.terms.voteBefore ?? terms.voteBefore,
    targetEffectiveAt: known.terms.targetEffectiveAt ?? terms.targetEffectiveAt,
  };
  const learnt = !same(was, known.terms);
  const changed = !same(terms, was);
  const confirmed = changed && confirming && same(terms, known.unconfirmed);
  // A look at the first page alone comes before a whole one at the same answer: it only keeps what another poll said.
  const doubted = confirming ? terms : known.unconfirmed;
  const tally = {
    yes: row.yesCount ?? known.yes,
    no: row.noCount ?? known.no,
    pending: row.abstainCount ?? known.pending,
  };
  const tallyMoved = tally.yes !== known.yes || tally.no !== known.no;
  const shown =
    tallyMoved || confirmed || learnt || closed || (row.status !== null && row.status !== known.status);
  const { unconfirmed, ...rest } = known;
  const next: KnownRequest = {
    ...rest,
    ...tally,
    contractIds,
    missing: 0,
    ...(tallyMoved ? { due: true } : {}),
    phase: closed ? "closed" : "open",
    status: row.status ?? known.status,
    requester: known.requester ?? row.requester,
    terms: confirmed ? terms : was,
    ...(changed && !confirmed && doubted ? { unconfirmed: doubted } : {}),
    revision: known.revision + (shown ? 1 : 0),
    changeSequence: known.changeSequence + (confirmed ? 1 : 0),
  };
  return { next, closed, ...(confirmed ? { changedFrom: was } : {}) };
}

/** Reminders that are due at a moment, for a subscription from so long: all that are done by now, of which one is told. */
export function dueReminders(
  known: KnownRequest,
  before: readonly number[],
  since: number,
  now: number,
): readonly string[] {
  const deadline = known.terms.voteBefore;
  if (known.phase !== "open" || deadline === null || now >= deadline) return [];
  return [...before]
    .sort((a, b) => b - a)
    .filter((each) => deadline - each <= now && deadline - each >= since)
    .map((each) => `${deadline}:${each}`)
    .filter((each) => !known.reminded.includes(each));
}

/** What is known of all requests, read once and then kept in memory by whoever does the background work. */
export interface KnownRequests {
  all(): Promise<Map<string, KnownRequest>>;
  get(key: string): Promise<KnownRequest | undefined>;
  put(key: string, request: KnownRequest): Write;
}

export function createKnownRequests(state: State): KnownRequests {
  const stored = collectionOf<KnownRequest>(state, "requests");
  let held: Promise<Map<string, KnownRequest>> | undefined;
  const all = () => {
    held ??= stored.list();
    held.catch(() => {
      held = undefined;
    });
    return held;
  };
  return { all, get: async (key) => (await all()).get(key), put: stored.put };
}

/** What one read has brought: what is known now, and what is to be told of it. */
export interface Findings {
  readonly learnt: Map<string, KnownRequest>;
  readonly events: GovernanceEvent[];
}
