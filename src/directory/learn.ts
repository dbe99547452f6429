import type { Answer, EndpointName } from "../explorer/endpoints.js";
import type { OnFetched } from "../explorer/flights.js";
import type { VoteRequestListItem } from "../explorer/schema/governance.js";
import type { ValidatorSummary } from "../explorer/schema/validators.js";
import { actionIn, identityOf } from "../ledger/vote-requests.js";
import { isOver } from "../ledger/vote-rules.js";
import type { Directory } from "./directory.js";
import { listedIn, proposalEntry, validatorEntry } from "./entries.js";
import type { Names } from "./names.js";

type Learners = { readonly [Name in EndpointName]?: (data: Answer<Name>) => void };

/**
 * Returns a function that adds the validators and vote requests in any answer to the directory, so that completion knows what a
 * screen has just shown. Lists that have never been read stay empty, and completion says so.
 */
export function createLearner(directory: Directory, names: Names): OnFetched {
  const learnValidators = (rows: readonly ValidatorSummary[]) => {
    if (directory.readAt("validator") === undefined) return;
    for (const entry of rows.flatMap(validatorEntry)) {
      const knownEntry = directory.entry("validator", entry.id);
      directory.add("validator", { ...entry, name: entry.name ?? knownEntry?.name ?? null });
    }
  };
  /** Records that a request has ended. Open requests are left to the feed, which knows more about them. */
  const learnRequest = (row: VoteRequestListItem) => {
    const identity = identityOf(row);
    if (identity === null || directory.readAt("proposal") === undefined || !isOver(row, Date.now())) return;
    const title = row.title ?? directory.entry("proposal", identity)?.name ?? null;
    directory.add(
      "proposal",
      proposalEntry({ ...listedIn(row, identity), title }, identity, names, Date.now()),
    );
  };
  const learners: Learners = {
    validators: ({ content }) => learnValidators(content),
    newValidators: learnValidators,
    validator: (detail) => learnValidators([{ ...detail, totalRewards: null }]),
    voteRequests: ({ content }) => content.forEach(learnRequest),
    voteRequest(detail) {
      const identity = identityOf(detail);
      if (identity !== null) names.learn(identity, actionIn(detail));
      learnRequest({ ...detail, title: null });
    },
  };
  return (endpoint, data) => learners[endpoint]?.(data);
}
