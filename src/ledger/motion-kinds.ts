import { toTag } from "./actions.js";

/** Kinds of vote requests by constructor. The first match counts. */
const KINDS = [
  ["apps", /FeaturedApp/],
  ["configuration", /Config|Schedule|Synchronizer|EnabledChoices/],
  ["rewards", /Unclaimed|RewardsV2|Reimbursement/],
  ["validators", /Sv|Member|Validator|Voter/],
] as const;

/** A kind of vote request; "other" if none matches. */
export type MotionKind = (typeof KINDS)[number][0] | "other";

/** The kind of a vote request, as far as its title says: it is the action's constructor, or the words for one. */
export function motionKindOf(title: string | null): MotionKind {
  const tag = toTag(title);
  return (tag !== null && KINDS.find(([, fits]) => fits.test(tag))?.[0]) || "other";
}
