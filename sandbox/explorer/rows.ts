import type { Ledger } from "./ledger.js";
import type {
  Contract,
  LedgerEvent,
  Party,
  PartyRef,
  Token,
  Transfer,
  Update,
  Validator,
  VoteRequest,
} from "./model.js";

/** Converts the ledger's data to the API's rows and details. */

const PACKAGE = "a5b0".repeat(16);
const DSO = `DSO::1220${"d5".repeat(32)}`;
const SYNCHRONIZER = `global-domain::1220${"be".repeat(32)}`;
const templateId = (template: string) => `${PACKAGE}:${template}`;
const entity = (template: string) => template.split(":").at(-1) ?? template;

export const partyRef = ({ id, name, image }: Party): PartyRef => ({
  partyId: id,
  accountName: name,
  imageUrl: image,
});

export const validatorSummary = (each: Validator) => ({
  validator: each.party.id,
  contractId: each.contractId,
  templateId: templateId("Splice.ValidatorLicense:ValidatorLicense"),
  dso: DSO,
  sponsor: each.sponsor.id,
  sponsorName: each.sponsor.name,
  sponsorImg: each.sponsor.image,
  lastActiveAt: each.lastActiveAt,
  lastUpdatedAt: each.lastUpdatedAt,
  version: each.version,
  contactPoint: each.contactPoint,
  active: each.active,
  validatorName: each.party.name,
  validatorImg: each.party.image,
  totalRewards: each.party.totalRewards,
});

export function validatorDetail(each: Validator) {
  const { totalRewards, ...shared } = validatorSummary(each);
  return {
    ...shared,
    createdAt: each.createdAt,
    isVerified: each.isSv,
    validatorFee: each.isSv ? null : 0.02,
    terms: null,
    additionalTerms: null,
    website: each.party.name === null ? null : "https://validators.example.org/about",
    discordContact: null,
    discord: null,
    twitter: null,
    email: each.contactPoint,
    github: null,
    telegram: null,
    description: each.party.name === null ? null : `${each.party.name} runs a node for the network.`,
    isSv: each.isSv,
    trafficStatus: {
      actual: { total_consumed: each.trafficUsed, total_limit: each.trafficBought },
      target: { total_purchased: each.trafficOrdered ?? each.trafficBought },
      availableTraffic: Math.max(0, each.trafficBought - each.trafficUsed),
    },
  };
}

const total = (party: Party) => {
  const [whole = "0", fraction = "0"] = party.unlocked.split(".");
  return `${BigInt(whole) + BigInt(party.locked.split(".")[0] ?? 0)}.${fraction}`;
};

export const partyItem = (party: Party) => ({
  partyAddress: party.id,
  partyName: party.name,
  partyImg: party.image,
  balance: Number(total(party)),
  firstSeen: party.firstSeen,
  lastSeen: party.lastSeen,
  totalRewards: party.totalRewards,
});

/** Returns the super validator that created a party, if there is one. */
function creatorOf(party: Party, ledger: Ledger): PartyRef | null {
  const at = Number.parseInt(party.id.slice(-2), 16);
  const creator = at % 3 === 0 ? ledger.superValidators[at % ledger.superValidators.length] : undefined;
  return creator && creator !== party ? partyRef(creator) : null;
}

export function partyDetail(party: Party, ledger: Ledger) {
  const record_time = new Date(ledger.startedAt).toISOString();
  const summary = {
    party_id: party.id,
    total_unlocked_coin: party.unlocked,
    total_locked_coin: party.locked,
    total_coin_holdings: total(party),
    accumulated_holding_fees_unlocked: "0.0012340000",
    accumulated_holding_fees_locked: "0.0000000000",
    accumulated_holding_fees_total: "0.0012340000",
    total_available_coin: party.unlocked,
    record_time,
    migration_id: 4,
    computed_as_of_round: ledger.round - 1,
  };
  return {
    partyId: party.id,
    accountName: party.name,
    imageUrl: party.image,
    website: null,
    creator: creatorOf(party, ledger),
    createdAt: party.firstSeen,
    lastSeenRound: ledger.roundAt(party.lastSeen),
    lastSeenRoundTimestamp: party.lastSeen,
    holdingsSummaryResponse: {
      record_time,
      migration_id: 4,
      computed_as_of_round: ledger.round - 1,
      summaries: [summary],
    },
    creatorAccount: party.name !== null,
  };
}

export const transferItem = (each: Transfer, ledger: Ledger) => ({
  eventId: each.event.eventId,
  transferType: "TRANSFER",
  senders: [partyRef(each.sender)],
  receivers: [partyRef(each.receiver)],
  amount: each.amount,
  fee: each.fee,
  amuletPrice: ledger.price,
  createdAt: each.createdAt,
});

/** Returns a party's rewards. Their number depends on its name, and each is from an existing event. */
export function rewardItems(party: Party, ledger: Ledger) {
  const share = Number.parseInt(party.id.slice(-6), 16);
  const isValidator = ledger.validators.some((each) => each.party === party);
  const count = isValidator ? 20 + (share % 300) : share % 25;
  return Array.from({ length: Math.min(count, ledger.events.length) }, (_, at) => {
    const event = ledger.events[(share + at * 7) % ledger.events.length];
    return {
      eventId: event?.eventId ?? null,
      partyId: party.id,
      inputAppRewardAmount: at % 3 === 0 ? Number(((share % 997) / 7).toFixed(4)) : 0,
      inputValidatorRewardAmount: isValidator ? Number(((share % 499) / 11 + at / 10).toFixed(4)) : 0,
      inputSvRewardAmount: 0,
      createdAt: ledger.startedAt - at * 600_000,
    };
  });
}

function tally(request: VoteRequest, ledger: Ledger) {
  const yes = request.ballots.filter((ballot) => ballot.accept === true).length;
  const no = request.ballots.filter((ballot) => ballot.accept === false).length;
  const abstain = Math.max(0, ledger.superValidators.length - yes - no);
  return {
    yesCount: yes,
    noCount: no,
    abstainCount: abstain,
    totalWeightYes: yes * 10,
    totalWeightNo: no * 10,
    totalWeightAbstain: abstain * 10,
  };
}

export const voteRequestItem = (each: VoteRequest, ledger: Ledger) => ({
  contractId: each.contractId,
  templateId: templateId("Splice.DsoRules:VoteRequest"),
  trackingCid: each.trackingCid,
  title: each.title,
  status: each.status,
  requester: each.requester.id,
  createdAt: each.createdAt,
  voteBefore: each.voteBefore,
  targetEffectiveAt: each.targetEffectiveAt,
  ...tally(each, ledger),
  requesterName: each.requester.name,
  requesterImg: each.requester.image,
});

export function voteRequestDetail(each: VoteRequest, ledger: Ledger) {
  const { title, ...shared } = voteRequestItem(each, ledger);
  return {
    ...shared,
    createdEventBlob: null,
    dso: DSO,
    reasonUrl: each.reasonUrl,
    reasonBody: each.reasonBody,
    actionConfig: each.actionConfig,
    actionProvider: null,
    rawPayload: {
      requester: each.requester.name,
      action: each.actionConfig,
      trackingCid: each.trackingCid,
      votes: each.ballots.map(({ voter, accept, reason, reasonUrl, castAt }) => [
        voter.name,
        {
          sv: voter.id,
          accept,
          reason: { url: reasonUrl, body: reason },
          optCastAt: new Date(castAt).toISOString(),
        },
      ]),
    },
  };
}

/** Returns the votes of all requests, newest request first. */
export const voteItems = (ledger: Ledger) =>
  ledger.voteRequests.flatMap((request) =>
    request.ballots.map((ballot) => ({
      company: ballot.voter.name,
      identifier: ballot.voter.id,
      accept: ballot.accept,
      trackingCid: request.firstContractId,
      title: request.title,
      reasonUrl: ballot.reasonUrl,
      reason: ballot.reason,
      voteBefore: request.voteBefore,
      accountName: ballot.voter.name,
      accountImg: ballot.voter.image,
    })),
  );

export function dashboard(ledger: Ledger) {
  const active = ledger.validators.filter((each) => each.active).length;
  return {
    totalTransactions: 41_000_000 + ledger.updates.length,
    totalEvents: 97_000_000 + ledger.events.length,
    totalTransfers: 12_000_000 + ledger.transfers.length,
    totalAccounts: ledger.parties.filter((each) => each.name !== null).length,
    totalValidators: ledger.validators.length,
    totalActiveValidators: active,
    totalInactiveValidators: ledger.validators.length - active,
    totalSuperValidators: ledger.superValidators.length,
    totalVoteRequests: ledger.voteRequests.length,
    approvedVoteRequests: ledger.voteRequests.filter((each) => /Accepted|Implemented/.test(each.status))
      .length,
    activeVoteRequests: ledger.voteRequests.filter((each) => each.status === "In Progress").length,
    tps: 3.4182937465,
    avgDayTps: 2.9912,
    avgDayTpsChange: 0.0412,
    monthPeakTps: 18.25,
    cps: 0.0512,
    avgDayCps: 0.0487,
    avgDayCpsChange: -0.0021,
    monthPeakCps: 0.41,
    migration: 4,
    latestRound: ledger.round,
  };
}

export const contractItem = ({ contractId, template, creatingEvent }: Contract) => ({
  contractId,
  templateId: templateId(template),
  templateName: entity(template),
  signatories: 2,
  eventData: JSON.stringify(creatingEvent.arguments),
  createdAt: creatingEvent.createdAt,
});

export function contractDetail({ contractId, template, creatingEvent }: Contract, ledger: Ledger) {
  const acting = ledger.parties.filter((party) => creatingEvent.acting.includes(party.id));
  return {
    contractId,
    templateId: templateId(template),
    signatories: acting.map(partyRef),
    creatingEvent: creatingEvent.eventId,
    creatingUpdate: creatingEvent.updateId,
    createdAt: creatingEvent.createdAt,
    packageName: "splice-amulet",
    args: JSON.stringify(creatingEvent.arguments),
  };
}

export function eventDetail(each: LedgerEvent) {
  const created = each.kind === "created";
  const text = JSON.stringify(each.arguments);
  return {
    eventId: each.eventId,
    transactionId: each.updateId,
    eventType: each.kind,
    contractId: each.contractId,
    templateId: templateId(each.template),
    packageName: "splice-amulet",
    templateName: entity(each.template),
    templateHash: PACKAGE,
    eventData: text,
    createArguments: created ? text : null,
    createdAt: each.createdAt,
    signatories: JSON.stringify(each.acting),
    observers: "[]",
    choice: each.choice,
    choiceArgument: created ? null : text,
    childEventIds: JSON.stringify(each.children),
    exerciseResult: created ? null : "{}",
    consuming: !created,
    actingParties: JSON.stringify(each.acting),
    interfaceId: null,
  };
}

export const eventItem = (each: LedgerEvent) => ({ id: each.id, ...eventDetail(each) });

export const updateItem = (each: Update) => ({
  updateId: each.updateId,
  migrationId: 4,
  workflowId: "",
  recordTime: each.recordTime,
  synchronizerId: SYNCHRONIZER,
  effectiveAt: each.recordTime,
  rootEventIds: JSON.stringify([each.events[0]?.eventId]),
  eventsCount: each.events.length,
  synchronizerName: "Global Synchronizer",
  synchronizerImg: null,
});

export const updateDetails = (each: Update) => ({
  update_id: each.updateId,
  migration_id: 4,
  workflow_id: "",
  record_time: new Date(each.recordTime).toISOString(),
  synchronizer_id: SYNCHRONIZER,
  effective_at: new Date(each.recordTime).toISOString(),
  root_event_ids: [each.events[0]?.eventId],
  events_by_id: Object.fromEntries(each.events.map((event) => [event.eventId, eventDetail(event)])),
});

export const tokenDetail = (token: Token) => ({
  id: `${token.issuer.id}:${token.symbol}`,
  name: token.name,
  symbol: token.symbol,
  operator: token.issuer.id,
  provider: token.issuer.id,
  registrar: token.issuer.id,
  operators: [partyRef(token.issuer)],
  providers: [partyRef(token.issuer)],
  registars: [partyRef(token.issuer)],
  contractId: token.contractId,
  templateId: templateId("Utility.Registry:InstrumentConfiguration"),
  domainId: SYNCHRONIZER,
  createdEventBlob: null,
  tokenStandard: "CIP-56",
  createdAt: token.createdAt,
  imageUrl: null,
  additionalIdentifiersJson: {},
  issuerRequirementsJson: {},
  holderRequirementsJson: {},
});
