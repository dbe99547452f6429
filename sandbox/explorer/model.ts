/** What the sandbox's ledger holds: the API's own shapes (explorer-api.md), times in epoch ms. */

export interface PartyRef {
  partyId: string;
  accountName: string | null;
  imageUrl: string | null;
}

export interface Party {
  id: string;
  name: string | null;
  image: string | null;
  firstSeen: number;
  lastSeen: number;
  /** Decimal text with ten digits after the point. */
  unlocked: string;
  locked: string;
  totalRewards: number;
}

export interface Validator {
  party: Party;
  sponsor: Party;
  contractId: string;
  createdAt: number;
  lastActiveAt: number;
  lastUpdatedAt: number;
  version: string;
  contactPoint: string;
  active: boolean;
  isSv: boolean;
  trafficBought: number;
  /** Where it differs from what is counted yet: a purchase is under way. */
  trafficOrdered?: number;
  trafficUsed: number;
}

export interface LedgerEvent {
  id: bigint;
  eventId: string;
  updateId: string;
  kind: "created" | "exercised";
  contractId: string;
  template: string;
  choice: string | null;
  arguments: unknown;
  acting: string[];
  children: string[];
  createdAt: number;
}

export interface Update {
  updateId: string;
  recordTime: number;
  events: LedgerEvent[];
}

export interface Contract {
  contractId: string;
  template: string;
  creatingEvent: LedgerEvent;
}

export interface Transfer {
  event: LedgerEvent;
  sender: Party;
  receiver: Party;
  amount: number;
  fee: number;
  createdAt: number;
}

export interface Token {
  contractId: string;
  name: string;
  symbol: string;
  issuer: Party;
  createdAt: number;
}

export interface Ballot {
  voter: Party;
  accept: boolean | null;
  reason: string;
  reasonUrl: string;
  castAt: number;
}

export interface VoteRequest {
  /** Changes with each vote. */
  contractId: string;
  /** Null on the first version, and that version's contract id from then on. */
  trackingCid: string | null;
  firstContractId: string;
  title: string;
  requester: Party;
  reasonBody: string;
  reasonUrl: string;
  actionConfig: unknown;
  createdAt: number;
  voteBefore: number;
  targetEffectiveAt: number | null;
  /** Its action fails: it stays open after its dates. */
  isStuck?: boolean;
  status: "In Progress" | "Accepted" | "Implemented" | "Rejected" | "Expired";
  ballots: Ballot[];
}
