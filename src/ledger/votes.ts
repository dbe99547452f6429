import type { Vote } from "../explorer/schema/governance.js";
import { toFlag, toId, toRecord, toText, toTime } from "../explorer/values.js";
import { isPartyId } from "../text/ids.js";

/** A vote, with when it was cast (epoch ms) where the explorer says. */
export interface CastVote extends Vote {
  readonly castAt: number | null;
}

/** What tells a voter from others: its party where the explorer gives it, else its name; null where it says neither. */
export const voterKey = ({ identifier, accountName, company }: Vote): string | null =>
  identifier ?? accountName ?? company;

/** What a voter is called; null where the explorer does not say. */
export const voterName = ({ identifier, accountName, company }: Vote): string | null =>
  accountName ?? company ?? identifier;

/** Every name that a vote gives its voter. */
const aliasesOf = ({ identifier, accountName, company }: Vote): string[] =>
  [identifier, accountName, company].flatMap((name) => name ?? []);

/** A super validator, as votes name it. */
export interface Voter {
  readonly name: string;
  /** All that it goes by: its party, where the explorer gives it, and its names. */
  readonly aliases: readonly string[];
}

/** What a voter goes by in addresses: its party, where the explorer gives it, else its name. */
export const voterId = ({ name, aliases }: Voter): string => aliases.find(isPartyId) ?? name;

/** Stands before a super validator where a vote request's id might stand as well. */
const PREFIX = "sv/";

/** What stands for a super validator where vote requests are named too. @param voter its party, or its name */
export const voterSubject = (voter: string): string => `${PREFIX}${voter}`;

/** The super validator that a subject names; undefined where it names a vote request, or nothing. */
export const voterIn = (subject: string | null): string | undefined =>
  subject?.startsWith(PREFIX) ? subject.slice(PREFIX.length) : undefined;

/** Whether two are the same super validator. */
export const isSameVoter = (a: Pick<Voter, "aliases">, b: Pick<Voter, "aliases">): boolean =>
  a.aliases.some((alias) => b.aliases.includes(alias));

/** Who has cast these votes, or is listed without one: each once, in their order. */
export function votersIn(votes: readonly Vote[]): readonly Voter[] {
  const byAlias = new Map<string, { readonly name: string; readonly aliases: string[] }>();
  const voters = new Set<Voter>();
  for (const vote of votes) {
    const name = voterName(vote);
    if (name === null) continue;
    const aliases = aliasesOf(vote);
    const voter = aliases.map((alias) => byAlias.get(alias)).find((known) => known !== undefined) ?? {
      name,
      aliases: [],
    };
    voters.add(voter);
    for (const alias of aliases) {
      if (byAlias.has(alias)) continue;
      byAlias.set(alias, voter);
      voter.aliases.push(alias);
    }
  }
  return [...voters];
}

/** Votes by every name of their voters. */
export const byVoter = <Row extends Vote>(votes: readonly Row[]): ReadonlyMap<string, Row> =>
  new Map(votes.flatMap((vote) => aliasesOf(vote).map((alias) => [alias, vote] as const)));

/**
 * Super validators that have not voted: those that have voted on other requests, where they are as many as the tally counts.
 * Null where not all of them are known, or where one that has voted is named otherwise there.
 * @param all those who have voted on any requests
 */
export function notVoted(
  own: readonly Vote[],
  all: readonly Voter[],
  pending: number | null,
): readonly Voter[] | null {
  const known = new Set(all.flatMap(({ aliases }) => aliases));
  const cast = own.filter(({ accept }) => accept !== null);
  if (!cast.every((vote) => aliasesOf(vote).some((alias) => known.has(alias)))) return null;
  const voted = byVoter(cast);
  const missing = all.filter(({ aliases }) => !aliases.some((alias) => voted.has(alias)));
  return missing.length === pending ? missing : null;
}

/** Of a contract's votes so many are looked at: there are some dozens of super validators. */
const MAX_VOTES = 1_000;

/**
 * The votes that a detail's `rawPayload` holds, which is the contract itself: all of its version, each with its voter,
 * `[[name, {sv, accept, reason: {url, body}, optCastAt}]]`. Null where it holds none in that form.
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
      },
    ];
  });
}
