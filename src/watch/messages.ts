import { createHash } from "node:crypto";
import type { IdKeys } from "../discord/links.js";
import { type MessagePayload, toMessage } from "../discord/message.js";
import { bold, join, type Markdown, md, timestamp, timestampWithAge } from "../discord/text.js";
import { identityOf, statusGroup, toTitle } from "../explorer/governance.js";
import type { Proposal } from "../explorer/proposals.js";
import { cut, shortId } from "../explorer/values.js";
import { address } from "../screens/addresses.js";
import {
  isOver,
  proposalFields,
  statusText,
  statusTone,
  tallyBar,
  tallyWords,
} from "../screens/proposals.js";
import type { Link, View } from "../screens/view.js";
import type { GovernanceEvent } from "./events.js";
import type { KnownRequest, Terms } from "./requests.js";

/** What a message is made of, besides its event. */
export interface Material {
  readonly proposal: Proposal;
  /** Yes votes that carry it, as an estimate. */
  readonly needed: number | undefined;
  readonly keys: IdKeys;
}

/** What tells a delivery by one of its message's buttons; also its nonce (Discord: 25 characters). */
export const markOf = (deliveryId: string): string =>
  createHash("sha256").update(deliveryId).digest("base64url").slice(0, 25);

const titleOf = (proposal: Proposal): string => cut(proposal.title ?? "without a title", 150);

function links(id: string | null, mark: string): Link[] {
  const own =
    id === null
      ? []
      : [
          { label: "Details", emoji: "📜", to: address("vr", { id }) },
          { label: "Votes", emoji: "🗳️", to: address("vv", { id }) },
        ];
  return [...own, { label: "All vote requests", emoji: "📋", to: address("proposals", {}), mark }];
}

const message = (view: Omit<View, "readings">, keys: IdKeys): MessagePayload =>
  toMessage({ ...view, readings: [] }, undefined, undefined, keys);

/** Whether a status of a request that is over says how it ended. */
export const outcomeKnown = (status: string | null): boolean =>
  status !== null && statusGroup(status) !== "open";

/** Below an announcement whose request is over: the outcome as the API states it, or that nobody knows. */
function outcome(status: string | null, known: boolean): Markdown {
  return known
    ? md`**Closed:** ${statusText(status)}`
    : md`**Ended, outcome unknown.** The explorer no longer lists it.`;
}

/**
 * The announcement that a request has opened, with its tally as it is now.
 * @param ended how it ended; undefined while it is open
 */
export function announcement(
  { proposal, needed, keys }: Material,
  mark: string,
  ended?: { readonly status: string | null; readonly known: boolean },
): MessagePayload {
  const view = {
    title: md`${ended ? "Vote request" : "New vote request"}: ${titleOf(proposal)}`,
    tone: ended && !ended.known ? ("warning" as const) : statusTone(ended ? ended.status : proposal.status),
    body: [ended ? outcome(ended.status, ended.known) : statusText(proposal.status)],
    fields: proposalFields(proposal, needed),
    thumbnail: proposal.requesterImg,
    links: links(proposal.identity, mark),
  };
  return message(view, keys);
}

/** One message for all that opened while nobody could tell of it, with a menu to open each. */
export function digest(
  event: GovernanceEvent & { kind: "digest" },
  mark: string,
  keys: IdKeys,
): MessagePayload {
  const rows = event.rows.map((row) => {
    const title = toTitle(row.title) ?? "without a title";
    const id = identityOf(row);
    return { row, title, id };
  });
  const view = {
    title: md`${rows.length} new vote requests`,
    tone: "neutral" as const,
    body: [
      md`They opened while the explorer could not be read.`,
      ...rows.map(
        ({ row, title }) => md`🗳️ ${bold(cut(title, 120))} · until ${timestamp(row.voteBefore, "f")}`,
      ),
    ],
    menus: [
      {
        placeholder: "Open a vote request…",
        choices: rows.flatMap(({ title, id }) =>
          id === null ? [] : [{ label: title, hint: shortId(id), to: address("vr", { id }) }],
        ),
      },
    ],
    links: links(null, mark),
  };
  return message(view, keys);
}

const VOTE_WORDS = { true: "✅ yes", false: "❌ no", null: "⚪ no vote" } as const;
const voteWords = (vote: boolean | null): string => VOTE_WORDS[`${vote}`];

function changes(from: Terms, to: Terms): Markdown {
  const line = (name: string, was: Markdown, is: Markdown) => md`${bold(name)}: ${was} → ${is}`;
  const text = (value: string | null) => md`${value ?? "none"}`;
  return join(
    [
      from.title !== to.title && line("Title", text(from.title), text(to.title)),
      from.action !== to.action && line("Action", text(from.action), text(to.action)),
      from.voteBefore !== to.voteBefore &&
        line("Threshold deadline", timestamp(from.voteBefore, "f"), timestampWithAge(to.voteBefore)),
      from.targetEffectiveAt !== to.targetEffectiveAt &&
        line(
          "Takes effect",
          from.targetEffectiveAt === null ? md`at the threshold` : timestamp(from.targetEffectiveAt, "f"),
          timestampWithAge(to.targetEffectiveAt),
        ),
    ],
    "\n",
  );
}

/** News of a request that was announced before: it stands alone just as well. */
export function news(
  event: Exclude<GovernanceEvent, { kind: "opened" | "digest" }>,
  { proposal, needed, keys }: Material,
  mark: string,
): MessagePayload {
  const { yes, no, pending } = proposal;
  const tally = [
    tallyBar(yes, no, pending),
    tallyWords(proposal),
    ...(needed === undefined || isOver(proposal.status)
      ? []
      : [md`-# about ${needed} yes needed (estimate)`]),
  ];
  const title = titleOf(proposal);
  const shared = { links: links(proposal.identity, mark) };
  switch (event.kind) {
    case "changed":
      return message(
        { ...shared, title: md`Changed: ${title}`, tone: "warning", body: [changes(event.from, event.to)] },
        keys,
      );
    case "vote": {
      const turned = event.from !== null && md`, before: ${voteWords(event.from)}`;
      const body = [join([md`**${event.voter}** votes ${voteWords(event.to)}`, turned], ""), ...tally];
      return message({ ...shared, title: md`Vote on ${title}`, tone: "neutral", body }, keys);
    }
    case "reminder": {
      const absent =
        event.absent && event.absent.length > 0
          ? md`Not seen voting: ${cut(event.absent.join(", "), 700)}`
          : null;
      const body = [
        md`Threshold deadline ${timestampWithAge(proposal.voteBefore)}`,
        ...tally,
        ...(absent ? [absent] : []),
      ];
      return message({ ...shared, title: md`Still open: ${title}`, tone: "warning", body }, keys);
    }
    case "closed": {
      const known = outcomeKnown(event.status);
      const tone = known ? statusTone(event.status) : "warning";
      return message(
        { ...shared, title: md`Closed: ${title}`, tone, body: [outcome(event.status, known), ...tally] },
        keys,
      );
    }
  }
}

/** A proposal as the state knows it, where its detail cannot be read. */
export function fromKnown(known: KnownRequest): Proposal {
  const { identity, terms, status, yes, no, pending } = known;
  return {
    identity,
    contractId: known.contractIds.at(-1) ?? null,
    title: terms.title ?? terms.action,
    action: { words: terms.action, subject: [], changes: [] },
    status,
    requester: null,
    requesterName: null,
    requesterImg: null,
    createdAt: null,
    voteBefore: terms.voteBefore,
    targetEffectiveAt: terms.targetEffectiveAt,
    yes,
    no,
    pending,
    reasonUrl: null,
    reasonBody: null,
    detail: "none",
  };
}
