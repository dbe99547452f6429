import type { IdKeys } from "../discord/links.js";
import { type MessagePayload, toMessage } from "../discord/message.js";
import { md } from "../discord/text.js";
import type { Proposal } from "../explorer/proposals.js";
import { cut } from "../explorer/values.js";
import { address } from "../screens/addresses.js";
import { proposalFields, statusText, statusTone } from "../screens/proposals.js";
import type { View } from "../screens/view.js";

/**
 * The message that a vote request has opened.
 * @param mark tells the delivery by one of its buttons
 * @param needed the votes it needs, as an estimate
 */
export function announcement(
  proposal: Proposal,
  mark: string,
  needed: number | undefined,
  keys: IdKeys,
): MessagePayload {
  const id = proposal.identity;
  const view: View = {
    title: md`New vote request: ${cut(proposal.title ?? "without a title", 180)}`,
    tone: statusTone(proposal.status),
    body: [statusText(proposal.status)],
    fields: proposalFields(proposal, needed),
    thumbnail: proposal.requesterImg,
    readings: [],
    links: [
      ...(id === null
        ? []
        : [
            { label: "Details", emoji: "📜", to: address("vr", { id }) },
            { label: "Votes", emoji: "🗳️", to: address("vv", { id }) },
          ]),
      { label: "All vote requests", emoji: "📋", to: address("proposals", {}), mark },
    ],
  };
  return toMessage(view, undefined, undefined, keys);
}
