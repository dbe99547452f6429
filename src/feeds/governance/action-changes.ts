import type { Names } from "../../directory/names.js";
import type { VoteRequestDetail } from "../../explorer/schema/governance.js";
import { toDecimal } from "../../explorer/values.js";
import type { Action } from "../../ledger/actions.js";
import { flatten } from "../../ledger/configuration.js";
import { type Value, valueText } from "../../ledger/units.js";
import { actionIn } from "../../ledger/vote-requests.js";
import { cut } from "../../text/plain.js";
import { digest } from "../../util/digest.js";
import type { TrackedVoteRequest } from "./collections.js";
import type { GovernanceEvent } from "./events.js";

/** Result of comparing a request's action with the known one. */
interface ActionChanges {
  readonly changes: Partial<TrackedVoteRequest>;
  readonly events: readonly GovernanceEvent[];
}

/** Compares the action of a request with the known one. The list does not contain it. A change counts once two reads agree. */
export function compareAction(
  key: string,
  request: TrackedVoteRequest,
  detail: VoteRequestDetail,
  names: Names,
): ActionChanges {
  const action = actionIn(detail);
  const text = actionText(action, names);
  const actionDigest = digestOf(action);
  if (text === null || actionDigest === request.actionDigest) return { changes: {}, events: [] };
  names.learn(request.identity, action);
  const { terms: from } = request;
  const terms = { ...from, action: text };
  if (request.actionDigest === undefined) return { changes: { terms, actionDigest }, events: [] };
  if (request.unconfirmedAction !== actionDigest)
    return { changes: { unconfirmedAction: actionDigest, needsDetail: true }, events: [] };
  const changeSequence = request.changeSequence + 1;
  return {
    changes: { terms, actionDigest, changeSequence, revision: request.revision + 1 },
    events: [{ kind: "changed", key, sequence: changeSequence, from, to: terms }],
  };
}

/**
 * Returns a digest of an action that does not depend on the bot's wording. The configuration on which the
 * action is based is left out.
 */
const digestOf = ({ config }: Action): string => {
  const ownFields = [...flatten({ config })].filter(([path]) => !/(^|\.)baseConfig\./.test(path));
  return digest(JSON.stringify(ownFields.map(([path, { text }]) => [path, toDecimal(text) ?? text]).sort()));
};

/** Returns an action as text, or null if it is empty. */
function actionText({ words, facts, changes }: Action, names: Names): string | null {
  if (words === null) return null;
  const text = (value: Value | null) => (value === null ? "removed" : valueText(value, names.distinct));
  const actionParts = [...facts, ...changes.map(({ label, to }) => ({ label, value: to }))].map(
    ({ label, value }) => `${label}: ${text(value)}`,
  );
  return cut(actionParts.length > 0 ? `${words} (${actionParts.join(", ")})` : words, 600);
}
