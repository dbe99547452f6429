import type { Names } from "../directory/names.js";
import { ExplorerError } from "../explorer/errors.js";
import type { Explorer } from "../explorer/service.js";
import { findVoteRequest, readDetail } from "../ledger/vote-requests.js";
import { codeBlock, md } from "../text/markdown.js";
import { actionFile } from "./action-parts.js";
import { address, buttonAddress, defineButton, idParameter } from "./addresses.js";
import type { Link, View } from "./view.js";

/** Explains how a vote request is decided. */
export const rulesButton = defineButton("vote-rules", {});
/** Sends the JSON of a vote request's action. */
export const rawDataButton = defineButton("vj", { id: idParameter });

/** Leads to the rules of a vote. */
export const RULES_LINK: Link = {
  label: "How votes work",
  emoji: "❔",
  to: buttonAddress(rulesButton, {}),
};

/** The rules of a vote (docs/ledger.md, "How a vote ends"). */
export const voteRules: View = {
  title: md`How votes work`,
  body: [
    md`**Who votes:** the super validators, with one vote each. They can change it as long as the request is open.`,
    md`**Quorum by:** enough of them must have voted by then, yes or no, or the request expires. About two thirds are enough.`,
    md`**Decided on:** on this date, the request passes if it has enough yes votes; otherwise it's rejected. Without this date, it passes as soon as it has them, or expires if it doesn't by the quorum date; even then, enough yes votes still carry it until it's closed.`,
    md`**Enough no votes** reject it at any time.`,
    md`-# The ┃ in a tally marks the number of votes that one side needs. It's an estimate: it depends on how many super validators there are when the request closes.`,
  ],
  links: [{ label: "Vote requests", emoji: "📋", to: address("proposals", {}) }],
};

/** Returns a vote request's action as a JSON file. @throws {ExplorerError} */
export async function rawData(explorer: Explorer, names: Names, id: string): Promise<View> {
  const reading = await findVoteRequest(explorer, id);
  const identity = reading.data.identity ?? id;
  const { action, detail } = reading.data;
  if (detail === "unanswered") {
    // The key may not be for the details.
    await readDetail(explorer, { contractId: reading.data.contractId, trackingCid: identity });
    throw new ExplorerError("failing", "The explorer did not answer the request for details");
  }
  const isUnknown = detail === "none" || action.config === null;
  const file = isUnknown ? undefined : await actionFile(reading.data, identity, names);
  const withoutFile = isUnknown
    ? md`The explorer has no details.`
    : md`It's too large to attach. You can find it on the explorer's website.`;
  return {
    title: md`Raw data: ${names.voteRequest(reading.data, 180)}`,
    body: [file ? md`The changes and the raw action, as a JSON file.` : withoutFile, codeBlock(identity)],
    files: file ? [file] : [],
    readings: [reading],
    links: [{ label: "Vote request", emoji: "📜", to: address("voteRequest", { id: identity }) }],
    explorerPage: { kind: "proposal", id: identity },
  };
}
