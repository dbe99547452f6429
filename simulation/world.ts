import type { IncomingMessage, ServerResponse } from "node:http";
import { REST, type RESTOptions } from "discord.js";
import findMyWay from "find-my-way";
import { Gateway } from "../sandbox/discord/gateway.js";
import { RateLimits } from "../sandbox/discord/rate-limits.js";
import { createRest } from "../sandbox/discord/rest.js";
import { World } from "../sandbox/discord/world.js";
import { Ledger } from "../sandbox/explorer/ledger.js";
import { createRandom, type Random } from "../sandbox/explorer/random.js";
import { type Handler, Refused, routes } from "../sandbox/explorer/server.js";
import { ExplorerError } from "../src/explorer/errors.js";
import { HOUR, SECOND } from "../src/util/units.js";
import type { Owner, VirtualClock } from "./clock.js";
import type { History, Kill, Moment } from "./history/index.js";
import { SUPER_VALIDATORS } from "./history/motions.js";
import { isSuperValidator, trafficAt, VALIDATORS } from "./history/validators.js";
import { stepAt, windowAt } from "./history/windows.js";

const TOKEN = "simulated-token";

/** A process of the bot, as the world around it deals with it. */
export interface SimulatedProcess extends Owner {
  /** Set when it is to be killed. */
  doom: Pick<Kill, "afterEffect" | "moment"> | undefined;
  readonly onDeath: () => void;
}

/** What surrounds the bot: the explorer and Discord of the sandbox, called directly, and what goes wrong with them. */
export class Surroundings {
  readonly discord: World;
  readonly ledger: Ledger;
  readonly random: Random;
  requests = { explorer: 0, discord: 0 };
  readonly #clock: VirtualClock;
  readonly #history: History;
  readonly #explorer = findMyWay();
  readonly #rest: ReturnType<typeof createRest>;

  constructor(clock: VirtualClock, history: History, seed: number) {
    this.#clock = clock;
    this.#history = history;
    this.random = createRandom(seed + 1_000_003);
    const now = () => clock.now;
    this.discord = new World(now);
    this.ledger = new Ledger({
      seed,
      now,
      lively: false,
      size: {
        validators: VALIDATORS,
        parties: 80,
        // Those from before tell who the super validators are.
        voteRequests: 8,
        superValidators: SUPER_VALIDATORS,
        updates: 2,
        tokens: 1,
      },
    });
    // Numbered so that the super validators are where the history has them.
    const numbers = Array.from({ length: VALIDATORS }, (_, number) => number);
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
      this.#explorer.on("GET", path, () => {}, handler);
    this.#rest = createRest({
      world: this.discord,
      gateway: new Gateway(this.discord, TOKEN),
      interactions: new Map(),
      token: TOKEN,
      traps: [],
      limits: new RateLimits(),
      origin: () => "",
      onRequest: () => {},
    });
  }

  /**
   * Something that a process does to the world: takes a moment, and may be the last that it does.
   * @returns a promise that a dead process never hears of again
   */
  async touch<T>(
    process: SimulatedProcess,
    work: () => Promise<T>,
    ms = 0,
    moment: Moment = "any",
  ): Promise<T> {
    const never = new Promise<T>(() => {});
    if (process.isDead) return never;
    const isIt = process.doom?.moment === "any" || process.doom?.moment === moment;
    const doom = isIt ? process.doom : undefined;
    if (doom && !doom.afterEffect) {
      process.onDeath();
      return never;
    }
    if (ms > 0) await this.#clock.delay(ms / 2);
    if (process.isDead) return never;
    const result = await work();
    if (doom) process.onDeath();
    if (ms > 0) await this.#clock.delay(ms / 2);
    return process.isDead ? never : result;
  }

  /** What each validator has done, as far as the explorer tells. */
  #bringUpToDate(): void {
    const { now } = this.#clock;
    const history = this.#history;
    const told = windowAt(history.lags, now)?.from ?? now;
    for (const validator of this.ledger.validators) {
      const number = Number(/^Node (\d+)$/.exec(validator.party.name ?? "")?.[1] ?? Number.NaN);
      const isJoined = Number.isNaN(number);
      validator.lastActiveAt = isJoined ? told - 60 * SECOND : history.lastReport(number, told);
      validator.active = told - validator.lastActiveAt < HOUR;
      // Who joins runs what most run.
      validator.version = history.versionOf(isJoined ? newestOf(history, told) : number, told);
      const { percent = 60, isBuying = false } = trafficAt(history, number, now) ?? {};
      validator.trafficUsed = validator.trafficBought * (1 - percent / 100);
      validator.trafficOrdered = validator.trafficBought * (isBuying ? 2 : 1);
    }
  }

  /** What the price is, and what is wrong with it. */
  #priceNow(json: object): object {
    const { now } = this.#clock;
    const { priceFaults, prices } = this.#history;
    const usd = stepAt(prices, now)?.usd ?? 0;
    const fault = windowAt(priceFaults, now)?.kind;
    const price = { null: null, zero: 0, absurd: usd * 5_000, stale: usd * 1.2, none: usd }[fault ?? "none"];
    return { ...json, price, updateTimestamp: now - (fault === "stale" ? HOUR : 20 * SECOND) };
  }

  /** What the explorer answers. @throws {ExplorerError} */
  ask(process: SimulatedProcess, path: string, query: Readonly<Record<string, unknown>> = {}) {
    const fault = windowAt(this.#history.explorerFaults, this.#clock.now);
    const work = async () => {
      this.requests.explorer += 1;
      if (fault?.kind === "error") throw new ExplorerError("failing", "Simulated");
      if (fault?.kind === "slow") {
        await this.#clock.delay(10 * SECOND);
        throw new ExplorerError("slow", "Simulated");
      }
      if (fault?.kind === "garbage") throw new ExplorerError("unreadable", "Simulated");
      if (fault?.kind === "later-pages" && Number(query.page ?? 0) > 0)
        throw new ExplorerError("failing", "Simulated");
      if (path === "validators" || path.startsWith("validators/")) this.#bringUpToDate();
      const found = this.#explorer.find("GET", `/v1/${path}`);
      if (!found) throw new ExplorerError("missing", "Simulated");
      const text = Object.fromEntries(
        Object.entries(query).flatMap(([name, value]) =>
          value === undefined ? [] : [[name, String(value)]],
        ),
      );
      try {
        const answer = (found.store as Handler)(text, found.params);
        const json: unknown = JSON.parse(
          JSON.stringify(answer, (_, each) => (typeof each === "bigint" ? String(each) : each)),
        );
        if (fault?.kind === "empty" && typeof json === "object" && json !== null && "content" in json)
          return { json: { ...json, content: [], totalElements: 0, totalCount: 0, last: true }, bytes: 100 };
        if (path === "market/get-price" && typeof json === "object" && json !== null)
          return { json: this.#priceNow(json), bytes: 200 };
        return { json, bytes: 1_000 };
      } catch (error) {
        if (error instanceof Refused)
          throw new ExplorerError(error.status === 404 ? "missing" : "rejected", "Simulated");
        throw error;
      }
    };
    return this.touch(process, work, this.random.int(20, 200));
  }

  /** Discord's REST API as a process sees it. */
  restFor(process: SimulatedProcess): REST {
    const makeRequest = (async (url: string, init: RequestInit) => {
      const fault = windowAt(this.#history.discordFaults, this.#clock.now);
      const isHit = fault !== undefined && this.random.chance(0.7);
      const { signal } = init;
      const work = async () => {
        this.requests.discord += 1;
        if (isHit && fault?.kind === "error") return this.#answer(500, "{}", {});
        if (isHit && fault?.kind === "slow") await this.#clock.delay(this.random.int(1, 20) * SECOND);
        if (signal?.aborted) throw abortError();
        const answer = await this.#call(url, init);
        if (isHit && fault?.kind === "lost")
          throw Object.assign(new Error("socket hang up"), { code: "ECONNRESET" });
        return answer;
      };
      const aborted = new Promise<never>((_, reject) => {
        signal?.addEventListener("abort", () => reject(abortError()), { once: true });
      });
      const moment = init.method === "POST" && url.endsWith("/messages") ? "message" : "any";
      return Promise.race([this.touch(process, work, this.random.int(40, 300), moment), aborted]);
    }) as unknown as RESTOptions["makeRequest"];
    return new REST({
      api: "http://discord/api",
      retries: 0,
      timeout: 8_000,
      offset: 0,
      rejectOnRateLimit: () => true,
      handlerSweepInterval: 0,
      hashSweepInterval: 0,
      makeRequest,
    }).setToken(TOKEN);
  }

  #answer(status: number, text: string, headers: Record<string, string>) {
    return {
      status,
      ok: status < 300,
      statusText: "",
      headers: new Headers({ "content-type": "application/json", ...headers }),
      body: null,
      bodyUsed: false,
      json: async () => JSON.parse(text) as unknown,
      text: async () => text,
      arrayBuffer: async () => new TextEncoder().encode(text).buffer,
    };
  }

  /** One request to the sandbox's Discord, without a socket. */
  #call(url: string, init: RequestInit) {
    type Answer = ReturnType<Surroundings["answerOf"]>;
    return new Promise<Answer>((resolve, reject) => {
      const { pathname, search } = new URL(url);
      const headers = Object.fromEntries(
        Object.entries((init.headers ?? {}) as Record<string, string>).map(([name, value]) => [
          name.toLowerCase(),
          value,
        ]),
      );
      const request = {
        method: init.method ?? "GET",
        url: `${pathname}${search}`,
        headers,
        async *[Symbol.asyncIterator]() {
          if (typeof init.body === "string") yield Buffer.from(init.body);
        },
      };
      let status = 200;
      let given: Record<string, string> = {};
      const response = {
        writeHead: (code: number, more: Record<string, string> = {}) => {
          status = code;
          given = more;
          return response;
        },
        end: (text = "") => resolve(this.answerOf(status, String(text), given)),
        destroy: () => reject(new Error("socket hang up")),
      };
      this.#rest.lookup(request as unknown as IncomingMessage, response as unknown as ServerResponse);
    });
  }

  answerOf(status: number, text: string, headers: Record<string, string>) {
    return this.#answer(status, text || "{}", headers);
  }
}

/** A validator that has come to the newest version there is. */
const newestOf = ({ spreads }: History, at: number): number =>
  [...(spreads.findLast((spread) => spread.at <= at)?.upgrades ?? [])].toSorted(
    ([, a], [, b]) => a - b,
  )[0]?.[0] ?? 0;

const abortError = () => Object.assign(new Error("This operation was aborted"), { name: "AbortError" });
