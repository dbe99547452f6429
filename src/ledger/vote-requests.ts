import { ExplorerError, ifAnswered } from "../explorer/errors.js";
import { readPages } from "../explorer/paging.js";
import type { Vote, VoteRequestDetail, VoteRequestListItem } from "../explorer/schema/governance.js";
import type { Explorer, Reading } from "../explorer/service.js";
import { toRecord } from "../explorer/values.js";
import { withTimeout } from "../util/timeouts.js";
import { type Action, isConstructor, toAction } from "./actions.js";
import type { Closing, Tally } from "./vote-rules.js";
import { type CastVote, votesIn } from "./votes.js";

/**
 * Returns the identity of a vote request, which stays the same while each vote archives and recreates it: its tracking id. That
 * is null on the first version, and holds that version's contract id from then on.
 */
export function identityOf(
  row: Pick<VoteRequestListItem | VoteRequestDetail, "trackingCid" | "contractId">,
): string | null {
  return row.trackingCid ?? row.contractId;
}

/** Returns the tally in a row of the list. */
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
  /** The id that stays the same while votes recreate the request; null only if the explorer sends no id. */
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
  /** Super validators that have not voted yet. The ledger knows no abstention. */
  readonly pending: number | null;
  readonly reasonUrl: string | null;
  readonly reasonBody: string | null;
  /** Its votes as the contract itself has them; null if the explorer does not give it. */
  readonly votes: readonly CastVote[] | null;
  /** Since when enough votes are yes (epoch ms), and whether too few had voted in time, as far as the bot saw it. */
  readonly enoughYesAt?: number | undefined;
  readonly hasExpired?: boolean | undefined;
  /** True if the explorer no longer lists it and never stated how it ended. Its status is null then. */
  readonly isGone?: boolean | undefined;
  /** The span in which the bot saw it end; missing if it did not. */
  readonly closed?: Closing | undefined;
  /** State of its details, which contain the action. "unanswered" means that they may exist. */
  readonly detail: "read" | "none" | "unanswered";
}

/** Returns the action in a detail: its `actionConfig`, or the contract's own. */
export function actionIn({
  actionConfig,
  rawPayload,
}: Pick<VoteRequestDetail, "actionConfig" | "rawPayload">): Action {
  const action = toAction(actionConfig);
  return action.tag === null && rawPayload !== null
    ? toAction(toRecord(rawPayload)?.action ?? actionConfig)
    : action;
}

/** Makes one of a row, a detail or both; `rowFirst` if the row is the newer. */
export function fromExplorer(
  row: VoteRequestListItem | null,
  detail: VoteRequestDetail | null,
  rowFirst = false,
): VoteRequest {
  const pick = <Key extends keyof VoteRequestListItem & keyof VoteRequestDetail>(key: Key) =>
    (rowFirst ? (row?.[key] ?? detail?.[key]) : (detail?.[key] ?? row?.[key])) ?? null;
  const title = row?.title ?? null;
  const ids = [row?.trackingCid, row?.contractId, detail?.trackingCid, detail?.contractId];
  const detailAction = detail ? actionIn(detail) : null;
  const action =
    detailAction?.tag || !isConstructor(title) ? (detailAction ?? toAction(null)) : toAction(title);
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
 * @throws {ExplorerError} if one of them was not answered
 */
export async function readDetail(
  explorer: Explorer,
  { contractId, trackingCid }: Pick<VoteRequestListItem, "contractId" | "trackingCid">,
): Promise<VoteRequestDetail | undefined> {
  for (const id of new Set([contractId, trackingCid])) {
    const foundDetail = id === null ? undefined : await orError(explorer.voteRequest({ id }));
    if (foundDetail instanceof ExplorerError) {
      if (foundDetail.problem !== "missing" && foundDetail.problem !== "rejected") throw foundDetail;
    } else if (foundDetail) return foundDetail.data;
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
/** The detail is fetched by the id at hand if the list takes longer than this, in ms. */
const LIST_MS = 1_000;

/**
 * Finds a vote request by any of its ids. It is unknown if `/details` expects the contract id or the tracking id, so both are
 * tried, the latest contract id first. If none is answered, the list's row is used. The newer of both provides the tally and the
 * status, since the list is read anyway and a vote does not change the rest of the details.
 * @throws {ExplorerError} "missing" if no request has that id
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
  const firstDetail = early ? undefined : orError(explorer.voteRequest({ id }));
  firstDetail?.catch(() => {});
  const list = early ?? (await listing);
  const row = list instanceof ExplorerError ? null : (list.data.find((each) => matches(each, id)) ?? null);
  const listedRow = row === null || list instanceof ExplorerError ? undefined : list;
  const ids = new Set([row?.contractId ?? id, id, row?.trackingCid ?? id]);
  const errors = list instanceof ExplorerError ? [list] : [];
  let detail: Reading<VoteRequestDetail> | undefined;
  for (const each of ids) {
    const foundDetail = await ((each === id ? firstDetail : undefined) ??
      orError(explorer.voteRequest({ id: each })));
    if (foundDetail instanceof ExplorerError) errors.push(foundDetail);
    else if (!detail || !foundDetail.problem) detail = foundDetail;
    // One kept from before will do only if no other id is answered.
    if (detail && !detail.problem) break;
  }
  const newer =
    listedRow && detail && listedRow.fetchedAt > detail.fetchedAt ? listedRow : (detail ?? listedRow);
  // "Missing" counts only if both sources answered.
  const unanswered = errors.find(({ problem }) => problem !== "missing" && problem !== "rejected");
  if (!newer) throw unanswered ?? new ExplorerError("missing", "No vote request has that id");
  const request = fromExplorer(row, detail?.data ?? null, newer === listedRow);
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
  const castCount = request.yes === null || request.no === null ? undefined : request.yes + request.no;
  if (request.votes && request.votes.length >= (castCount ?? 0))
    return { ...read, data: request.votes, complete: true };
  const ownRows = (rows: readonly Vote[]) =>
    rows.filter(({ trackingCid }) => trackingCid !== null && request.ids.includes(trackingCid));
  const reading = await readPages(
    "votes",
    (page) => explorer.votes(page),
    (rows) =>
      castCount !== undefined && ownRows(rows).filter((row) => row.accept !== null).length >= castCount,
    MAX_VOTE_PAGES,
  );
  const votes = ownRows(reading.data);
  const foundCount = votes.filter((row) => row.accept !== null).length;
  return {
    ...reading,
    data: votes.map((vote) => ({ ...vote, castAt: null })),
    complete: castCount === undefined ? reading.complete : foundCount >= castCount,
  };
}

/** Returns the number of super validators on the dashboard; `undefined` if it is unknown. */
export async function countSuperValidators(explorer: Explorer): Promise<number | undefined> {
  return (await ifAnswered(explorer.dashboard({})))?.data.totalSuperValidators ?? undefined;
}
