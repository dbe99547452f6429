import { expect, it } from "vitest";
import { targetOf } from "../../src/explorer/endpoints.js";
import { ExplorerError } from "../../src/explorer/errors.js";

const typed = "typed::1220ab";
const page = { page: 0, size: 10 };

it.each([
  [targetOf("validator", { validatorId: typed }), "/validators/{id}"],
  [targetOf("validatorExists", { validatorId: typed }), "/validators/{id}/exist"],
  [targetOf("token", { contractId: typed }), "/tokens/{id}"],
  [targetOf("party", { partyId: typed }), "/parties/{id}"],
  [targetOf("partyTypes", { partyId: typed }), "/parties/{id}/types"],
  [targetOf("rewards", { partyId: typed, ...page }), "/rewards/{id}"],
  [targetOf("voteRequest", { id: typed }), "/governance/vote-requests/{id}/details"],
  [targetOf("contract", { contractId: typed }), "/contracts/{id}"],
  [targetOf("event", { eventId: typed }), "/events/{id}"],
  [targetOf("updateDetails", { updateId: typed }), "/updates/{id}/raw-details"],
  [targetOf("votes", page), "/governance/vote-requests/votes"],
  [targetOf("newValidators", { size: 5 }), "/validators/new"],
  [targetOf("topParties", page), "/parties/top"],
])("an error names the endpoint, and not the id that a person may have typed: %j", ([path], endpoint) => {
  const { message } = new ExplorerError("missing", `GET /${path}: answered 404`);
  expect(message).toBe(`GET ${endpoint}: answered 404`);
});
