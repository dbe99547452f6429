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
} from "../discord/text.js";
import { ifAnswered } from "../explorer/errors.js";
import {
  type Action,
  identityOf,
  readableChange,
  type StatusGroup,
  statusGroup,
  toTitle,
  votesNeeded,
} from "../explorer/governance.js";
import { openUndocumentedSlice } from "../explorer/paging.js";
import { findProposal, findVotes, type Proposal } from "../explorer/proposals.js";
import type { VoteRequestListItem } from "../explorer/schema.js";
import type { Explorer, Reading } from "../explorer/service.js";
import { cut, shortId, toUrl } from "../explorer/values.js";
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

/** Whether a status says that the vote is over; a word nobody has seen does not. */
export const isOver = (status: string | null): boolean => !["open", "other"].includes(statusGroup(status));

/** The tally in words. A count that the explorer does not give is not a zero. */
export function tallyWords({
  yes,
  no,
  pending,
  status,
}: Pick<Proposal, "yes" | "no" | "pending" | "status">): Markdown {
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
  const reading = await openUndocumentedSlice((at) => explorer.voteRequests(at), page, identityOf);
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
        return { label: titleOf(toTitle(each.title)), hint, to: address("vr", { id }) };
      }),
    ],
  };
};

const MOST_CHANGES = 12;

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
    .slice(0, MOST_CHANGES)
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
export function reasonFields({ reasonBody, reasonUrl }: Pick<Proposal, "reasonBody" | "reasonUrl">): Field[] {
  const url = toUrl(reasonUrl);
  const lines = [
    reasonBody !== null && quote(reasonBody, 500),
    url !== null && linkTo(`Read more at ${new URL(url).hostname}`, url),
  ];
  const value = join(lines, "\n");
  return value.toString() ? [{ name: "Reason", value }] : [];
}

/** How many votes would carry it, as an estimate; undefined where the number of super validators is not known. */
export async function estimateNeeded(explorer: Explorer): Promise<number | undefined> {
  const superValidators = (await ifAnswered(explorer.dashboard({})))?.data.totalSuperValidators;
  return superValidators ? votesNeeded(superValidators) : undefined;
}

export const requesterOf = ({
  requesterName,
  requester,
}: Pick<Proposal, "requester" | "requesterName">): Markdown =>
  requesterName !== null && requesterName !== requester
    ? named(requesterName, requester)
    : code(requester, 60);

/** What is said of a vote request: on its screen, and in its announcement. */
export function proposalFields(proposal: Proposal, needed: number | undefined): Field[] {
  const { yes, no, pending } = proposal;
  return [
    {
      name: "Votes",
      value: join(
        [
          tallyBar(yes, no, pending),
          tallyWords(proposal),
          needed !== undefined && !isOver(proposal.status) && md`-# about ${needed} yes needed (estimate)`,
        ],
        "\n",
      ),
    },
    { name: "Threshold deadline", value: timestampWithAge(proposal.voteBefore), inline: true },
    {
      name: "Takes effect",
      value:
        proposal.targetEffectiveAt === null
          ? md`when the threshold is reached`
          : timestampWithAge(proposal.targetEffectiveAt),
      inline: true,
    },
    { name: "Requested by", value: requesterOf(proposal), inline: true },
    ...actionFields(proposal.action, proposal.title),
    ...reasonFields(proposal),
  ];
}

/** One vote request. */
export const vr: Screen<"vr"> = async ({ id }, { explorer }) => {
  const [reading, needed] = await Promise.all([findProposal(explorer, id), estimateNeeded(explorer)]);
  const proposal = reading.data;
  const identity = proposal.identity ?? id;
  return {
    title: md`${cut(titleOf(proposal.title), 200)}`,
    tone: statusTone(proposal.status),
    body: [statusText(proposal.status)],
    fields: [...proposalFields(proposal, needed), { name: "Vote request id", value: codeBlock(identity) }],
    thumbnail: proposal.requesterImg,
    readings: [reading],
    menus: [
      partyMenu([
        { partyId: proposal.requester ?? "", accountName: proposal.requesterName, role: "requested it" },
        ...proposal.action.subject.map(({ label, value }) => ({ partyId: value, role: label })),
      ]),
    ],
    links: [{ label: "Votes", emoji: "🗳️", to: address("vv", { id: identity }) }],
    parent: address("proposals", {}),
  };
};

/** Who voted how on a vote request; a null is not a No. */
export const vv: Screen<"vv"> = async ({ id, page }, { explorer }) => {
  const reading = await findProposal(explorer, id);
  const proposal = reading.data;
  const votes = await findVotes(explorer, proposal);
  const shown = pageOf(votes.data, page);
  const readings: readonly Reading<unknown>[] = [reading, votes];
  return {
    title: md`Votes on ${cut(titleOf(proposal.title), 180)}`,
    tone: statusTone(proposal.status),
    body: [
      tallyBar(proposal.yes, proposal.no, proposal.pending),
      tallyWords(proposal),
      md``,
      ...(shown.rows.length > 0
        ? shown.rows.map((vote) => {
            const sign = vote.accept === null ? "⚪ no vote seen" : vote.accept ? "✅ yes" : "❌ no";
            const voter = vote.accountName ?? vote.company ?? vote.identifier;
            const reason = vote.reason === null ? md`` : md`\n-# ${cut(vote.reason, 150)}`;
            return md`${sign} · **${voter === null ? null : brief(voter)}**${reason}`;
          })
        : [
            md`${votes.complete ? "Nobody has voted on it yet." : "Its votes are not among the newest that the explorer lists."}`,
          ]),
      ...(votes.complete
        ? []
        : [
            md``,
            md`-# ${votes.data.length} of the votes counted above were found among the newest that the explorer lists.`,
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
    links: [{ label: "Vote request", emoji: "📜", to: address("vr", { id: proposal.identity ?? id }) }],
    parent: address("vr", { id: proposal.identity ?? id }),
  };
};
