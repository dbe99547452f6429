/** Kinds of vote requests by constructor. The first match counts. */
const KINDS = [
  ["apps", /FeaturedApp/],
  ["configuration", /Config|Schedule|Synchronizer|EnabledChoices/],
  ["rewards", /Unclaimed|RewardsV2|Reimbursement/],
  ["validators", /Sv|Member|Validator|Voter/],
] as const;

/** A kind of vote request. "other" if no kind matches. */
export type MotionKind = (typeof KINDS)[number][0] | "other";

/** Returns the kind of a vote request by its action's constructor. "other" if it has none. */
export const motionKindOf = (tag: string | null): MotionKind =>
  KINDS.find(([, fits]) => tag !== null && fits.test(tag))?.[0] ?? "other";
