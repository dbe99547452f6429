import {
  MOTIONS,
  type Motion,
  nextUpgradeAt,
  type UpgradeSetting,
  upgradeAfter,
  upgradeMotion,
  upgradeSetting,
} from "./actions.js";
import type {
  Ballot,
  Contract,
  LedgerEvent,
  Party,
  Token,
  Transfer,
  Update,
  Validator,
  VoteRequest,
} from "./model.js";
import { CITIES, FIRST, SECOND, SUPER_VALIDATORS, VERSIONS } from "./names.js";
import { createRandom, type Random } from "./random.js";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Time between two rounds, in ms. */
const ROUND_MS = 10 * MINUTE;
/** An id over 2^53, which a float cannot represent. */
const FIRST_EVENT_ID = 9_007_199_254_740_993n;

/** Returns the votes needed for a decision: two thirds of the super validators, rounded up. */
const votesNeeded = (superValidators: number): number => Math.ceil((superValidators * 2) / 3);

/** Numbers of things in the ledger. */
export interface LedgerSize {
  validators: number;
  parties: number;
  voteRequests: number;
  superValidators: number;
  updates: number;
  tokens: number;
}

const BELIEVABLE: LedgerSize = {
  validators: 1_000,
  parties: 6_000,
  voteRequests: 330,
  superValidators: 13,
  updates: 2_500,
  tokens: 40,
};

export interface LedgerOptions {
  readonly seed?: number;
  readonly size?: Partial<LedgerSize>;
  readonly now?: () => number;
  /** True if events happen automatically as time passes. */
  readonly lively?: boolean;
  /** Time between two reports of a validator, in ms. The network's are about 65 minutes; tests are shorter with 10. */
  readonly reportMs?: number;
  /** Another network's ledger, whose organizations have the same ids and names here but other data. */
  readonly sibling?: Ledger;
}

export interface OpenRequest {
  readonly motion?: string;
  readonly title?: string;
  readonly reason?: string;
  readonly reasonUrl?: string;
  readonly actionConfig?: unknown;
  /** Duration of the voting period, in ms. */
  readonly lastsMs?: number;
  readonly effectiveInMs?: number | null;
}

/** A simulated ledger that changes over time. All lists are newest first. */
export class Ledger {
  readonly size: LedgerSize;
  readonly random: Random;
  readonly now: () => number;
  readonly parties: Party[] = [];
  readonly validators: Validator[] = [];
  readonly superValidators: Party[] = [];
  readonly voteRequests: VoteRequest[] = [];
  readonly updates: Update[] = [];
  readonly events: LedgerEvent[] = [];
  readonly contracts: Contract[] = [];
  readonly transfers: Transfer[] = [];
  readonly tokens: Token[] = [];
  readonly startedAt: number;
  price = 0.1523;
  priceAt: number;
  /** True if validators report automatically. */
  reports = true;
  /** True if other events happen automatically: votes, price changes, validators that go silent. */
  moves = true;
  /** Number of parties by name, to make names unique. */
  readonly #named = new Map<string, number>();
  readonly #priceYesterday = 0.1478;
  readonly #lively: boolean;
  readonly #reportMs: number;
  #movedAt: number;

  constructor({
    seed = 7,
    size = {},
    now = Date.now,
    lively = true,
    reportMs = 10 * MINUTE,
    sibling,
  }: LedgerOptions = {}) {
    this.size = { ...BELIEVABLE, ...size };
    this.random = createRandom(seed);
    this.now = now;
    this.#lively = lively;
    this.#reportMs = reportMs;
    this.startedAt = now();
    this.#movedAt = this.startedAt;
    this.priceAt = this.startedAt - 20_000;
    this.#populate();
    if (sibling) this.price = Number((sibling.price * 0.61).toFixed(6));
    for (const [index, { party }] of this.validators.entries()) {
      const twin = sibling?.validators[index]?.party;
      if (twin) Object.assign(party, { id: twin.id, name: twin.name });
    }
  }

  get change24h(): number {
    return Number((((this.price - this.#priceYesterday) / this.#priceYesterday) * 100).toFixed(4));
  }

  /** Total time without rounds, and the time since when there are none, in ms. */
  #roundlessMs = 0;
  #roundlessSince: number | undefined;

  /** True if a round begins every ten minutes. */
  get rounds(): boolean {
    return this.#roundlessSince === undefined;
  }

  set rounds(advance: boolean) {
    if (advance === this.rounds) return;
    this.#roundlessMs += this.#roundlessSince === undefined ? 0 : this.now() - this.#roundlessSince;
    this.#roundlessSince = advance ? undefined : this.now();
  }

  get round(): number {
    const at = (this.#roundlessSince ?? this.now()) - this.#roundlessMs;
    return 90_000 + Math.floor((at - Date.UTC(2026, 0, 1)) / ROUND_MS);
  }

  /** Returns the round at a time in the past, if the rounds have advanced since. */
  roundAt(time: number): number {
    return this.round - Math.ceil((this.now() - time) / ROUND_MS);
  }

  contractId(): string {
    return `00${this.random.hex(136)}`;
  }

  findRequest(id: string): VoteRequest | undefined {
    return this.voteRequests.find((each) => each.contractId === id || each.firstContractId === id);
  }

  /** Opens a vote request now. The requester's own Yes appears with the first vote that changes it. */
  openVoteRequest(options: OpenRequest = {}): VoteRequest {
    const { random } = this;
    const now = this.now();
    const motion = this.#motionFor(options.motion);
    const contractId = this.contractId();
    const requester = random.pick(this.superValidators);
    const request: VoteRequest = {
      contractId,
      firstContractId: contractId,
      trackingCid: null,
      title: options.title ?? motion.title,
      requester,
      reasonBody: options.reason ?? motion.reason,
      reasonUrl: options.reasonUrl ?? "https://governance.example.org/minutes",
      actionConfig: options.actionConfig === undefined ? motion.actionConfig : options.actionConfig,
      createdAt: now,
      voteBefore: now + (options.lastsMs ?? 7 * DAY),
      targetEffectiveAt: options.effectiveInMs === null ? null : now + (options.effectiveInMs ?? 8 * DAY),
      status: "In Progress",
      ballots: [{ voter: requester, accept: true, reason: "I propose it.", reasonUrl: "", castAt: now }],
    };
    this.voteRequests.unshift(request);
    return request;
  }

  /** The setting of the next upgrade, which accepted votes have left. */
  upgrade: UpgradeSetting = {};

  #motionFor(name: string | undefined): Motion {
    const { random } = this;
    if (name === "cancelUpgrade") return upgradeMotion(this.upgrade, {});
    if (name === "upgrade")
      return upgradeMotion(this.upgrade, upgradeSetting(nextUpgradeAt(this.upgrade, this.now())));
    const make = MOTIONS[name ?? random.pick(Object.keys(MOTIONS))] ?? MOTIONS.feature;
    const motion = make?.(random, random.pick(name === "weight" ? this.superValidators : this.parties));
    if (!motion) throw new RangeError(`No motion is called ${name}`);
    return motion;
  }

  /** Casts or changes a vote. The request's contract is archived and created again. */
  castVote(request: VoteRequest, accept: boolean, voter?: Party): Ballot | undefined {
    const missing = this.superValidators.filter(
      (sv) => !request.ballots.some((ballot) => ballot.voter === sv),
    );
    const who = voter ?? missing[0];
    if (who === undefined || request.status !== "In Progress") return undefined;
    request.trackingCid ??= request.contractId;
    request.contractId = this.contractId();
    const old = request.ballots.find((ballot) => ballot.voter === who);
    const reason = accept ? "Reviewed; no objection." : "The numbers do not add up yet.";
    const castAt = this.now();
    if (old) return Object.assign(old, { accept, castAt, firstCastAt: old.firstCastAt ?? old.castAt });
    const ballot: Ballot = { voter: who, accept, reason, reasonUrl: "", castAt };
    request.ballots.push(ballot);
    return ballot;
  }

  /** Casts the votes that an outcome takes, and closes the request. A request expires without them. */
  decideVoteRequest(request: VoteRequest, status: Exclude<VoteRequest["status"], "In Progress">): void {
    const isYes = status !== "Rejected";
    const needed = votesNeeded(this.superValidators.length);
    for (const voter of status === "Expired" ? [] : this.superValidators) {
      if (request.ballots.filter(({ accept }) => accept === isYes).length >= needed) break;
      this.castVote(request, isYes, voter);
    }
    this.closeVoteRequest(request, status);
  }

  closeVoteRequest(request: VoteRequest, status: Exclude<VoteRequest["status"], "In Progress">): void {
    request.status = status;
    if (status === "Accepted" || status === "Implemented")
      this.upgrade = upgradeAfter(request.actionConfig) ?? this.upgrade;
  }

  setValidatorActive(validator: Validator, active: boolean): void {
    validator.active = active;
    if (active) this.#report(validator);
    else validator.lastActiveAt = Math.min(validator.lastActiveAt, this.now() - 2 * HOUR);
  }

  /** Upgrades most active validators to a new version. */
  spreadVersion(): string {
    const newest = [...this.validators.map((each) => each.version)].sort((a, b) =>
      a.localeCompare(b, "en", { numeric: true }),
    );
    const next = (newest.at(-1) ?? "0.0.0").replace(/\d+$/, (patch) => String(Number(patch) + 1));
    for (const each of this.validators) if (this.random.chance(0.8)) each.version = next;
    return next;
  }

  /** Uses up most of a validator's traffic. */
  drainTraffic(validator: Validator): void {
    validator.trafficUsed = Math.round(
      validator.trafficBought * (validator.trafficUsed < validator.trafficBought * 0.8 ? 0.85 : 0.95),
    );
  }

  setPrice(price: number): void {
    this.price = Number(price.toFixed(6));
    this.priceAt = this.now();
  }

  /** Simulates the events since the last call. */
  move(): void {
    const now = this.now();
    const elapsed = now - this.#movedAt;
    this.#movedAt = now;
    this.#closeDue(now);
    if (!this.#lively || elapsed <= 0) return;
    const { random } = this;
    const times = (everyMs: number) => {
      const expected = Math.min(elapsed / everyMs, 200);
      return Math.floor(expected) + (random.chance(expected % 1) ? 1 : 0);
    };
    if (this.reports) this.#reportAll(now);
    for (let each = times(15_000); each > 0; each -= 1) this.addUpdate(now);
    if (!this.moves) return;
    for (let each = times(5 * MINUTE); each > 0; each -= 1) this.#toggle();
    for (let each = times(10_000); each > 0; each -= 1)
      this.setPrice(this.price * (1 + (random.next() - 0.5) * 0.004));
    const open = this.voteRequests.filter((each) => each.status === "In Progress");
    // About one or two vote requests a day, and as many votes as decide each within its week.
    for (let each = times(2 * HOUR); each > 0 && open.length > 0; each -= 1)
      this.castVote(random.pick(open), random.chance(0.85));
    for (let each = times(16 * HOUR); each > 0; each -= 1) this.openVoteRequest();
  }

  /** Returns an unused name: its words, and a city if they are taken. */
  #unused(words: string): string {
    const taken = this.#named.get(words) ?? 0;
    this.#named.set(words, taken + 1);
    if (taken === 0) return words;
    const city = CITIES[(taken - 1) % CITIES.length];
    return taken <= CITIES.length
      ? `${words} ${city}`
      : `${words} ${city} ${Math.ceil(taken / CITIES.length)}`;
  }

  #toggle(): void {
    const validator = this.random.pick(this.validators.filter((each) => !each.isSv));
    this.setValidatorActive(validator, this.random.chance(0.8));
  }

  /** Lets all active validators report that are due. If hours have passed at once, each has reported at its usual times. */
  #reportAll(now: number): void {
    const dueOnes = this.validators.filter(
      ({ active, lastActiveAt }) => active && now - lastActiveAt >= this.#reportMs,
    );
    for (const each of dueOnes.sort((a, b) => a.lastActiveAt - b.lastActiveAt))
      this.#report(each, now - ((now - each.lastActiveAt) % this.#reportMs));
  }

  #report(validator: Validator, at = this.now()): void {
    validator.lastActiveAt = at;
    validator.party.lastSeen = at;
    validator.contractId = this.contractId();
    const used = validator.trafficUsed + this.random.int(1_000, 90_000);
    validator.trafficUsed = Math.min(used, Math.max(validator.trafficBought, validator.trafficUsed));
    this.validators.splice(this.validators.indexOf(validator), 1);
    this.validators.unshift(validator);
  }

  #closeDue(now: number): void {
    const needed = votesNeeded(this.superValidators.length);
    for (const request of this.voteRequests) {
      if (request.status !== "In Progress" || request.isStuck) continue;
      const yes = request.ballots.filter((ballot) => ballot.accept).length;
      const { voteBefore, targetEffectiveAt, ballots } = request;
      const ends = targetEffectiveAt ?? voteBefore;
      // With a date for its effect, enough must have voted by the other date (docs/ledger.md, "How a vote ends").
      const hasQuorum =
        targetEffectiveAt === null ||
        ballots.filter(({ castAt, firstCastAt = castAt }) => firstCastAt < voteBefore).length >= needed;
      if (now >= ends) this.closeVoteRequest(request, hasQuorum && yes >= needed ? "Implemented" : "Expired");
      else if (request.targetEffectiveAt === null && yes >= needed)
        this.closeVoteRequest(request, "Accepted");
    }
  }

  #party(name: string | null, hint: string, at: number): Party {
    const { random } = this;
    const party: Party = {
      id: `${hint}::1220${random.hex(64)}`,
      name,
      image: random.chance(0.2) ? `https://images.example.org/${random.hex(8)}.png` : null,
      firstSeen: at,
      lastSeen: this.startedAt - random.int(0, 40 * DAY),
      unlocked: `${random.int(0, 9_000_000)}.${String(random.int(0, 9_999_999_999)).padStart(10, "0")}`,
      locked: random.chance(0.3) ? `${random.int(0, 90_000)}.5000000000` : "0.0000000000",
      totalRewards: Number((random.next() * 100_000).toFixed(4)),
    };
    this.parties.push(party);
    return party;
  }

  #populate(): void {
    const { random, size, startedAt } = this;
    for (const name of SUPER_VALIDATORS.slice(0, size.superValidators)) {
      this.superValidators.push(this.#party(name.replaceAll("-", " "), name, startedAt - 500 * DAY));
    }
    for (let at = 0; at < size.parties - size.superValidators; at += 1) {
      const words = this.#unused(`${random.pick(FIRST)} ${random.pick(SECOND)}`);
      const hint = `${words.toLowerCase().replace(/\s+/g, "-")}-${at}`;
      this.#party(random.chance(0.6) ? words : null, hint, startedAt - random.int(1, 400) * DAY);
    }
    for (const [at, party] of this.parties.slice(0, size.validators).entries()) this.#addValidator(party, at);
    this.validators.sort((a, b) => b.lastActiveAt - a.lastActiveAt);
    for (let at = size.tokens; at > 0; at -= 1) this.#addToken(startedAt - at * 6 * DAY);
    for (let at = size.updates; at > 0; at -= 1) this.addUpdate(startedAt - at * 40_000);
    for (let at = size.voteRequests; at > 0; at -= 1) this.#addPastRequest(at);
  }

  /** Adds a validator with this name, which reports from now on. */
  joinValidator(name: string): Validator {
    const now = this.now();
    const id = `${name.toLowerCase().replace(/\W+/g, "-")}::1220${this.random.hex(64)}`;
    const party: Party = { ...this.random.pick(this.parties), id, name, firstSeen: now };
    this.parties.push(party);
    this.#addValidator(party, this.validators.length);
    const [validator] = this.validators.splice(-1);
    if (!validator) throw new Error("No validator was added");
    Object.assign(validator, { createdAt: now, lastActiveAt: now, lastUpdatedAt: now, active: true });
    party.lastSeen = now;
    this.validators.unshift(validator);
    return validator;
  }

  #addValidator(party: Party, at: number): void {
    const { random, startedAt, size } = this;
    const isSv = at < size.superValidators;
    const active = isSv || random.chance(0.9);
    const sponsor = isSv ? party : random.pick(this.superValidators);
    // Since Splice 0.6.9, a report sets the sponsor to the validator itself. Some validators still run an
    // older version.
    const isRenewed = active && at % 3 !== 1;
    // The founders of the network are older than everyone who joined it.
    const createdAt = isSv ? party.firstSeen : startedAt - (at - size.superValidators + 1) * 8 * HOUR;
    party.firstSeen = Math.min(party.firstSeen, createdAt);
    const validator: Validator = {
      party,
      sponsor: isRenewed ? party : sponsor,
      contractId: this.contractId(),
      createdAt,
      lastActiveAt:
        startedAt - (active ? random.int(0, 1.2 * this.#reportMs) : random.int(2 * HOUR, 60 * DAY)),
      lastUpdatedAt: startedAt - random.int(1, 60) * DAY,
      version: random.chance(0.7) ? "0.4.16" : random.pick(VERSIONS),
      contactPoint: `ops@${party.id.split("::")[0]}.example.org`,
      active,
      isSv,
      trafficBought: random.int(5, 900) * 1_000_000,
      trafficUsed: random.int(1, 400) * 500_000,
    };
    // A validator cannot use more traffic than was bought.
    validator.trafficUsed = Math.min(validator.trafficUsed, validator.trafficBought);
    party.lastSeen = Math.max(party.firstSeen, validator.lastActiveAt);
    this.validators.push(validator);
  }

  /** Adds a token, which is a separate contract created in a separate update. */
  #addToken(createdAt: number): void {
    const { random } = this;
    const name = `${random.pick(FIRST)} Coin`;
    const issuer = random.pick(this.parties);
    const contractId = this.contractId();
    const token = { contractId, name, symbol: name.slice(0, 3).toUpperCase(), issuer, createdAt };
    const updateId = `1220${random.hex(64)}`;
    const created: LedgerEvent = {
      id: FIRST_EVENT_ID + BigInt(this.events.length),
      eventId: `${updateId}:0`,
      updateId,
      kind: "created",
      contractId,
      template: "Utility.Registry:InstrumentConfiguration",
      choice: null,
      arguments: { name, symbol: token.symbol, registrar: issuer.id },
      acting: [issuer.id],
      children: [],
      createdAt,
    };
    this.tokens.push(token);
    this.updates.unshift({ updateId, recordTime: createdAt, events: [created] });
    this.events.unshift(created);
    this.contracts.unshift({ contractId, template: created.template, creatingEvent: created });
  }

  /** Adds an update with a transfer. */
  addUpdate(at = this.now()): void {
    const { random } = this;
    const updateId = `1220${random.hex(64)}`;
    const sender = random.pick(this.parties);
    const receiver = random.pick(this.parties);
    const eventAt = (index: number) => `${updateId}:${index}`;
    const base = { updateId, createdAt: at, acting: [sender.id], children: [] };
    const id = () => FIRST_EVENT_ID + BigInt(this.events.length);
    const amount = Number((random.next() * 5_000).toFixed(4));
    const contractId = this.contractId();
    const source = this.contracts[0]?.contractId ?? contractId;
    const exercised: LedgerEvent = {
      ...base,
      id: id(),
      eventId: eventAt(0),
      kind: "exercised",
      contractId: source,
      template: "Splice.AmuletRules:AmuletRules",
      choice: "AmuletRules_Transfer",
      arguments: {
        transfer: {
          sender: sender.id,
          provider: receiver.id,
          outputs: [{ receiver: receiver.id, amount: String(amount) }],
        },
      },
      children: [eventAt(1)],
    };
    const created: LedgerEvent = {
      ...base,
      id: id(),
      eventId: eventAt(1),
      kind: "created",
      contractId,
      template: "Splice.Amulet:Amulet",
      choice: null,
      arguments: { owner: receiver.id, amount: { initialAmount: String(amount) } },
    };
    this.updates.unshift({ updateId, recordTime: at, events: [exercised, created] });
    this.events.unshift(exercised);
    this.events.unshift(created);
    this.contracts.unshift({ contractId, template: created.template, creatingEvent: created });
    this.transfers.unshift({ event: exercised, sender, receiver, amount, fee: 0.03, createdAt: at });
  }

  #addPastRequest(age: number): void {
    const { random, startedAt } = this;
    const request = this.openVoteRequest({ effectiveInMs: random.chance(0.3) ? null : 8 * DAY });
    const open = age <= 4;
    request.createdAt = startedAt - (open ? age * 20 * HOUR : age * 36 * HOUR + 9 * DAY);
    request.voteBefore = request.createdAt + 7 * DAY;
    if (request.targetEffectiveAt !== null) request.targetEffectiveAt = request.createdAt + 8 * DAY;
    for (let votes = open ? age * 2 : random.int(6, 12); votes > 0; votes -= 1) {
      this.castVote(request, random.chance(0.9));
    }
    // Votes on past requests were cast between the opening and the deadline.
    const { createdAt, voteBefore } = request;
    for (const ballot of request.ballots)
      ballot.castAt = random.int(createdAt, open ? startedAt : voteBefore);
    if (open) return;
    const wished = random.pick(["Accepted", "Implemented", "Implemented", "Rejected", "Expired"] as const);
    const needed = votesNeeded(this.superValidators.length);
    const tooMany = this.superValidators.length - needed + 1;
    if (wished === "Rejected") for (const ballot of request.ballots.slice(-tooMany)) ballot.accept = false;
    const yes = request.ballots.filter(({ accept }) => accept).length;
    const isRejected = request.ballots.length - yes >= tooMany;
    // The outcome must match the votes.
    if (isRejected) request.status = "Rejected";
    else if (yes < needed) request.status = "Expired";
    else request.status = wished === "Accepted" ? "Accepted" : "Implemented";
  }
}
