import type { ListName, ListRow, Parameters } from "../../src/explorer/endpoints.js";
import { REACHABLE_ROWS, ROWS_PER_REQUEST } from "../../src/explorer/paging.js";
import { toId, toRecord } from "../../src/explorer/values.js";
import { votesIn } from "../../src/ledger/votes.js";
import { type Ask, type Exchange, isAnswered, isTelling } from "./ask.js";
import {
  countsOf,
  FIRST_AGAIN,
  lastPageMissing,
  lastPageOf,
  orderOf,
  pagesMissing,
  pagingOf,
  reachOf,
  rowsOf,
  totalsOf,
} from "./lists.js";
import type { Observation } from "./observation.js";

/** An id that does not exist. */
const NOBODY = `nobody::1220${"0".repeat(64)}`;

/** Maximum number of ids of a kind that are tried. */
const MAX_TRIED = 3;

const FIRST = { page: 0, size: ROWS_PER_REQUEST } as const;
const SMALL = { page: 1, size: 5 } as const;

const totalOf = (exchange: Exchange): number => {
  const { elements, count } = countsOf(exchange);
  return Math.max(elements ?? 0, count ?? 0);
};

/** Options of a walk. */
interface WalkOptions {
  readonly ask: Ask;
  /** Contract id of a token. If `undefined`, one is searched for among the newest contracts. */
  readonly tokenId: string | undefined;
}

/** Requests every endpoint, about 40 requests, and yields findings that need more than one answer. */
export async function* walk({ ask, tokenId }: WalkOptions): AsyncGenerator<Observation> {
  const first = await ask("dashboard", {});
  // A rejected key is rejected everywhere, and more requests may get it blocked.
  if (first.outcome === "refused") return;
  const second = await ask("price", {});
  // If both fail, all other requests would fail too and only take time.
  if (!isTelling(first) && !isTelling(second)) return;
  /** A list with more rows than can be reached. */
  let longer: ListName | undefined;

  /** Reads the first and last page of a list with documented parameters. */
  const readList = async <Name extends ListName>(
    name: Name,
    parametersOf: (page: number) => Parameters<Name>,
    rankOf: (row: ListRow<Name>) => number | null,
  ) => {
    const first = await ask(name, parametersOf(0));
    const total = totalOf(first);
    const lastPage = lastPageOf(total, countsOf(first).sent);
    const last = isAnswered(first) && lastPage > 0 ? await ask(name, parametersOf(lastPage)) : undefined;
    const order = orderOf(name, first, rankOf);
    const cut = pagesMissing(name, first, last);
    if (cut.length > 0) return { rows: rowsOf(name, first), observations: [...order, ...cut] };
    const unreached = lastPageMissing(name, total, last);
    if (last && total > REACHABLE_ROWS && unreached.length === 0) longer ??= name;
    return {
      rows: rowsOf(name, first),
      observations: [...order, ...totalsOf(name, first, last), ...unreached],
    };
  };
  const paged = (page: number) => ({ page, size: ROWS_PER_REQUEST, orderBy: "DESC" as const });
  /** Requests a thing by its id. Tries a few, because a listed thing may have been deleted. */
  const askFirst = async (ids: readonly (string | null)[], askFor: (id: string) => Promise<Exchange>) => {
    for (const id of ids.filter((each) => each !== null).slice(0, MAX_TRIED))
      if (isAnswered(await askFor(id))) return;
  };

  const validators = await readList("validators", paged, (row) => row.lastActiveAt);
  yield* validators.observations;
  await ask("newValidators", { size: 10 });
  const validatorIds = validators.rows.map(({ validator }) => validator);
  await askFirst(validatorIds, (validatorId) => ask("validator", { validatorId }));
  await askFirst(validatorIds, (validatorId) => ask("validatorExists", { validatorId }));
  yield* await checkMissing(ask);

  const byActivity = (page: number) => ({ ...paged(page), sortBy: "LAST_ACTIVITY_AT" as const });
  const parties = await readList("parties", byActivity, (row) => row.lastSeen);
  yield* parties.observations;
  yield* (await readList("topParties", paged, (row) => (row.balance === null ? null : Number(row.balance))))
    .observations;
  const partyIds = parties.rows.map(({ partyAddress }) => partyAddress);
  await askFirst(partyIds, (partyId) => ask("party", { partyId }));
  await askFirst(partyIds, (partyId) => ask("partyTypes", { partyId }));
  yield* (await readList("transfers", paged, (row) => row.createdAt)).observations;
  // The party with the highest rewards has the most pages of them.
  const [rewarded] = [...validators.rows].sort((x, y) => Number(y.totalRewards) - Number(x.totalRewards));
  const partyId = rewarded?.validator ?? partyIds.find((id) => id !== null);
  if (partyId) yield* await readUndocumented(ask, "rewards", (page) => ({ partyId, ...page }));
  yield* await readGovernance(ask);

  const contracts = await readList("contracts", paged, (row) => row.createdAt);
  yield* contracts.observations;
  const contractIds = contracts.rows.map((row) => row.contractId);
  await askFirst(contractIds, (contractId) => ask("contract", { contractId }));
  yield* await readToken(ask, tokenId, contracts.rows);
  const events = await readList("events", paged, (row) => row.createdAt);
  yield* events.observations;
  const eventIds = events.rows.map((row) => row.eventId);
  await askFirst(eventIds, (eventId) => ask("event", { eventId }));
  const updates = await readList("updates", paged, (row) => row.recordTime);
  yield* updates.observations;
  const updateIds = updates.rows.map((row) => row.updateId);
  await askFirst(updateIds, (updateId) => ask("updateDetails", { updateId }));

  if (longer) {
    const page = REACHABLE_ROWS / ROWS_PER_REQUEST;
    // All lists with documented parameters accept these.
    yield* reachOf(longer, await ask(longer as "parties", { page, size: ROWS_PER_REQUEST }));
  }
}

/** Reads a list without documented parameters: rewards, vote requests or votes. */
async function readUndocumented<Name extends "rewards" | "voteRequests" | "votes">(
  ask: Ask,
  name: Name,
  parametersOf: (page: { page: number; size: number }) => Parameters<Name>,
  first?: Exchange,
): Promise<Observation[]> {
  const whole = first ?? (await ask(name, parametersOf(FIRST)));
  if (!isAnswered(whole)) return [];
  const small = await ask(name, parametersOf(SMALL));
  const page = lastPageOf(totalOf(whole), countsOf(whole).sent);
  const last = page > 0 ? await ask(name, parametersOf({ page, size: ROWS_PER_REQUEST })) : undefined;
  const paging = pagingOf(name, whole, small, last);
  // If every page is the first one, there is no last page to conclude from.
  const isPaged = !paging.some(({ detail }) => detail === FIRST_AGAIN);
  return [...paging, ...totalsOf(name, whole, isPaged ? last : undefined)];
}

/** Reads the vote requests, their votes, and the details of one by both of its ids. */
async function readGovernance(ask: Ask): Promise<Observation[]> {
  const first = await ask("voteRequests", FIRST);
  const found = [
    ...(await readUndocumented(ask, "voteRequests", (page) => page, first)),
    ...(await readUndocumented(ask, "votes", (page) => page)),
  ];
  const rows = rowsOf("voteRequests", first).filter(({ contractId }) => contractId !== null);
  // A request with votes has two ids.
  const row =
    rows.find(({ contractId, trackingCid }) => trackingCid !== null && trackingCid !== contractId) ?? rows[0];
  if (!row?.contractId) return found;
  const byContract = await ask("voteRequest", { id: row.contractId });
  const other = row.trackingCid !== null && row.trackingCid !== row.contractId ? row.trackingCid : undefined;
  const byTracking = other === undefined ? undefined : await ask("voteRequest", { id: other });
  const isOneAnswered = isAnswered(byContract) || (byTracking !== undefined && isAnswered(byTracking));
  if (!isOneAnswered && ![byContract, byTracking].some((each) => each && isTelling(each))) return found;
  found.push({
    endpoint: "voteRequest",
    result: isOneAnswered ? "pass" : "fail",
    detail: idWords(byContract, byTracking),
    ...(isOneAnswered ? {} : { meaning: "What a vote request changes, and why, is not shown." }),
  });
  const detail = [byContract, byTracking].find((each) => each !== undefined && isAnswered(each));
  if (detail && (row.yesCount ?? 0) + (row.noCount ?? 0) > 0) {
    const votes = votesIn(toRecord(detail.json)?.rawPayload);
    found.push(
      votes !== null && votes.length > 0
        ? { endpoint: "voteRequest", result: "pass", detail: `rawPayload holds ${votes.length} votes` }
        : {
            endpoint: "voteRequest",
            result: "warn",
            path: "$.rawPayload.votes",
            detail: "holds no votes of a request that has some",
            meaning: "Who voted is read from the list of votes, which may lag behind and has no times.",
          },
    );
  }
  return found;
}

/** Describes the answers for both ids. A rate limit or a failure is a status like others. */
function idWords(byContract: Exchange, byTracking: Exchange | undefined): string {
  const words = ({ outcome, status }: Exchange) =>
    outcome === "answered" ? "answered" : (status ?? outcome);
  if (!byTracking) return `by contract id: ${words(byContract)}; no request has another id to try`;
  return `by contract id: ${words(byContract)}; by tracking id: ${words(byTracking)}`;
}

/**
 * Checks the answer for a validator that does not exist. No finding if the explorer fails for another reason.
 */
async function checkMissing(ask: Ask): Promise<Observation[]> {
  const exists = await ask("validatorExists", { validatorId: NOBODY }, true);
  const missing = await ask("validator", { validatorId: NOBODY }, true);
  const found: Observation[] = [];
  const answer = JSON.stringify(exists.json)?.slice(0, 40);
  if (isAnswered(exists) && exists.json !== false)
    found.push({
      endpoint: "validatorExists",
      result: "warn",
      detail: `for an id that names nothing: ${answer}`,
      ...(answer === undefined ? {} : { word: answer }),
      meaning: "A validator that is gone is not told from one that cannot be read.",
    });
  else if (isAnswered(exists) || exists.outcome === "missing")
    found.push({
      endpoint: "validatorExists",
      result: "pass",
      detail: `for an id that names nothing: ${answer ?? exists.status}`,
    });
  if (isAnswered(missing))
    found.push({
      endpoint: "validator",
      result: "warn",
      detail: "for an id that names nothing: 200 instead of 404",
      meaning: "An id that was not copied whole is shown as a validator of which nothing is known.",
    });
  return found;
}

async function readToken(
  ask: Ask,
  tokenId: string | undefined,
  contracts: readonly ListRow<"contracts">[],
): Promise<Observation[]> {
  const found = contracts.find(({ templateId }) => /InstrumentConfiguration|:Token\b/.test(templateId ?? ""));
  const contractId = toId(tokenId) ?? found?.contractId;
  if (!contractId)
    return [
      {
        endpoint: "token",
        result: "unasked",
        detail: "not asked: no token is among the newest contracts (name one with --token CONTRACT_ID)",
      },
    ];
  await ask("token", { contractId });
  return [];
}
