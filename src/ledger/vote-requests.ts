import { ExplorerError, ifAnswered, isUnknown } from "../explorer/errors.js";
import { readPagesOf } from "../explorer/paging.js";
import type { Vote, VoteRequestDetail, VoteRequestListItem } from "../explorer/schema/governance.js";
import type { Explorer, Reading } from "../explorer/service.js";
import { toRecord } from "../explorer/values.js";
import { withTimeout } from "../util/timeouts.js";
import { type Action, isConstructor, toAction } from "./actions.js";
import type { Standable } from "./vote-phase.js";
import { readableDate, type Tally } from "./vote-rules.js";
import { type CastVote, votesIn } from "./votes.js";

/**
 * Returns the identity of a vote request: its tracking id. It stays the same, although each vote archives and recreates the
 * contract. The first version has no tracking id. On later versions, it is the contract id of the first version.
 */
export function identityOf(
  row: Pick<VoteRequestListItem | VoteRequestDetail, "trackingCid" | "contractId">,
): string | null {
  return row.trackingCid ?? row.contractId;
}

/**
 * Returns when a row's request was opened, epoch ms. null if the row does not say: each vote makes a new contract, and the time of a
 * later one may be that of the vote.
 */
export const openedAtIn = ({
  trackingCid,
  contractId,
  createdAt,
}: Pick<VoteRequestListItem, "trackingCid" | "contractId" | "createdAt">): number | null =>
  trackingCid === null || trackingCid === contractId ? createdAt : null;

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

/** A vote request, combined from its list row and its detail. */
export interface VoteRequest extends Standable {
  /** The id that stays the same while votes recreate the request; null only if the explorer sends no id. */
  readonly identity: string | null;
  readonly contractId: string | null;
  /** All its known ids. A vote may contain any of them. */
  readonly ids: readonly string[];
  /** Title from the explorer, often the action's constructor. People see the request's name instead (src/directory/names.ts). */
  readonly title: string | null;
  readonly action: Action;
  /** A super validator's name or party id. */
  readonly requester: string | null;
  readonly requesterName: string | null;
  readonly requesterImg: string | null;
  /** When it was opened, epoch ms. null if unknown. */
  readonly createdAt: number | null;
  readonly reasonUrl: string | null;
  readonly reasonBody: string | null;
  /** Votes from the contract itself. null if the explorer does not return it. */
  readonly votes: readonly CastVote[] | null;
  /** State of the detail, which contains the action. "unanswered" means that there may be one. */
  readonly detail: "read" | "none" | "unanswered";
}

/** Returns the action in a detail: from `actionConfig`, or else from the contract. */
export function actionIn({
  actionConfig,
  rawPayload,
  createdAt = null,
}: Pick<VoteRequestDetail, "actionConfig" | "rawPayload"> &
  Partial<Pick<VoteRequestDetail, "createdAt">>): Action {
  const action = toAction(actionConfig, createdAt);
  return action.tag === null && rawPayload !== null
    ? toAction(toRecord(rawPayload)?.action ?? actionConfig, createdAt)
    : action;
}

/** Returns the earliest of the known times, epoch ms. null if none is known. */
export function earliest(...times: readonly (number | null)[]): number | null {
  const known = times.filter((at) => at !== null);
  return known.length > 0 ? Math.min(...known) : null;
}

/** Returns the time of the first vote, epoch ms: the requester's own, which comes with the request. null without votes. */
export const firstVoteAt = (votes: readonly CastVote[] | null): number | null =>
  earliest(...(votes ?? []).map(({ castAt }) => castAt));

/**
 * Creates a vote request from a list row, a detail or both.
 * @param rowFirst true if the row is newer than the detail
 */
export function fromExplorer(
  row: VoteRequestListItem | null,
  detail: VoteRequestDetail | null,
  rowFirst = false,
): VoteRequest {
  const pick = <Key extends keyof VoteRequestListItem & keyof VoteRequestDetail>(key: Key) =>
    (rowFirst ? (row?.[key] ?? detail?.[key]) : (detail?.[key] ?? row?.[key])) ?? null;
  const title = row?.title ?? null;
  const votes = detail && votesIn(detail.rawPayload);
  const openedAt = firstVoteAt(votes);
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
    // The first vote comes with the request. Without its time, only the first contract's time is known to be that of the opening.
    createdAt:
      openedAt === null
        ? earliest(row && openedAtIn(row), detail && openedAtIn(detail))
        : earliest(pick("createdAt"), openedAt),
    voteBefore: pick("voteBefore"),
    targetEffectiveAt:
      readableDate(pick("targetEffectiveAt")) ??
      readableDate(row?.targetEffectiveAt) ??
      readableDate(detail?.targetEffectiveAt) ??
      pick("targetEffectiveAt"),
    yes: pick("yesCount"),
    no: pick("noCount"),
    pending: pick("abstainCount"),
    reasonUrl: detail?.reasonUrl ?? null,
    reasonBody: detail?.reasonBody ?? null,
    votes,
    detail: detail ? "read" : "none",
  };
}

const matches = (row: VoteRequestListItem, id: string): boolean =>
  row.contractId === id || row.trackingCid === id;

/**
 * Returns a request's detail. It is unknown if `/details` expects the contract id or the tracking id, so both are tried.
 * `undefined` if neither is found.
 * @throws {ExplorerError} if the explorer does not answer, or fails for one of the ids and does not know the other
 */
export async function readDetail(
  explorer: Explorer,
  { contractId, trackingCid }: Pick<VoteRequestListItem, "contractId" | "trackingCid">,
): Promise<VoteRequestDetail | undefined> {
  let failure: ExplorerError | undefined;
  for (const id of new Set([contractId, trackingCid])) {
    const foundDetail = id === null ? undefined : await orError(explorer.voteRequest({ id }));
    if (foundDetail instanceof ExplorerError) {
      if (isUnknown(foundDetail)) continue;
      failure ??= foundDetail;
      // An explorer may answer 5xx to an id of the wrong kind.
      if (foundDetail.problem !== "failing" || foundDetail.status === undefined) break;
    } else if (foundDetail) return foundDetail.data;
  }
  if (failure) throw failure;
  return undefined;
}

/** Returns the reading, or the error if it fails. */
async function orError<T>(reading: Promise<T>): Promise<T | ExplorerError> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof ExplorerError) return error;
    throw error;
  }
}

/** Maximum number of pages of the list that are read for one request. */
const MAX_LIST_PAGES = 10;
/** Maximum time to wait for the list before the detail is fetched with the given id, in ms. */
const LIST_MS = 1_000;

/**
 * Finds a vote request by any of its ids. It is unknown if `/details` expects the contract id or the tracking id, so both are
 * tried, the latest contract id first. If there is no detail, the list row is used. The newer of the two provides the tally and
 * the status, since the list is read anyway and a vote does not change the rest of the detail.
 * @throws {ExplorerError} "missing" if no request has that id
 */
export async function findVoteRequest(explorer: Explorer, id: string): Promise<Reading<VoteRequest>> {
  const listing = orError(
    readPagesOf(explorer, "voteRequests", (rows) => rows.some((row) => matches(row, id)), MAX_LIST_PAGES),
  );
  // A slow list must not delay the detail, because a person waits for both together.
  const early = await withTimeout(listing, LIST_MS, () => undefined);
  const firstDetail = early ? undefined : orError(explorer.voteRequest({ id }));
  firstDetail?.catch(() => {});
  const list = early ?? (await listing);
  const row = list instanceof ExplorerError ? null : (list.data.find((each) => matches(each, id)) ?? null);
  const listedRow = row === null || list instanceof ExplorerError ? undefined : list;
  const ids = new Set([row?.contractId ?? id, id, row?.trackingCid ?? id]);
  const errors = list instanceof ExplorerError ? [list] : [];
  // The pages that could not be read may contain it.
  if (!(list instanceof ExplorerError) && row === null && list.problem)
    errors.push(new ExplorerError(list.problem, "The list of vote requests could not be read whole"));
  let detail: Reading<VoteRequestDetail> | undefined;
  for (const each of ids) {
    const foundDetail = await ((each === id ? firstDetail : undefined) ??
      orError(explorer.voteRequest({ id: each })));
    if (foundDetail instanceof ExplorerError) errors.push(foundDetail);
    else if (!detail || !foundDetail.problem) detail = foundDetail;
    // Use a cached detail only if no other id is answered.
    if (detail && !detail.problem) break;
  }
  const newer =
    listedRow && detail && listedRow.fetchedAt > detail.fetchedAt ? listedRow : (detail ?? listedRow);
  // The request is missing only if both sources answered.
  const unanswered = errors.find((error) => !isUnknown(error));
  if (!newer) throw unanswered ?? new ExplorerError("missing", "No vote request has that id");
  const request = fromExplorer(row, detail?.data ?? null, newer === listedRow);
  return {
    ...newer,
    data: unanswered && !detail ? { ...request, detail: "unanswered" } : request,
  };
}

/** Maximum number of pages of votes that are read for one request. The endpoint lists the votes of all requests, newest first. */
const MAX_VOTE_PAGES = 10;

/**
 * Returns the votes on a request, as far as they are found. `complete` is true if there are as many as in the tally. Votes from
 * the contract are exact, while `/votes` lists the votes of all requests.
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
  const reading = await readPagesOf(
    explorer,
    "votes",
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

/**
 * Returns the number of super validators on the dashboard. `undefined` if it is unknown.
 * @param patienceMs maximum wait for a person's screen, in ms. By default, it waits for the answer
 */
export async function countSuperValidators(
  explorer: Explorer,
  patienceMs?: number,
): Promise<number | undefined> {
  const answer = ifAnswered(explorer.dashboard({}));
  const reading = await (patienceMs === undefined
    ? answer
    : withTimeout(answer, patienceMs, () => undefined));
  return reading?.data.totalSuperValidators ?? undefined;
}
