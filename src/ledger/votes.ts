import type { Vote } from "../explorer/schema/governance.js";
import { toFlag, toId, toRecord, toText, toTime } from "../explorer/values.js";

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

/**
 * Super validators that have not voted: those that have voted on other requests, where they are as many as the tally counts.
 * Null where not all of them are known, or where one that has voted is named otherwise there.
 * @param others votes on any requests
 */
export function notVoted(
  own: readonly Vote[],
  others: readonly Vote[],
  pending: number | null,
): readonly string[] | null {
  const known = new Set(others.flatMap(aliasesOf));
  const cast = own.filter(({ accept }) => accept !== null);
  if (!cast.every((vote) => aliasesOf(vote).some((name) => known.has(name)))) return null;
  const counted = new Set(cast.flatMap(aliasesOf));
  const missing = others.flatMap((vote) => {
    const aliases = aliasesOf(vote);
    if (aliases.some((name) => counted.has(name))) return [];
    for (const name of aliases) counted.add(name);
    return voterName(vote) ?? [];
  });
  return missing.length === pending ? missing : null;
}

/**
 * The votes that a detail's `rawPayload` holds, which is the contract itself: all of its version, each with its voter,
 * `[[name, {sv, accept, reason: {url, body}, optCastAt}]]`. Null where it holds none in that form.
 */
export function votesIn(rawPayload: unknown): CastVote[] | null {
  const votes = toRecord(rawPayload)?.votes;
  const pairs = Array.isArray(votes) ? (votes as unknown[]) : null;
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
