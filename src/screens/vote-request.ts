import type { Names } from "../directory/names.js";
import { toUrl } from "../explorer/values.js";
import { mayStillVote, standingOf } from "../ledger/vote-phase.js";
import { countSuperValidators, findVoteRequest, type VoteRequest } from "../ledger/vote-requests.js";
import { neededFor } from "../ledger/vote-rules.js";
import { isWholeId } from "../text/ids.js";
import { bold, code, idCode, join, linkTo, type Markdown, md, quote, timestamp } from "../text/markdown.js";
import { cut } from "../text/plain.js";
import { present } from "../util/present.js";
import { actionLines, actionMenu } from "./action-parts.js";
import { address, buttonAddress } from "./addresses.js";
import { namedLine } from "./parts.js";
import { type Screen, SIDE_MS } from "./view.js";
import { RULES_LINK, rawDataButton } from "./vote-explained.js";
import { shortVote, standingText, standingTone, tallyLines } from "./vote-parts.js";
import { timeLine } from "./vote-times.js";

/** True for an address that only lacks "https://". Another scheme or a user name may mislead. */
const isAddress = (text: string | null): text is string =>
  text !== null && !/[:@\s]/.test(text) && text.includes(".") && toUrl(`https://${text}`) !== null;

/** Returns the reason of a request, shortened and escaped, and its link. */
function reasonLines({ reasonBody, reasonUrl }: Pick<VoteRequest, "reasonBody" | "reasonUrl">): Markdown[] {
  const url = toUrl(reasonUrl);
  return present([
    reasonBody !== null && quote(reasonBody, 500),
    url === null
      ? isAddress(reasonUrl) && md`Read more at ${code(reasonUrl, 200)}`
      : linkTo(`Read more at ${new URL(url).hostname}`, url),
  ]);
}

const requesterOf = (
  { requesterName, requester }: Pick<VoteRequest, "requester" | "requesterName">,
  names: Names,
): Markdown => {
  const sentName = requesterName === requester ? null : requesterName;
  const name = sentName ?? (requester === null ? null : names.party(requester));
  return name === null ? requesterId(requester) : namedLine(name, requester);
};

/** The ledger has a name here, the explorer sometimes an id. */
function requesterId(requester: string | null): Markdown {
  if (requester === null) return md`someone unknown`;
  return isWholeId(requester) ? idCode(requester) : code(requester, 60);
}

/** Returns who requested a vote, and when. */
const originLine = (request: VoteRequest, names: Names): Markdown =>
  md`-# ${join(
    [
      md`Requested by ${requesterOf(request, names)}`,
      request.createdAt !== null && md`opened ${timestamp(request.createdAt, "f")}`,
    ],
    " · ",
  )}`;

/** Returns what a request changes. */
function actionWords(request: VoteRequest, names: Names, rest: string): Markdown[] {
  const { action, detail } = request;
  if (detail === "unanswered") return [md`I couldn't read the details right now.`];
  if (detail === "none" && action.words === null) return [md`The explorer has no details.`];
  return actionLines(action, names, rest);
}

/** Maximum length of what a request changes and why, in characters. The tally and the dates come after it and are never cut. */
const MAX_SUBSTANCE = 2_800;

/** Returns the first lines that fit, and the number of others. */
function fitting(lines: readonly Markdown[], rest: string): readonly Markdown[] {
  let length = 0;
  const moreFrom = lines.findIndex((line) => {
    length += line.toString().length + 1;
    return length > MAX_SUBSTANCE;
  });
  return moreFrom < 0
    ? lines
    : [...lines.slice(0, moreFrom), md`…and ${lines.length - moreFrom} more. ${rest}`];
}

/** The kind of a request's action, if its name does not say it. */
export const kindWords = ({ action }: VoteRequest, name: string): string | null =>
  action.words !== null && !name.includes(action.words) ? cut(action.words, 100) : null;

/** The context of a vote request's text. */
export interface VoteRequestContext {
  readonly needed: number | undefined;
  readonly names: Names;
  readonly now: number;
  /** A sentence that says where to find the rest of a long value. */
  readonly rest: string;
}

/**
 * Returns the text of a vote request, for its screen and its announcement: what it changes and why, the tally, and the dates.
 * @param standingLines how it stands, above the tally
 */
export const voteRequestLines = (
  request: VoteRequest,
  standingLines: readonly Markdown[],
  { needed, names, now, rest }: VoteRequestContext,
): Markdown[] => [
  ...fitting([...actionWords(request, names, rest), ...reasonLines(request)], rest),
  ...standingLines,
  ...tallyLines(request, needed, now),
  timeLine(request, now, standingOf(request, needed, now).phase),
  originLine(request, names),
];

/** Shows a vote request. */
export const voteRequest: Screen<"voteRequest"> = async ({ id }, { explorer, names }) => {
  const [reading, superValidators] = await Promise.all([
    findVoteRequest(explorer, id),
    countSuperValidators(explorer, SIDE_MS),
  ]);
  const identity = reading.data.identity ?? id;
  const request = names.withSeen(reading.data, identity);
  const neededVotes = neededFor(request, superValidators);
  const standing = standingOf(request, neededVotes, Date.now());
  if (request.detail === "read") names.learn(identity, request.action);
  const name = names.voteRequest(request);
  const kind = kindWords(request, name);
  return {
    title: md`${cut(name, 200)}`,
    tone: standingTone(request, standing),
    body: present([
      kind !== null && bold(kind),
      ...voteRequestLines(request, [standingText(request, standing), ...shortVote(request)], {
        needed: neededVotes,
        names,
        now: Date.now(),
        rest: "Press “Raw data” to see it all.",
      }),
    ]),
    thumbnail: request.requesterImg,
    readings: [reading],
    menus: [
      actionMenu(request.action, names, [
        { partyId: request.requester ?? "", accountName: request.requesterName, role: "requested it" },
      ]),
    ],
    links: [
      { label: "Votes", emoji: "🗳️", to: address("votes", { id: identity }) },
      RULES_LINK,
      { label: "Raw data", emoji: "🧾", to: buttonAddress(rawDataButton, { id: identity }) },
    ],
    watchedAs: identity,
    isOver: !mayStillVote(request, standing),
    explorerPage: { kind: "proposal", id: identity },
    parent: address("proposals", {}),
  };
};
