import findMyWay from "find-my-way";
import { Ledger } from "../sandbox/explorer/ledger.js";
import type { Validator } from "../sandbox/explorer/model.js";
import { type Handler, Refused, routes } from "../sandbox/explorer/server.js";
import { ExplorerError } from "../src/explorer/errors.js";
import type { Body } from "../src/explorer/http.js";
import { HOUR, SECOND } from "../src/util/units.js";
import type { VirtualClock } from "./clock.js";
import type { History } from "./history/index.js";
import { SUPER_VALIDATORS } from "./history/motions.js";
import type { OddMotion } from "./history/odd-motions.js";
import { isSuperValidator, trafficAt } from "./history/validators.js";
import { stepAt, windowAt } from "./history/windows.js";
import type { SimulatedProcess, Surroundings } from "./world.js";

/** A network's explorer: the sandbox's explorer, called directly, with a ledger that follows a history. */
export class SimulatedExplorer {
  readonly ledger: Ledger;
  readonly #clock: VirtualClock;
  readonly #history: History;
  readonly #surroundings: Surroundings;
  readonly #oddMotions: ReadonlyMap<string, OddMotion>;
  #unlisted: Validator[] = [];
  // Ids of contracts are longer than the 100 characters that are allowed by default.
  readonly #routes = findMyWay({ maxParamLength: 1_000 });

  /** @param sibling another network's ledger with the same organizations */
  constructor(
    clock: VirtualClock,
    history: History,
    surroundings: Surroundings,
    seed: number,
    sibling: Ledger | undefined,
  ) {
    this.#clock = clock;
    this.#history = history;
    this.#surroundings = surroundings;
    this.#oddMotions = new Map(history.oddMotions.map((motion) => [motion.title, motion]));
    this.ledger = new Ledger({
      seed,
      now: () => clock.now,
      lively: false,
      size: {
        validators: history.validatorCount + SUPER_VALIDATORS,
        parties: 20 + Math.max(history.validatorCount + SUPER_VALIDATORS, 60),
        // Older requests show who the super validators are.
        voteRequests: 8,
        superValidators: SUPER_VALIDATORS,
        updates: 2,
        tokens: 1,
      },
    });
    // A network may have fewer validators than voters.
    const all = this.ledger.validators;
    const superValidators = all.filter(({ isSv }) => isSv).slice(0, Math.ceil(history.validatorCount / 5));
    const others = all.filter(({ isSv }) => !isSv).slice(0, history.validatorCount - superValidators.length);
    all.splice(0, all.length, ...superValidators, ...others);
    // Assign numbers so that the super validators match the history.
    const numbers = Array.from({ length: history.validatorCount }, (_, number) => number);
    const numberOf = (isSv: boolean) =>
      numbers.splice(
        Math.max(
          0,
          numbers.findIndex((number) => isSuperValidator(number) === isSv),
        ),
        1,
      )[0];
    for (const validator of this.ledger.validators) {
      validator.party.name = `Node ${numberOf(validator.isSv)}`;
      validator.active = true;
      validator.trafficBought = 100_000_000;
    }
    for (const [path, handler] of Object.entries(routes(this.ledger)))
      this.#routes.on("GET", path, () => {}, handler);
    if (!sibling) return;
    const idOf = new Map(sibling.validators.map(({ party }) => [party.name, party.id]));
    for (const { party } of this.ledger.validators)
      Object.assign(party, { id: idOf.get(party.name) ?? party.id });
  }

  /** Lets another validator take the place of the super validator that votes last. It votes first. Returns both names. */
  succeed(): { readonly former: string; readonly successor: string } {
    const { superValidators, validators } = this.ledger;
    const former = superValidators.pop();
    // Super validators have no traffic limit, so it is none whose traffic is watched.
    const isWatched = (name: string | null) =>
      Number(/^Node (\d+)$/.exec(name ?? "")?.[1] ?? 0) < this.#history.watchedCount;
    const successor = validators.find(({ isSv, party }) => !isSv && !isWatched(party.name));
    if (!former || !successor) throw new RangeError("Nobody can take a super validator's place");
    superValidators.unshift(successor.party);
    successor.isSv = true;
    for (const each of [...validators, ...this.#unlisted]) if (each.party === former) each.isSv = false;
    return { former: former.name ?? "", successor: successor.party.name ?? "" };
  }

  /** Updates each validator to the state that the explorer shows now. */
  #bringUpToDate(): void {
    const { now } = this.#clock;
    const history = this.#history;
    const told = history.shownAt(now);
    // New validators run the most common version.
    const versionOfJoined = history.versionOf(newestOf(history, told), told);
    const all = [...this.ledger.validators, ...this.#unlisted];
    const isUnlisted = ({ party }: Validator) => history.oddityOf(party.name ?? "", told) === "unlisted";
    this.#unlisted = all.filter(isUnlisted);
    this.ledger.validators.splice(
      0,
      this.ledger.validators.length,
      ...all.filter((each) => !isUnlisted(each)),
    );
    for (const validator of this.ledger.validators) {
      const number = Number(/^Node (\d+)$/.exec(validator.party.name ?? "")?.[1] ?? Number.NaN);
      const isJoined = Number.isNaN(number);
      const joinedAs =
        history.validatorCount + (Number(/\d+/.exec(validator.party.name ?? "")?.[0] ?? 0) % 5);
      validator.lastActiveAt = Math.max(
        isJoined ? Math.min(validator.createdAt, told) : 0,
        history.lastSeen(isJoined ? joinedAs : number, told),
      );
      validator.active = told - validator.lastActiveAt < 2 * HOUR;
      validator.version = isJoined ? versionOfJoined : history.versionOf(number, told);
      const { percent = 60, isBuying = false } = trafficAt(history, number, now) ?? {};
      validator.trafficUsed = validator.trafficBought * (1 - percent / 100);
      validator.trafficOrdered = validator.trafficBought * (isBuying ? 2 : 1);
    }
  }

  /** Replaces what the explorer says wrongly in rows of validators and of vote requests. */
  #spoiltNow(json: unknown): unknown {
    if (Array.isArray(json)) return json.map((row) => this.#spoiltNow(row));
    if (typeof json !== "object" || json === null) return json;
    const { content } = json as { content?: object[] };
    if (content) return { ...json, content: content.map((row) => this.#spoiltNow(row)) };
    if ("validatorName" in json) {
      const oddity = this.#history.oddityOf(String(json.validatorName), this.#clock.now);
      if (oddity === "unknown") return { ...json, lastActiveAt: null };
      return oddity === "future" ? { ...json, lastActiveAt: this.#clock.now + 3 * HOUR } : json;
    }
    return "abstainCount" in json && "contractId" in json ? this.#spoiltRequest(json) : json;
  }

  /** Removes what the explorer leaves out of a vote request, in the list and in its details. */
  #spoiltRequest(json: Readonly<Record<string, unknown>>): object {
    const title = String(json.title ?? this.ledger.findRequest(String(json.contractId))?.title ?? "");
    const motion = this.#oddMotions.get(title);
    const kind = motion?.kind;
    if (kind === "uncounted") {
      const { rawPayload } = json;
      const areVotesGone = rawPayload && motion && motion.closesAt < this.#clock.now;
      const payload = areVotesGone ? { rawPayload: { ...rawPayload, votes: [] } } : {};
      return { ...json, yesCount: null, noCount: null, ...payload };
    }
    if (kind === "wavering") return { ...json, abstainCount: null };
    // Details have no title.
    if (kind === "untitled")
      return { ...json, ...("title" in json ? { title: null } : { actionConfig: null }) };
    return "title" in json && this.#history.isUncounted(title) ? { ...json, abstainCount: null } : json;
  }

  /** Updates the newest update and the round in an answer to the explorer's time. */
  #datedNow(json: unknown): unknown {
    const told = this.#history.shownAt(this.#clock.now);
    if (typeof json !== "object" || json === null) return json;
    if ("latestRound" in json) return { ...json, latestRound: this.#history.roundAt(told) };
    const { content } = json as { content?: object[] };
    return {
      ...json,
      content: content?.map((row, place) => (place === 0 ? { ...row, recordTime: told - 5 * SECOND } : row)),
    };
  }

  /** Sets the current price in an answer, with its fault if there is one. */
  #priceNow(json: object): object {
    const { now } = this.#clock;
    const { priceFaults, prices } = this.#history;
    const usd = stepAt(prices, now)?.usd ?? 0;
    const fault = windowAt(priceFaults, now)?.kind;
    const price = { null: null, zero: 0, absurd: usd * 5_000, stale: usd * 1.2, ahead: usd, none: usd }[
      fault ?? "none"
    ];
    const ageMs = { stale: HOUR, ahead: -5 * HOUR }[String(fault)] ?? 20 * SECOND;
    return { ...json, price, updateTimestamp: now - ageMs };
  }

  /**
   * Answers a request.
   * @throws {ExplorerError}
   */
  ask(process: SimulatedProcess, path: string, query: Readonly<Record<string, unknown>> = {}) {
    const fault = windowAt(this.#history.explorerFaults, this.#clock.now);
    const work = async () => {
      this.#surroundings.requests.explorer += 1;
      if (fault?.kind === "error") throw new ExplorerError("failing", "Simulated");
      if (fault?.kind === "slow") {
        await this.#clock.delay(10 * SECOND);
        throw new ExplorerError("slow", "Simulated");
      }
      if (fault?.kind === "garbage") throw new ExplorerError("unreadable", "Simulated");
      if (fault?.kind === "later-pages" && Number(query.page ?? 0) > 0)
        throw new ExplorerError("failing", "Simulated");
      const { evidence } = this.#history;
      if ((path === "updates" && evidence !== "updates") || (path === "dashboard" && evidence === "none"))
        throw new ExplorerError("withheld", "Simulated");
      if (path === "validators" || path.startsWith("validators/")) this.#bringUpToDate();
      const found = this.#routes.find("GET", `/v1/${path}`);
      if (!found) throw new ExplorerError("missing", "Simulated");
      const text = Object.fromEntries(
        Object.entries(query).flatMap(([name, value]) =>
          value === undefined ? [] : [[name, String(value)]],
        ),
      );
      try {
        const answer = (found.store as Handler)(text, found.params);
        const json = toJson(answer);
        if (path === "market/get-price" && typeof json === "object" && json !== null)
          return bodyOf(this.#priceNow(json));
        return bodyOf(
          path === "updates" || path === "dashboard" ? this.#datedNow(json) : this.#spoiltNow(json),
        );
      } catch (error) {
        if (error instanceof Refused)
          throw new ExplorerError(error.status === 404 ? "missing" : "rejected", "Simulated");
        throw error;
      }
    };
    return this.#surroundings.touch(process, work, this.#surroundings.random.int(20, 200));
  }
}

/**
 * Copies an answer as JSON would convert it, with numbers over 2^53 as text. Several times as fast as
 * stringifying and parsing.
 */
function toJson(value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(toJson);
  const copy: Record<string, unknown> = {};
  for (const [key, each] of Object.entries(value)) if (each !== undefined) copy[key] = toJson(each);
  return copy;
}

/** Returns a validator that runs the newest version. */
const newestOf = ({ spreads }: History, at: number): number =>
  [...(spreads.findLast((spread) => spread.at <= at)?.upgrades ?? [])].toSorted(
    ([, a], [, b]) => a - b,
  )[0]?.[0] ?? 0;

/** Returns an answer as an HTTP body. */
function bodyOf(json: unknown): Body {
  const text = JSON.stringify(json);
  return { json, text, bytes: text.length };
}
