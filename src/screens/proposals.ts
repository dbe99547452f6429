import { openUndocumentedSlice } from "../explorer/paging.js";
import type { VoteRequestListItem } from "../explorer/schema/governance.js";
import type { Reading } from "../explorer/service.js";
import { toUrl } from "../explorer/values.js";
import { type Action, readableChange, toTitle } from "../ledger/actions.js";
import {
  estimateNeeded,
  findVoteRequest,
  findVotes,
  identityOf,
  isOver,
  type StatusGroup,
  statusGroup,
  type VoteRequest,
} from "../ledger/vote-requests.js";
import { shortId } from "../text/ids.js";
import {
  bold,
  code,
  codeBlock,
  grouped,
  join,
  linkTo,
  type Markdown,
  md,
  quote,
  timestamp,
  timestampWithAge,
} from "../text/markdown.js";
import { cut } from "../text/plain.js";
import { address } from "./addresses.js";
import { brief, extent, named, orNothing, pageOf, partyMenu, perRow, row, rowMenu } from "./parts.js";
import type { Field, Screen, Tone } from "./view.js";

const STATUS_LOOKS: Readonly<Record<StatusGroup, readonly [sign: Markdown, tone: Tone]>> = {
  open: [md`🗳️`, "neutral"],
  accepted: [md`✅`, "good"],
  implemented: [md`✅`, "good"],
  rejected: [md`❌`, "bad"],
  expired: [md`⌛`, "warning"],
  other: [md`▫️`, "neutral"],
};

/** A status by sign and word, as the API gives it. */
export function statusText(status: string | null): Markdown {
  const [sign] = STATUS_LOOKS[statusGroup(status)];
  return md`${sign} ${brief(status ?? "status not known")}`;
}

export const statusTone = (status: string | null): Tone => STATUS_LOOKS[statusGroup(status)][1];

const SEGMENTS = 12;

/** Votes as a bar: yes, no, and those who have not voted yet. */
export function tallyBar(yes: number | null, no: number | null, pending: number | null): Markdown {
  const [y, n] = [yes ?? 0, no ?? 0];
  const all = y + n + (pending ?? 0);
  if (all === 0) return md`no votes yet`;
  const segment = (count: number) => (count === 0 ? 0 : Math.max(1, Math.round((count / all) * SEGMENTS)));
  const yesWidth = Math.min(segment(y), SEGMENTS - (n > 0 ? 1 : 0));
  const noWidth = Math.min(segment(n), SEGMENTS - yesWidth);
  const rest = SEGMENTS - yesWidth - noWidth;
  return md`${"🟩".repeat(yesWidth) + "🟥".repeat(noWidth) + "⬛".repeat(rest)}`;
}

/** The tally in words. A count that the explorer does not give is not a zero. */
export function tallyWords({
  yes,
  no,
  pending,
  status,
}: Pick<VoteRequest, "yes" | "no" | "pending" | "status">): Markdown {
  const part = (count: number | null, words: string) =>
    md`${bold(count === null ? "?" : grouped(count))} ${words}`;
  return join(
    [
      part(yes, "yes"),
      part(no, "no"),
      pending !== null && part(pending, isOver(status) ? "did not vote" : "not voted yet"),
    ],
    " · ",
  );
}

const titleOf = (title: string | null): string => title ?? "Vote request without a title";

const toLine = perRow((each: VoteRequestListItem) =>
  row(
    md`${statusText(each.status)} · ${bold(cut(titleOf(toTitle(each.title)), 120))}`,
    md`-# ${tallyWords({ yes: each.yesCount, no: each.noCount, pending: each.abstainCount, status: each.status })} · ${isOver(each.status) ? "deadline" : "until"} ${timestamp(each.voteBefore, "f")}`,
  ),
);

/** The vote requests, as the explorer lists them. */
export const proposals: Screen<"proposals"> = async ({ page }, { explorer }) => {
  const reading = await openUndocumentedSlice("voteRequests", (at) => explorer.voteRequests(at), page);
  return {
    title: md`Vote requests`,
    tone: "neutral",
    body: [
      ...orNothing(reading.data.rows.map(toLine), "vote requests"),
      md``,
      md`-# ${extent(reading.data, "vote requests")}`,
    ],
    readings: [reading],
    pager: reading.data,
    menus: [
      rowMenu(reading.data.rows, "Open a vote request…", (each) => {
        const id = identityOf(each);
        if (id === null) return undefined;
        const hint = `${each.status ?? "status not known"} · ${shortId(id)}`;
        return { label: titleOf(toTitle(each.title)), hint, to: address("voteRequest", { id }) };
      }),
    ],
  };
};

const MAX_CHANGES = 12;

/** What the action is about: its subject, or each configuration key old → new. */
export function actionFields({ words, subject, changes }: Action, title: string | null): Field[] {
  const fields: Field[] = subject.map(({ label, value }) => ({
    name: label,
    value: code(value, 300),
    inline: true,
  }));
  if (words !== null && words !== title)
    fields.unshift({ name: "Action", value: md`${words}`, inline: true });
  if (changes.length === 0) return fields;
  const lines = changes
    .slice(0, MAX_CHANGES)
    .map(readableChange)
    .map(
      ({ key, from, to }) =>
        md`${code(key, 80)}: ${from === null ? md`` : md`${code(from, 60)} → `}**${code(to ?? "removed", 60)}**`,
    );
  const more = changes.length - lines.length;
  if (more > 0) lines.push(md`…and ${more} more`);
  return [...fields, { name: "Configuration", value: join(lines, "\n") }];
}

/** The reason given, safely shortened, and its link. */
export function reasonFields({
  reasonBody,
  reasonUrl,
}: Pick<VoteRequest, "reasonBody" | "reasonUrl">): Field[] {
  const url = toUrl(reasonUrl);
  const lines = [
    reasonBody !== null && quote(reasonBody, 500),
    url !== null && linkTo(`Read more at ${new URL(url).hostname}`, url),
  ];
  const value = join(lines, "\n");
  return value.toString() ? [{ name: "Reason", value }] : [];
}

export const requesterOf = ({
  requesterName,
  requester,
}: Pick<VoteRequest, "requester" | "requesterName">): Markdown =>
  requesterName !== null && requesterName !== requester
    ? named(requesterName, requester)
    : code(requester, 60);

/** What is said of a vote request: on its screen, and in its announcement. */
export function voteRequestFields(request: VoteRequest, needed: number | undefined): Field[] {
  const { yes, no, pending } = request;
  return [
    {
      name: "Votes",
      value: join(
        [
          tallyBar(yes, no, pending),
          tallyWords(request),
          needed !== undefined && !isOver(request.status) && md`-# about ${needed} yes needed (estimate)`,
        ],
        "\n",
      ),
    },
    { name: "Threshold deadline", value: timestampWithAge(request.voteBefore), inline: true },
    {
      name: "Takes effect",
      value:
        request.targetEffectiveAt === null
          ? md`when the threshold is reached`
          : timestampWithAge(request.targetEffectiveAt),
      inline: true,
    },
    { name: "Requested by", value: requesterOf(request), inline: true },
    ...actionFields(request.action, request.title),
    ...reasonFields(request),
  ];
}

/** One vote request. */
export const voteRequest: Screen<"voteRequest"> = async ({ id }, { explorer }) => {
  const [reading, needed] = await Promise.all([findVoteRequest(explorer, id), estimateNeeded(explorer)]);
  const request = reading.data;
  const identity = request.identity ?? id;
  return {
    title: md`${cut(titleOf(request.title), 200)}`,
    tone: statusTone(request.status),
    body: [statusText(request.status)],
    fields: [...voteRequestFields(request, needed), { name: "Vote request id", value: codeBlock(identity) }],
    thumbnail: request.requesterImg,
    readings: [reading],
    menus: [
      partyMenu([
        { partyId: request.requester ?? "", accountName: request.requesterName, role: "requested it" },
        ...request.action.subject.map(({ label, value }) => ({ partyId: value, role: label })),
      ]),
    ],
    links: [{ label: "Votes", emoji: "🗳️", to: address("votes", { id: identity }) }],
    parent: address("proposals", {}),
  };
};

/** Who voted how on a vote request; a null is not a No. */
export const votes: Screen<"votes"> = async ({ id, page }, { explorer }) => {
  const reading = await findVoteRequest(explorer, id);
  const request = reading.data;
  const found = await findVotes(explorer, request);
  const shown = pageOf(found.data, page);
  const readings: readonly Reading<unknown>[] = [reading, found];
  return {
    title: md`Votes on ${cut(titleOf(request.title), 180)}`,
    tone: statusTone(request.status),
    body: [
      tallyBar(request.yes, request.no, request.pending),
      tallyWords(request),
      md``,
      ...(shown.rows.length > 0
        ? shown.rows.map((vote) => {
            const sign = vote.accept === null ? "⚪ no vote seen" : vote.accept ? "✅ yes" : "❌ no";
            const voter = vote.accountName ?? vote.company ?? vote.identifier;
            const reason = vote.reason === null ? md`` : md`\n-# ${cut(vote.reason, 150)}`;
            return md`${sign} · **${voter === null ? null : brief(voter)}**${reason}`;
          })
        : [
            md`${found.complete ? "Nobody has voted on it yet." : "Its votes are not among the newest that the explorer lists."}`,
          ]),
      ...(found.complete
        ? []
        : [
            md``,
            md`-# ${found.data.length} of the votes counted above were found among the newest that the explorer lists.`,
          ]),
    ],
    readings,
    pager: shown,
    menus: [
      partyMenu(
        shown.rows.map(({ identifier, accountName, company, accept }) => ({
          partyId: identifier,
          accountName: accountName ?? company,
          role: accept === null ? "no vote seen" : accept ? "voted yes" : "voted no",
        })),
      ),
    ],
    links: [
      { label: "Vote request", emoji: "📜", to: address("voteRequest", { id: request.identity ?? id }) },
    ],
    parent: address("voteRequest", { id: request.identity ?? id }),
  };
};
