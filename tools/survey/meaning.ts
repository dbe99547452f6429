import { type AnswerDifference, type ESSENTIAL, mayBeLeftOut } from "../../src/explorer/differences.js";
import type { EndpointName } from "../../src/explorer/endpoints.js";
import { isList } from "./ask.js";

/** Places in which an endpoint's data appears. docs/explorer-api.md has the same list. */
export const SEEN_IN: Readonly<Record<EndpointName, string>> = {
  validators: "`/validator list`, `/validator versions`, alerts, completion",
  newValidators: "`/validator new`, announcements of newcomers",
  validator: "`/validator show`, alerts",
  validatorExists: "`/validator show`, where `/v1/validators/{id}` answers 404",
  token: "`/token show`",
  parties: "`/party list`, completion",
  topParties: "`/party top`, completion",
  party: "`/party show`",
  partyTypes: "`/party show`, `/lookup`",
  transfers: "`/transfers`",
  rewards: "`/party rewards`",
  voteRequests: "`/proposals list`, announcements, completion",
  votes: "`/proposals votes`, `/proposals voters`, reminders, announcements of votes",
  voteRequest: "`/proposals show`, announcements",
  dashboard: "`/network`; the estimate of votes needed; the rounds",
  contracts: "`/contract list`",
  contract: "`/contract show`",
  events: "`/event list`",
  event: "`/event show`",
  updates: "`/update list`",
  updateDetails: "`/update show`",
  price: "`/price`, its alerts and its chart",
};

/** Effects of missing fields that are more than a line on a screen, by endpoint and path. */
const LOST: Readonly<Record<(typeof ESSENTIAL)[number], string>> = {
  "voteRequests $": "No vote request is announced.",
  "voteRequests $.content": "No vote request is announced.",
  "voteRequests $.content[*]": "What is no object cannot be read as a vote request, and is not announced.",
  "voteRequests $.content[*].contractId": "Vote requests cannot be told apart: none is announced.",
  "voteRequests $.content[*].trackingCid":
    "Each vote makes a new contract: a request that is voted on may be announced again.",
  "voteRequests $.content[*].status": "Whether a vote request is over is told by its dates alone.",
  "voteRequests $.content[*].voteBefore": "No reminder is sent before a vote ends.",
  "voteRequests $.content[*].yesCount": "Tallies are shown as not known.",
  "validators $": "Nobody is told of a silent validator.",
  "validators $.content": "Nobody is told of a silent validator.",
  "validators $.content[*]":
    "What is no object cannot be read as a validator: nobody is told that it is silent.",
  "validators $.content[*].validator": "Validators cannot be told apart: nobody is told of a silent one.",
  "validators $.content[*].lastActiveAt": "Nobody is told of a silent validator.",
  "validators $.content[*].version": "Nobody is told of a version that is behind.",
  "validator $.trafficStatus": "Nobody is told of traffic that runs out.",
  "newValidators $": "No newcomer is announced.",
  "votes $.content[*].trackingCid": "Votes cannot be told from those on other requests.",
  "votes $.content[*].accept": "How somebody voted is shown as not known.",
  "dashboard $.totalSuperValidators": "How many votes are needed is not estimated.",
  "price $.price": "There is no price, and no alert about it.",
};

const lost: ReadonlyMap<string, string> = new Map(Object.entries(LOST));

/** True if a difference breaks something that people rely on. */
export function isGrave(endpoint: EndpointName, difference: AnswerDifference): boolean {
  const { path, isRead, kind, lackedBy = 0 } = difference;
  if (isRead || kind === "new" || !lost.has(`${endpoint} ${path}`)) return false;
  return !mayBeLeftOut(endpoint, difference) || lackedBy > 1;
}

/** Page metadata that the bot does not use. */
const UNUSED = /^\$\.(pageable|sort|first|size|number|numberOfElements|empty|totalPages)\b/;

/** Describes the effect of a difference on the bot's users in one sentence. */
export function meaningOf(endpoint: EndpointName, difference: AnswerDifference): string {
  const { kind, path, isRead } = difference;
  if (kind === "new" && !isRead) return "It is not shown; nothing is lost.";
  if (kind === "word")
    return path.endsWith("status")
      ? "Shown as it is; whether the vote is over is told by its dates."
      : "Shown as it is.";
  if (isRead) return "None: it is read all the same.";
  if (isList(endpoint) && UNUSED.test(path)) return "None: the bot does not use it.";
  if (endpoint === "token" && path === "$.registars") return "None where it is spelled registrars instead.";
  return (
    lost.get(`${endpoint} ${path}`) ?? `“Not known”, or nothing, stands in its place: ${SEEN_IN[endpoint]}.`
  );
}

/** Describes a difference in words. */
export function wordsOf(endpoint: EndpointName, difference: AnswerDifference): string {
  const { kind, found, expected, lackedBy = 0 } = difference;
  switch (kind) {
    case "new":
      return `new field (${found})`;
    case "missing":
      if (lackedBy > 1) return `missing from all ${lackedBy}`;
      return mayBeLeftOut(endpoint, difference)
        ? "missing (it may be left out where it is empty)"
        : "missing";
    case "empty":
      return lackedBy > 1 ? `nothing in any of ${lackedBy}` : "nothing in it";
    case "type":
      return `${found}, documented as ${expected}`;
    case "unit":
      return `${found}, expected ${expected}`;
    case "unreadable":
      return `no ${expected} between 2020 and 2100`;
    case "word":
      return `unknown word “${found}”`;
  }
}
