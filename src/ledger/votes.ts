import type { Vote } from "../explorer/schema/governance.js";
import { toFlag, toId, toRecord, toText, toTime } from "../explorer/values.js";
import { isPartyId } from "../text/ids.js";
import { repeatedIn } from "../util/groups.js";
import { defined } from "../util/present.js";

/** A vote with its data from the contract. */
export interface CastVote extends Vote {
  /** Epoch ms. null if unknown. */
  readonly castAt: number | null;
  /** The delegate that cast the vote, and the delegate's role. Missing if the super validator cast it itself. */
  readonly castBy?: string | null;
  readonly castByRole?: string | null;
}

/** Returns the key of a voter: its party, or else its name. null if it has neither. */
export const voterKey = ({ identifier, accountName, company }: Vote): string | null =>
  identifier ?? accountName ?? company;

/** Returns a voter's name. null if unknown. */
export const voterName = ({ identifier, accountName, company }: Vote): string | null =>
  accountName ?? company ?? identifier;

/** Returns all names of a vote's voter. A company is not an identity, because two super validators may share it. */
export function aliasesOf({ identifier, accountName, company }: Vote): string[] {
  const ownNames = [identifier, accountName].flatMap((name) => name ?? []);
  return ownNames.length > 0 || company === null ? ownNames : [company];
}

/** A super validator, identified by its votes. */
export interface Voter {
  readonly name: string;
  /** Its unique identifiers: the party, if known, and names that no other super validator has. */
  readonly aliases: readonly string[];
}

/** Returns a voter's id for use in addresses: its party if known, else its name. */
export const voterId = ({ name, aliases }: Voter): string => aliases.find(isPartyId) ?? name;

/** Prefix of a super validator in places that may also hold a vote request's id. */
const PREFIX = "sv/";

/** Returns the subject for a super validator. @param voter its party or name */
export const voterSubject = (voter: string): string => `${PREFIX}${voter}`;

/** Returns the super validator that a subject names; `undefined` if it names a vote request. */
export const voterIn = (subject: string | null): string | undefined =>
  subject?.startsWith(PREFIX) ? subject.slice(PREFIX.length) : undefined;

/** True if both are the same super validator: by party, or by a shared alias if either has no party. */
export function isSameVoter(a: Pick<Voter, "aliases">, b: Pick<Voter, "aliases">): boolean {
  const [left, right] = [a.aliases.find(isPartyId), b.aliases.find(isPartyId)];
  if (left !== undefined && right !== undefined) return left === right;
  return a.aliases.some((alias) => b.aliases.includes(alias));
}

/** True if a super validator is called by this party or name. */
export const isCalled = ({ name, aliases }: Voter, called: string): boolean =>
  name === called || aliases.includes(called);

/** Returns the parties that use each name. */
function ownersOf(votes: readonly Vote[]): ReadonlyMap<string, ReadonlySet<string>> {
  const owners = new Map<string, Set<string>>();
  for (const vote of votes)
    for (const name of vote.identifier === null ? [] : [vote.accountName, vote.company])
      if (name !== null) owners.set(name, (owners.get(name) ?? new Set()).add(vote.identifier ?? ""));
  return owners;
}

/**
 * Returns the voters of these votes in order, without duplicates. A voter is identified by its party. A name that several parties
 * share identifies none of them.
 */
export function votersIn(votes: readonly Vote[]): readonly Voter[] {
  const owners = ownersOf(votes);
  const voters = new Map<string, { name: string; readonly aliases: string[] }>();
  for (const vote of votes) {
    const name = voterName(vote);
    const key = voterKey(vote);
    if (name === null || key === null) continue;
    const namedOwners = vote.identifier === null ? owners.get(key) : undefined;
    if (namedOwners && namedOwners.size > 1) continue;
    const identity = namedOwners ? ([...namedOwners][0] ?? key) : key;
    const voter = voters.get(identity) ?? { name, aliases: [] };
    voters.set(identity, voter);
    for (const alias of aliasesOf(vote))
      if (!voter.aliases.includes(alias) && (owners.get(alias)?.size ?? 1) < 2) voter.aliases.push(alias);
  }
  const shared = repeatedIn([...voters.values()].map(({ name }) => name));
  // Voters that share a name are shown by their parties.
  return [...voters].map(([identity, voter]) =>
    shared.has(voter.name) ? { ...voter, name: identity } : voter,
  );
}

/** Returns the votes by all names of their voters. */
export const byVoter = <Row extends Vote>(votes: readonly Row[]): ReadonlyMap<string, Row> =>
  new Map(votes.flatMap((vote) => aliasesOf(vote).map((alias) => [alias, vote] as const)));

/** The super validators that have not voted on a request. */
export interface MissingVotes {
  readonly voters: readonly Voter[];
  /** Number of others that only the tally contains. They have never voted, or not lately (`isLately`). */
  readonly unknown: number;
  /** True if the others may have voted before the votes that were read. */
  readonly isLately?: boolean;
  /** Super validators that have voted, and former ones. */
  readonly voted: readonly Voter[];
  /** Number of votes in the tally that do not count, because their voters are no longer super validators. Missing if there are none. */
  readonly uncounted?: number;
}

/**
 * Returns the super validators that have not voted on a request, among those that have voted on any. null if they are more than
 * the tally says, or if a voter of this request is not among `all`.
 * @param own votes on the request
 * @param all super validators that have voted on any request, and those that have since left
 * @param former those that have left. Their votes may still be in the tally
 */
export function notVoted(
  own: readonly Vote[],
  all: readonly Voter[],
  pending: number | null,
  former: readonly Voter[] = [],
): MissingVotes | null {
  const knownAliases = new Set(all.flatMap(({ aliases }) => aliases));
  const castVotes = own.filter(({ accept }) => accept !== null);
  if (!castVotes.every((vote) => aliasesOf(vote).some((alias) => knownAliases.has(alias)))) return null;
  const votes = byVoter(castVotes);
  const hasVoted = ({ aliases }: Voter) => aliases.some((alias) => votes.has(alias));
  const counted = former.filter(hasVoted).length;
  const missingVoters = all.filter((voter) => !hasVoted(voter) && !former.includes(voter));
  const unknown = (pending ?? Number.NaN) - missingVoters.length;
  if (!(unknown >= -counted)) return null;
  return {
    voters: missingVoters,
    unknown: Math.max(0, unknown),
    voted: votersIn(castVotes),
    ...defined({ uncounted: counted || undefined }),
  };
}

/** Maximum number of a contract's votes to read. There are a few dozen super validators. */
const MAX_VOTES = 1_000;

/**
 * Returns the votes in a detail's `rawPayload`, which is the contract itself. It contains all votes of that version, each with
 * its voter: `[[name, {sv, accept, reason: {url, body}, optCastAt}]]`. Returns null if there are none in that format.
 */
export function votesIn(rawPayload: unknown): CastVote[] | null {
  const votes = toRecord(rawPayload)?.votes;
  const pairs = Array.isArray(votes) ? (votes as unknown[]).slice(0, MAX_VOTES) : null;
  if (pairs === null) return null;
  return pairs.flatMap((pair) => {
    const [name, value] = Array.isArray(pair) ? (pair as unknown[]) : [];
    const vote = toRecord(value);
    if (vote === null) return [];
    const reason = toRecord(vote.reason);
    return [
      {
        company: null,
        identifier: toId(vote.sv),
        accept: toFlag(vote.accept),
        trackingCid: null,
        title: null,
        reasonUrl: toText(reason?.url),
        reason: toText(reason?.body),
        voteBefore: null,
        accountName: toText(name),
        accountImg: null,
        castAt: toTime(vote.optCastAt),
        castBy: toId(vote.castBy),
        castByRole: toText(vote.castByRole),
      },
    ];
  });
}
