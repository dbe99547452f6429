/** Data of the sandbox's ledger, in the API's format (explorer-api.md). Times are epoch ms. */

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
  /** Decimal text with ten digits after the decimal point. */
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
  /** Set during a purchase, if it differs from the traffic that is counted so far. */
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
  /** Time of the first vote, epoch ms, if it was changed later. It counts for the quorum. */
  firstCastAt?: number;
}

export interface VoteRequest {
  /** Changes with each vote. */
  contractId: string;
  /** null on the first version, then that version's contract id. */
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
  /** True if its action fails, so that it stays open after its dates. */
  isStuck?: boolean;
  status: "In Progress" | "Accepted" | "Implemented" | "Rejected" | "Expired";
  ballots: Ballot[];
}
