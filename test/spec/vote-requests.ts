import type { Subscription } from "../../src/delivery/collections.js";
import type { Vote, VoteRequestListItem } from "../../src/explorer/schema/governance.js";
import type { TrackedVoteRequest } from "../../src/feeds/governance/collections.js";
import { DAY } from "../../src/util/units.js";

/** Current time in the specifications, epoch ms */
export const NOW = Date.UTC(2026, 10, 22);

/** Creates a row of the list: open for another day, with three yes and one no. */
export const row = (given: Partial<VoteRequestListItem>): VoteRequestListItem => ({
  contractId: "c1",
  templateId: null,
  trackingCid: null,
  title: "A title",
  status: "In Progress",
  requester: "Falcon",
  requesterName: null,
  requesterImg: null,
  createdAt: NOW - DAY,
  voteBefore: NOW + DAY,
  targetEffectiveAt: null,
  yesCount: 3,
  noCount: 1,
  abstainCount: 9,
  totalWeightYes: null,
  totalWeightNo: null,
  totalWeightAbstain: null,
  ...given,
});

/** Creates the tracked request for that row. */
export const tracked = (
  given: Partial<TrackedVoteRequest> = {},
  terms: Partial<TrackedVoteRequest["terms"]> = {},
): TrackedVoteRequest => ({
  identity: "c1",
  contractIds: ["c1"],
  phase: "open",
  status: "In Progress",
  requester: "Falcon",
  terms: { title: "A title", action: null, voteBefore: NOW + DAY, targetEffectiveAt: null, ...terms },
  yes: 3,
  no: 1,
  pending: 9,
  revision: 5,
  missedReads: 0,
  voteSequence: 2,
  changeSequence: 1,
  reminded: [],
  ...given,
});

/** Creates a vote on that request, by "ann". */
export const vote = (given: Partial<Vote>): Vote => ({
  company: null,
  identifier: "ann",
  accept: true,
  trackingCid: "c1",
  title: null,
  reasonUrl: null,
  reason: null,
  voteBefore: null,
  accountName: "Ann",
  accountImg: null,
  ...given,
});

/** Creates a subscription to governance. */
export const subscribed = (given: Partial<Subscription> = {}): Subscription => ({
  channelId: "1",
  feed: "governance",
  subject: null,
  guildId: "2",
  userId: null,
  forum: false,
  tagId: null,
  since: 0,
  topics: { new: true, outcome: true, reminders: true, changes: true, votes: true },
  roleId: null,
  thread: false,
  publish: false,
  ...given,
});
