import type { VotePhase } from "../../ledger/vote-phase.js";
import type { VoteRequest } from "../../ledger/vote-requests.js";
import { outcomeKnown, statusGroup } from "../../ledger/vote-rules.js";
import { address } from "../../screens/addresses.js";
import type { Link } from "../../screens/view.js";
import { RULES_LINK } from "../../screens/vote-explained.js";
import { ENDED_UNKNOWN, statusText, statusTone, tallySuffix } from "../../screens/vote-parts.js";
import { type Markdown, md } from "../../text/markdown.js";
import { cut } from "../../text/plain.js";

/** Maximum length of all titles before the warning of a short vote, so that a phone's notification has room for it. */
export const MAX_URGENT_TITLE = 65;

/** Returns the buttons of a message about a vote request, or about several. */
export function announcementLinks(id: string | null, mark: string): Link[] {
  const all: Link = { label: "All vote requests", emoji: "📋", to: address("proposals", {}), mark };
  if (id === null) return [all];
  return [
    { label: "Details", emoji: "📜", to: address("voteRequest", { id }) },
    { label: "Votes", emoji: "🗳️", to: address("votes", { id }) },
    RULES_LINK,
    all,
  ];
}

/** The ending of a vote request, for an announcement. */
export interface Ending {
  readonly status: string | null;
  /** True if the explorer states the outcome. */
  readonly known: boolean;
}

/** Returns an ending and the request's name in one line: "✅ Accepted: Feature Delta Labs (10 yes, 1 no)". */
export function endingNews({ status, known }: Ending, request: VoteRequest, title: string): Markdown {
  const named = md`${title}${tallySuffix(request)}`;
  if (!known) return md`${ENDED_UNKNOWN}: ${named}`;
  return statusGroup(status) === "other"
    ? md`▫️ Ended as “${cut(status ?? "", 60)}”: ${named}`
    : md`${statusText(status)}: ${named}`;
}

/** Returns the state of a request and its name in one line. `undefined` while votes can be cast. */
export function standingNews(request: VoteRequest, phase: VotePhase, title: string): Markdown | undefined {
  const named = md`${title}${tallySuffix(request)}`;
  switch (phase) {
    case "voting":
      return undefined;
    case "expired":
      return md`⌛ Expired: ${named}`;
    case "rejected":
      return md`❌ Rejected by the votes: ${named}`;
    case "ready":
      return md`✅ Enough yes votes: ${named}`;
    case "overdue":
      return md`⚠️ Overdue: ${named}`;
    case "ended":
      return endingNews(endingIn(request), request, title);
  }
}

/** Returns the ending of a request that is over. */
export const endingIn = ({ status, isGone }: VoteRequest): Ending => ({
  status,
  known: !isGone && outcomeKnown(status),
});

/** Returns the line below the news of an ending. */
export const endingNote = ({ known }: Ending): Markdown[] =>
  known ? [] : [md`The explorer no longer lists it.`];

/** Returns the color of a message about an ending. */
export const endingTone = ({ status, known }: Ending) => (known ? statusTone(status) : "warning");
