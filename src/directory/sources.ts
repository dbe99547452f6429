import { ifAnswered } from "../explorer/errors.js";
import { readPagesOf } from "../explorer/paging.js";
import type { VoteRequestListItem } from "../explorer/schema/governance.js";
import { distinct } from "../explorer/schema/page.js";
import type { ValidatorSummary } from "../explorer/schema/validators.js";
import type { Explorer } from "../explorer/service.js";
import { readFormer } from "../ledger/missing-votes.js";
import { identityOf } from "../ledger/vote-requests.js";
import { voterId, votersIn } from "../ledger/votes.js";
import { isPartyId } from "../text/ids.js";
import { ageOf } from "../util/clock.js";
import { DAY, MINUTE } from "../util/units.js";
import type { NamedEntry } from "./collections.js";
import type { Kind } from "./directory.js";
import { listedIn, proposalEntry, validatorEntry } from "./entries.js";
import type { Names } from "./names.js";

/** Result of reading a list. */
interface Listed {
  readonly entries: readonly NamedEntry[];
  /** The listed vote requests, so that their details can be read. */
  readonly requests?: readonly VoteRequestListItem[];
  /** True if every page was read, even if some rows could not be parsed. */
  readonly whole: boolean;
  /** Time of the oldest page, which may come from the cache, epoch ms. */
  readonly fetchedAt: number;
}

/** Input of a source. */
interface ListReading {
  readonly explorer: Explorer;
  /** The explorer without answers from the cache. */
  readonly newest: Explorer;
  readonly names: Names;
  /** True if reading must stop before the next page. */
  readonly ended: () => boolean;
  /** Entries of the previous reading. */
  readonly known: readonly NamedEntry[];
}

type Source = (deps: ListReading) => Promise<Listed>;

/**
 * Time for which a vote request that the explorer no longer lists is remembered, in ms. Its details may still call it open, and only the
 * bot knows that it has ended.
 */
const GONE_MS = 30 * DAY;

/** Number of pages of votes that are read to find the super validators. */
const MAX_VOTE_PAGES = 3;

/**
 * Sources of each kind, with their intervals in ms. Each page costs a request. There is no list of tokens, so the tokens that
 * people have viewed are stored instead.
 */
export const SOURCES: Readonly<Partial<Record<Kind, { readonly everyMs: number; readonly read: Source }>>> = {
  validator: {
    everyMs: 30 * MINUTE,
    async read({ explorer, newest, ended }) {
      const { data, problem, fetchedAt } = await readPagesOf(explorer, "validators", ended);
      const reportedAt = new Map(data.map(({ validator, lastActiveAt }) => [validator, lastActiveAt]));
      const isListed = ({ validator }: ValidatorSummary) => reportedAt.has(validator);
      const isUnmoved = (row: ValidatorSummary) => reportedAt.get(row.validator) === row.lastActiveAt;
      // The latest reports come first, so validators that reported meanwhile have moved from unread pages to the first ones.
      const reread = ended()
        ? undefined
        : await ifAnswered(readPagesOf(newest, "validators", (rows) => ended() || rows.some(isUnmoved)));
      const moved = reread?.data.filter((row) => !isListed(row)) ?? [];
      return {
        whole: problem === undefined,
        entries: [...data, ...moved].flatMap(validatorEntry),
        fetchedAt,
      };
    },
  },
  proposal: {
    everyMs: 10 * MINUTE,
    async read({ explorer, ended, names, known }) {
      const { data, problem, fetchedAt } = await readPagesOf(explorer, "voteRequests", ended);
      const entries = data.flatMap((row) => {
        const identity = identityOf(row);
        return identity === null ? [] : [proposalEntry(listedIn(row, identity), identity, names, Date.now())];
      });
      const listed = new Set(entries.map(({ id }) => id));
      const goneEntries = known.filter(
        ({ id, goneAt = 0 }) => !listed.has(id) && ageOf(goneAt, Date.now()) < GONE_MS,
      );
      return {
        whole: problem === undefined,
        // An empty list must not leave only those.
        entries: entries.length > 0 ? [...entries, ...goneEntries] : [],
        requests: data,
        fetchedAt,
      };
    },
  },
  voter: {
    everyMs: 60 * MINUTE,
    async read({ explorer, ended, names, known }) {
      const { data, problem, fetchedAt } = await readPagesOf(explorer, "votes", ended, MAX_VOTE_PAGES);
      const voters = votersIn(data);
      const absent = known
        .filter(
          ({ id, name }) =>
            isPartyId(id) && !voters.some((each) => voterId(each) === id || each.name === name),
        )
        .map(({ id, name }) => ({ name: name ?? id, aliases: [id] }));
      const former = await readFormer(explorer, [...voters, ...absent], names.isFormer);
      // A super validator that is down does not vote either, and is still one. A former one is forgotten with its votes.
      const entries = [...voters, ...absent.filter((each) => !former.includes(each))].map((voter) => ({
        id: voterId(voter),
        // Voters that share a name are called by their parties (`votersIn`), which are shown shortened.
        name: isPartyId(voter.name) ? null : voter.name,
        active: former.includes(voter) ? false : null,
      }));
      return { whole: problem === undefined, entries, fetchedAt };
    },
  },
  party: {
    everyMs: 6 * 60 * MINUTE,
    async read({ explorer, ended }) {
      const activeParties = await readPagesOf(explorer, "parties", ended);
      // The largest parties, which may not have been active lately, are one more page. If it fails, use the others without it.
      const top = await explorer.topParties({ page: 0, size: 100 }).then(
        ({ data }) => data.content,
        () => [],
      );
      // A list that is empty must not leave only the largest parties.
      const rows = activeParties.data.length > 0 ? [...activeParties.data, ...top] : [];
      const entries = rows.flatMap(({ partyAddress: id, partyName: name }) =>
        id === null ? [] : [{ id, name, active: null }],
      );
      const isComplete = activeParties.problem === undefined;
      const { fetchedAt } = activeParties;
      return { whole: isComplete, entries: distinct(entries, ({ id }) => id), fetchedAt };
    },
  },
};
