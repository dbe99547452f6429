import { createHash } from "node:crypto";
import { identityOf, statusGroup } from "../explorer/governance.js";
import type { VoteRequestListItem } from "../explorer/schema.js";

/** What is known of a vote request from one read to the next. */
export interface KnownRequest {
  readonly identity: string;
  /** Whether it was open when last seen. */
  readonly open: boolean;
  readonly title: string | null;
  readonly status: string | null;
  readonly voteBefore: number | null;
  readonly targetEffectiveAt: number | null;
}

/** A request's key in the state: a short hash of its identity, kept for ever. */
export function requestKey(identity: string): string {
  return createHash("sha256").update(identity).digest("base64url").slice(0, 16);
}

/** Whether votes can still be cast, as far as its row tells: by its status, or by its deadlines where that is unknown. */
export function isOpen(
  row: Pick<VoteRequestListItem, "status" | "voteBefore" | "targetEffectiveAt">,
  now: number,
): boolean {
  const group = statusGroup(row.status);
  if (group !== "other") return group === "open";
  return now < Math.max(row.voteBefore ?? 0, row.targetEffectiveAt ?? 0);
}

/** What is known of a request after its row was read; undefined for a row without any id. */
export function toKnown(row: VoteRequestListItem, now: number): KnownRequest | undefined {
  const identity = identityOf(row);
  if (identity === null) return undefined;
  const { title, status, voteBefore, targetEffectiveAt } = row;
  return { identity, open: isOpen(row, now), title, status, voteBefore, targetEffectiveAt };
}
