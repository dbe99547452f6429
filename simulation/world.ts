import type { IncomingMessage, ServerResponse } from "node:http";
import { REST, type RESTOptions } from "discord.js";
import { Gateway } from "../sandbox/discord/gateway.js";
import { RateLimits } from "../sandbox/discord/rate-limits.js";
import { createRest } from "../sandbox/discord/rest.js";
import { World } from "../sandbox/discord/world.js";
import { createRandom, type Random } from "../sandbox/explorer/random.js";
import { SECOND } from "../src/util/units.js";
import type { Owner, VirtualClock } from "./clock.js";
import type { History, Kill, Moment } from "./history/index.js";
import { windowAt } from "./history/windows.js";

const TOKEN = "simulated-token";

/** A bot process, as seen by the world around it. */
export interface SimulatedProcess extends Owner {
  /** Set if the process is to be killed. */
  doom: Pick<Kill, "afterEffect" | "moment"> | undefined;
  readonly onDeath: () => void;
}

/**
 * Everything around the bot except for its explorers: the sandbox's Discord, called directly, and its faults.
 */
export class Surroundings {
  readonly discord: World;
  readonly random: Random;
  requests = { explorer: 0, discord: 0 };
  readonly #clock: VirtualClock;
  readonly #history: History;
  readonly #rest: ReturnType<typeof createRest>;

  constructor(clock: VirtualClock, history: History, seed: number) {
    this.#clock = clock;
    this.#history = history;
    this.random = createRandom(seed + 1_000_003);
    const now = () => clock.now;
    this.discord = new World(now);
    this.#rest = createRest({
      world: this.discord,
      gateway: new Gateway(this.discord, TOKEN),
      interactions: new Map(),
      token: TOKEN,
      traps: [],
      limits: new RateLimits(),
      onRequest: () => {},
    });
  }

  /**
   * Performs an action of a process that affects the world. It takes a moment, and may be the process's last.
   * @returns a promise that never settles if the process is dead
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

  /** Returns Discord's REST API for a process. */
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

  /** Sends a request to the sandbox's Discord without a socket. */
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

const abortError = () => Object.assign(new Error("This operation was aborted"), { name: "AbortError" });
