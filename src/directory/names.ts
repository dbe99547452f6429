import type { Explorer } from "../explorer/service.js";
import { type ActionSummary, isGeneric, summaryText, toTitle } from "../ledger/actions.js";
import type { Standable } from "../ledger/vote-phase.js";
import type { VoteRequest } from "../ledger/vote-requests.js";
import { isOver } from "../ledger/vote-rules.js";
import { type Voter, voterId } from "../ledger/votes.js";
import type { Log } from "../log.js";
import type { State } from "../storage/state.js";
import { DEFAULT_COIN, withCoin } from "../text/coin.js";
import { fingerprint, hintOf, isWholeId, shortId } from "../text/ids.js";
import { cut } from "../text/plain.js";
import { repeatedIn } from "../util/groups.js";
import type { NamedEntry } from "./collections.js";
import type { Directory, Kind, Match } from "./directory.js";
import { createRequestFacts, type NamedRequest, type RequestFacts } from "./request-facts.js";
import { folded } from "./search.js";

/** Names of things, and facts about vote requests. All names are untrusted text. */
export interface Names extends RequestFacts {
  /** Name of the coin's unit, for texts that the renderer does not see, such as files. */
  readonly coin: string;
  /** Returns a party's name from the lists of validators and parties. null if unknown. */
  party(id: string): string | null;
  /** Returns the name for a party or voter. An id is replaced by the party's name, or shortened if the name is unknown. */
  called(idOrName: string): string;
  /**
   * Like `called`. If another party has the same name as this one, a fingerprint of the id is appended, as in
   * "Acme (1220ab…cdef)".
   * @param most maximum length in UTF-16 units. The name is cut, not the fingerprint
   */
  distinct(idOrName: string, most?: number): string;
  /**
   * Returns a descriptive name of a vote request, such as "Feature Delta Labs". Its title is often the action's constructor,
   * which states only the kind of action. If other requests have the same name, its requester or its date is appended.
   * @param most maximum length in UTF-16 units. The name is cut, and what is appended if it takes more than half
   */
  voteRequest(request: NamedRequest, most?: number): string;
  /**
   * Returns the words that distinguish the vote requests of a name from each other, by their identity.
   * @param identity the only one that is needed
   */
  marksOf(name: string, identity?: string): ReadonlyMap<string, string>;
  /** Returns the things that are shown as this text, ignoring case: by name, with or without its mark, or by id. */
  named(kinds: readonly Kind[], text: string): readonly Match[];
  /** Returns the name of a vote request as if no other had the same. */
  ownName(request: NamedRequest): string;
  /** Returns the times of a vote request that only the bot has seen. Empty if there is none. */
  seenOf(
    identity: string | null,
  ): Pick<Standable, "enoughYesAt" | "hasExpired" | "closed"> & { readonly openedAt?: number | undefined };
  /**
   * Adds what only the bot has seen to a vote request from the explorer: its times, and that it has ended. The details of one that is no
   * longer listed may still call it open.
   */
  withSeen(request: VoteRequest, id: string): VoteRequest;
  /** True if a voter was no longer a super validator when all voters were last read. */
  isFormer(voter: Voter): boolean;
}

interface NamesDeps {
  readonly directory: Directory;
  /** Explorer for background work. Details of any age are good enough, because a request's action never changes. */
  readonly explorer: Explorer;
  readonly state: State;
  readonly log: Pick<Log, "warn">;
  readonly coin?: string | undefined;
}

const dayFormat = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });

/** Returns the day and the minute when a vote request was opened, in UTC. */
const dayOf = ({ openedAt }: NamedEntry) => (openedAt === undefined ? undefined : dayFormat.format(openedAt));
const timeOf = (entry: NamedEntry) =>
  entry.openedAt === undefined
    ? undefined
    : `${dayOf(entry)}, ${new Date(entry.openedAt).toISOString().slice(11, 16)}`;

/** Matches a name with a mark in parentheses after it. */
const MARKED = /^(.+) \([^()]+(?:\([^()]*\))?\)$/;

/** Name of a request without a title and an action. */
const NAMELESS = "Vote request without a title";

/** True if a title says at most the kind of a request, or comes from the directory before its detail was read. */
const saysNothing = (title: string | null): boolean => title === NAMELESS || isGeneric(title);

/** Creates names from the directory and from the vote requests' details. */
export function createNames({ directory, explorer, state, log, coin = DEFAULT_COIN }: NamesDeps): Names {
  const calledBy = (id: string): string => (directory.nameOf(id) === null ? hintOf(id) : names.distinct(id));

  // Names are searched and compared, so they contain the coin's unit and not its placeholder.
  const namedBy = (summary: ActionSummary): string => withCoin(summaryText(summary, calledBy), coin);

  const ownName = ({ identity, title, action }: NamedRequest): string => {
    if (title !== null && !saysNothing(title)) return title;
    const knownSummary = identity === null ? null : facts.summaryOf(identity);
    const summary = action?.summary ?? knownSummary;
    if (summary) return namedBy(summary);
    return (title === NAMELESS ? null : toTitle(title)) ?? action?.words ?? NAMELESS;
  };

  const facts = createRequestFacts({ directory, explorer, state, log, ownName });

  const about = ({ id }: NamedEntry) => {
    const summary = facts.summaryOf(id);
    return summary ? namedBy(summary) : undefined;
  };

  const names: Names = {
    ...facts,
    coin,
    party: directory.nameOf,

    distinct(id, most = Number.POSITIVE_INFINITY) {
      const name = directory.nameOf(id);
      if (name === null) return cut(names.called(id), most);
      const namesakes = (["validator", "party"] as const).flatMap((kind) => directory.namesakes(kind, name));
      const mark = namesakes.some((entry) => entry.id !== id) ? ` (${fingerprint(id)})` : "";
      return cut(name, most - mark.length) + mark;
    },

    called: (name) => directory.nameOf(name) ?? (isWholeId(name) ? shortId(name) : name),

    voteRequest(request, most = Number.POSITIVE_INFINITY) {
      const name = names.ownName(request);
      const mark =
        request.identity === null ? undefined : names.marksOf(name, request.identity).get(request.identity);
      // A requester's name may be as long as a title.
      const ending = mark === undefined ? "" : ` (${cut(mark, Math.floor(most / 2))})`;
      return cut(name, most - ending.length) + ending;
    },

    marksOf(name, identity) {
      const knownProposal = identity === undefined ? undefined : directory.entry("proposal", identity);
      const others = directory.namesakes("proposal", name).filter(({ id }) => id !== knownProposal?.id);
      const namesakes = knownProposal ? [...others, knownProposal] : others;
      const marks = new Map<string, string>();
      const isFound = () => (identity === undefined ? marks.size === namesakes.length : marks.has(identity));
      for (const describe of [(each: NamedEntry) => each.requester, dayOf, timeOf, about]) {
        if (namesakes.length < 2 || isFound()) break;
        const values = new Map(namesakes.map((each) => [each.id, describe(each)]));
        const repeated = repeatedIn([...values.values()]);
        for (const [id, value] of values)
          if (value !== undefined && !repeated.has(value) && !marks.has(id)) marks.set(id, value);
      }
      return marks;
    },

    named(kinds, text) {
      const plainMatches = directory.named(kinds, text);
      const bareName = MARKED.exec(text.trim())?.[1];
      if (plainMatches.length > 0 || bareName === undefined) return plainMatches;
      const marks = names.marksOf(bareName);
      const wanted = folded(text.trim());
      return directory.named(kinds, bareName).filter(({ entry: { id, name } }) => {
        const mark = marks.get(id);
        return mark !== undefined && folded(`${name} (${mark})`) === wanted;
      });
    },

    ownName,

    seenOf(identity) {
      const entry = identity === null ? undefined : directory.entry("proposal", identity);
      const { enoughYesAt, hasExpired, closed, openedAt } = entry ?? {};
      return { enoughYesAt, hasExpired, closed, openedAt };
    },

    withSeen(request, id) {
      const identity = request.identity ?? id;
      const entry = directory.entry("proposal", identity);
      // Only a row of the list has a title.
      const isGone = entry?.goneAt !== undefined && request.title === null && !isOver(request, Date.now());
      const seen = { ...request, ...names.seenOf(identity) };
      return isGone ? { ...seen, isGone, title: entry.name } : seen;
    },

    isFormer: (voter) => directory.entry("voter", voterId(voter))?.active === false,
  };
  return names;
}
