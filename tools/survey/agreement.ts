import { parseAnswer } from "../../src/explorer/client.js";
import { toCount, toRecord } from "../../src/explorer/values.js";
import { isOpen } from "../../src/ledger/vote-rules.js";
import { type Exchange, isAnswered } from "./ask.js";
import { rowsOf } from "./lists.js";
import type { Observation } from "./observation.js";

/** Number of rows from which something follows if all of them disagree. */
const MIN_ROWS = 5;
const MIN_REQUESTS = 2;

/** Compares the answers about governance with each other. Each may be as documented, and still not fit the others. */
export const agreementOf = (exchanges: readonly Exchange[], now = Date.now()): readonly Observation[] => {
  const answered = exchanges.filter((each) => isAnswered(each) && !each.isProbe);
  const requests = answered
    .filter(({ endpoint }) => endpoint === "voteRequests")
    .flatMap((each) => rowsOf("voteRequests", each));
  const [dashboard] = answered.filter(({ endpoint }) => endpoint === "dashboard");
  return [
    ...foreignVotes(answered, requests),
    ...otherTally(toCount(toRecord(dashboard?.json)?.totalSuperValidators), requests, now),
    ...answered.flatMap((each) => otherThing(each, requests)),
  ];
};

type VoteRequests = ReturnType<typeof rowsOf<"voteRequests">>;

function foreignVotes(answered: readonly Exchange[], requests: VoteRequests): Observation[] {
  const votes = answered
    .filter(({ endpoint }) => endpoint === "votes")
    .flatMap((each) => rowsOf("votes", each))
    .flatMap(({ trackingCid }) => trackingCid ?? []);
  const ids = new Set(requests.flatMap(({ contractId, trackingCid }) => [contractId, trackingCid]));
  if (votes.length < MIN_ROWS || requests.length === 0 || votes.some((id) => ids.has(id))) return [];
  return [
    {
      endpoint: "votes",
      result: "fail",
      path: "$.content[*].trackingCid",
      detail: "no vote belongs to a listed vote request",
      meaning: "Who voted, and who has not, cannot be told unless the details of a request hold its votes.",
    },
  ];
}

function otherTally(superValidators: number | null, requests: VoteRequests, now: number): Observation[] {
  const totals = requests
    .filter((row) => isOpen(row, now))
    .flatMap(({ yesCount, noCount, abstainCount }) =>
      yesCount === null || noCount === null || abstainCount === null
        ? []
        : [yesCount + noCount + abstainCount],
    );
  // A super validator may have joined since a request was opened.
  const isLike = (total: number) => superValidators !== null && Math.abs(total - superValidators) <= 1;
  if (superValidators === null || totals.length < MIN_REQUESTS || totals.some(isLike)) return [];
  return [
    {
      endpoint: "voteRequests",
      result: "warn",
      path: "$.content[*].abstainCount",
      detail: `yes, no and abstain are ${totals[0]} together, and the dashboard counts ${superValidators} super validators`,
      meaning: "How many votes are needed, and when enough are in, may be wrong.",
    },
  ];
}

/** Compares the id in an answer with the one that was asked for. */
function otherThing({ endpoint, address, json }: Exchange, requests: VoteRequests): Observation[] {
  if (endpoint !== "voteRequest" && endpoint !== "validator" && endpoint !== "party") return [];
  const asked = decodeURIComponent(
    address
      .split("?")[0]
      ?.split("/")
      .find((part) => part.length > 40) ?? "",
  );
  // A vote gives a request another contract id, and its tracking id stays.
  const listed = requests.find(
    ({ contractId, trackingCid }) => asked === contractId || asked === trackingCid,
  );
  const wanted = [asked, listed?.contractId, listed?.trackingCid];
  const own = idsIn(endpoint, json);
  if (asked === "" || own.length === 0 || own.some((id) => wanted.includes(id))) return [];
  return [
    {
      endpoint,
      result: "fail",
      detail: "answers with the id of something else",
      meaning: "What is shown belongs to another one.",
    },
  ];
}

function idsIn(endpoint: "voteRequest" | "validator" | "party", json: unknown): readonly string[] {
  try {
    if (endpoint === "party") return [parseAnswer("party", json).partyId].flatMap((id) => id ?? []);
    if (endpoint === "validator") return [parseAnswer("validator", json).validator].flatMap((id) => id ?? []);
    const { contractId, trackingCid } = parseAnswer("voteRequest", json);
    return [contractId, trackingCid].flatMap((id) => id ?? []);
  } catch {
    return [];
  }
}
