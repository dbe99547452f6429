import { ExplorerError, ifAnswered } from "../explorer/errors.js";
import { readPages } from "../explorer/paging.js";
import type { Vote, VoteRequestDetail, VoteRequestListItem } from "../explorer/schema/governance.js";
import type { Explorer, Reading } from "../explorer/service.js";
import { withTimeout } from "../util/timeouts.js";
import { type Action, isConstructor, toAction } from "./actions.js";
import type { Tally } from "./vote-rules.js";
import { type CastVote, votesIn } from "./votes.js";

/**
 * What identifies a vote request while each vote archives and recreates it: its tracking id, which is null on the
 * first version and holds that version's contract id from then on.
 */
export function identityOf(
  row: Pick<VoteRequestListItem | VoteRequestDetail, "trackingCid" | "contractId">,
): string | null {
  return row.trackingCid ?? row.contractId;
}

/** How many have voted, and have not, as a list's row says. */
export const tallyIn = ({
  yesCount: yes,
  noCount: no,
  abstainCount: pending,
}: VoteRequestListItem): Tally => ({
  yes,
  no,
  pending,
});

/** A vote request as its list row and its detail tell of it together. */
export interface VoteRequest {
  /** What stays the same while each vote recreates the request; null only where the explorer sends no id at all. */
  readonly identity: string | null;
  readonly contractId: string | null;
  /** Every id that is known of it: a vote may name any of them. */
  readonly ids: readonly string[];
  /** As the explorer gives it: often the action's constructor. What people are shown is its name (src/directory/names.ts). */
  readonly title: string | null;
  readonly action: Action;
  readonly status: string | null;
  /** A super validator's name or party id. */
  readonly requester: string | null;
  readonly requesterName: string | null;
  readonly requesterImg: string | null;
  readonly createdAt: number | null;
  /** The threshold deadline, epoch ms. */
  readonly voteBefore: number | null;
  readonly targetEffectiveAt: number | null;
  readonly yes: number | null;
  readonly no: number | null;
  /** Those who have not voted yet: the ledger knows no abstention. */
  readonly pending: number | null;
  readonly reasonUrl: string | null;
  readonly reasonBody: string | null;
  /** Its votes as the contract itself has them; null where the explorer does not give it. */
  readonly votes: readonly CastVote[] | null;
  /** Whether its detail was read, without which its action is not known; "unanswered": it may be there. */
  readonly detail: "read" | "none" | "unanswered";
}

/** Makes one of a row, a detail or both; `rowFirst` where the row is the newer. */
export function fromExplorer(
  row: VoteRequestListItem | null,
  detail: VoteRequestDetail | null,
  rowFirst = false,
): VoteRequest {
  const pick = <Key extends keyof VoteRequestListItem & keyof VoteRequestDetail>(key: Key) =>
    (rowFirst ? (row?.[key] ?? detail?.[key]) : (detail?.[key] ?? row?.[key])) ?? null;
  const title = row?.title ?? null;
  const ids = [row?.trackingCid, row?.contractId, detail?.trackingCid, detail?.contractId];
  const action = toAction(detail?.actionConfig ?? (isConstructor(title) ? title : null));
  return {
    identity: (row && identityOf(row)) ?? (detail && identityOf(detail)),
    contractId: pick("contractId"),
    ids: [...new Set(ids.flatMap((id) => id ?? []))],
    title,
    action,
    status: pick("status"),
    requester: pick("requester"),
    requesterName: pick("requesterName"),
    requesterImg: pick("requesterImg"),
    createdAt: pick("createdAt"),
    voteBefore: pick("voteBefore"),
    targetEffectiveAt: pick("targetEffectiveAt"),
    yes: pick("yesCount"),
    no: pick("noCount"),
    pending: pick("abstainCount"),
    reasonUrl: detail?.reasonUrl ?? null,
    reasonBody: detail?.reasonBody ?? null,
    votes: detail && votesIn(detail.rawPayload),
    detail: detail ? "read" : "none",
  };
}

const matches = (row: VoteRequestListItem, id: string): boolean =>
  row.contractId === id || row.trackingCid === id;

/**
 * A request's detail. Whether `/details` wants the contract id or the tracking id is not known: both are tried. Undefined
 * where neither is known there.
 * @throws {ExplorerError} where one of them was not answered
 */
export async function readDetail(
  explorer: Explorer,
  { contractId, trackingCid }: Pick<VoteRequestListItem, "contractId" | "trackingCid">,
): Promise<VoteRequestDetail | undefined> {
  for (const id of new Set([contractId, trackingCid])) {
    const found = id === null ? undefined : await orError(explorer.voteRequest({ id }));
    if (found instanceof ExplorerError) {
      if (found.problem !== "missing" && found.problem !== "rejected") throw found;
    } else if (found) return found.data;
  }
  return undefined;
}

/** A reading, or why there is none. */
async function orError<T>(reading: Promise<T>): Promise<T | ExplorerError> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof ExplorerError) return error;
    throw error;
  }
}

/** Pages of the list read at the most for one request. */
const MAX_LIST_PAGES = 6;
/** The detail is fetched by the id at hand where the list takes longer than this, in ms. */
const LIST_MS = 1_000;

/**
 * A vote request by any id it has had. Whether `/details` wants the contract id or the tracking id is not known: both
 * are tried, the latest contract id first, and the list's row does where none is answered. Of the two, the newer tells
 * the tally and the status: the list is read anyway, and what the detail adds does not change with a vote.
 * @throws {ExplorerError} "missing" where nothing has that id
 */
export async function findVoteRequest(explorer: Explorer, id: string): Promise<Reading<VoteRequest>> {
  const listing = orError(
    readPages(
      "voteRequests",
      (page) => explorer.voteRequests(page),
      (rows) => rows.some((row) => matches(row, id)),
      MAX_LIST_PAGES,
    ),
  );
  // A list that is slow does not cost the detail: a person waits for both together.
  const early = await withTimeout(listing, LIST_MS, () => undefined);
  const first = early ? undefined : orError(explorer.voteRequest({ id }));
  first?.catch(() => {});
  const list = early ?? (await listing);
  const row = list instanceof ExplorerError ? null : (list.data.find((each) => matches(each, id)) ?? null);
  const listed = row === null || list instanceof ExplorerError ? undefined : list;
  const ids = new Set([row?.contractId ?? id, id, row?.trackingCid ?? id]);
  const errors = list instanceof ExplorerError ? [list] : [];
  let detail: Reading<VoteRequestDetail> | undefined;
  for (const each of ids) {
    const found = await ((each === id ? first : undefined) ?? orError(explorer.voteRequest({ id: each })));
    if (found instanceof ExplorerError) errors.push(found);
    else if (!detail || !found.problem) detail = found;
    // One kept from before will do only where no other id is answered.
    if (detail && !detail.problem) break;
  }
  const newer = listed && detail && listed.fetchedAt > detail.fetchedAt ? listed : (detail ?? listed);
  // That neither knows it counts only where both could be looked at.
  const unanswered = errors.find(({ problem }) => problem !== "missing" && problem !== "rejected");
  if (!newer) throw unanswered ?? new ExplorerError("missing", "No vote request has that id");
  const request = fromExplorer(row, detail?.data ?? null, newer === listed);
  return {
    ...newer,
    data: unanswered && !detail ? { ...request, detail: "unanswered" } : request,
  };
}

/** Pages of votes read at the most for one request: the endpoint lists those of every request, the newest first. */
const MAX_VOTE_PAGES = 10;

/**
 * The votes on one request, as far as they are found: `complete` once there are as many as the tally counts. Those of the
 * contract itself are exact; `/votes` lists those of every request.
 */
export async function findVotes(
  explorer: Explorer,
  { data: request, ...read }: Reading<VoteRequest>,
): Promise<Reading<readonly CastVote[]> & { readonly complete: boolean }> {
  const cast = request.yes === null || request.no === null ? undefined : request.yes + request.no;
  if (request.votes && request.votes.length >= (cast ?? 0))
    return { ...read, data: request.votes, complete: true };
  const own = (rows: readonly Vote[]) =>
    rows.filter(({ trackingCid }) => trackingCid !== null && request.ids.includes(trackingCid));
  const reading = await readPages(
    "votes",
    (page) => explorer.votes(page),
    (rows) => cast !== undefined && own(rows).filter((row) => row.accept !== null).length >= cast,
    MAX_VOTE_PAGES,
  );
  const votes = own(reading.data);
  const found = votes.filter((row) => row.accept !== null).length;
  return {
    ...reading,
    data: votes.map((vote) => ({ ...vote, castAt: null })),
    complete: cast === undefined ? reading.complete : found >= cast,
  };
}

/** How many super validators there are, as the dashboard counts them; undefined where that is not known. */
export async function countSuperValidators(explorer: Explorer): Promise<number | undefined> {
  return (await ifAnswered(explorer.dashboard({})))?.data.totalSuperValidators ?? undefined;
}
