import type { Cache, CacheEntry, CacheLayer } from "../storage/cache.js";
import { ageOf } from "../util/clock.js";
import { perObject } from "../util/per-object.js";
import { withTimeout } from "../util/timeouts.js";
import { MINUTE } from "../util/units.js";
import { type OnAnswer, parseAnswer } from "./client.js";
import { decide } from "./decision.js";
import { type Answer, addressOf, type EndpointName, endpointNames, type Parameters } from "./endpoints.js";
import { ExplorerError, type ExplorerProblem, problemIs } from "./errors.js";
import {
  type Caller,
  createFlights,
  type ExplorerQuestion,
  type OnFetched,
  type ReadOptions,
} from "./flights.js";
import { freshnessOf, PATIENCE_MS, STALE_WAIT_MS } from "./freshness.js";
import { createPersonalLimit } from "./personal-limit.js";
import type { Upstream } from "./upstream.js";

/** A value from the explorer with its age. */
export interface Reading<T> {
  readonly data: T;
  /** When it was fetched, in epoch ms. */
  readonly fetchedAt: number;
  /** True if it is stale: it is being refreshed, or the explorer fails. */
  readonly stale: boolean;
  /** Reason why a newer answer could not be fetched, if one was needed. */
  readonly problem?: ExplorerProblem;
}

/** The endpoints for one caller. Each throws ExplorerError. */
export type Explorer = {
  readonly [Name in EndpointName]: (parameters: Parameters<Name>) => Promise<Reading<Answer<Name>>>;
};

/** The explorer service with its cache, shared by all callers. */
export interface ExplorerService {
  for(caller: Caller, options?: ReadOptions): Explorer;
}

/** Called with each reading and its source. */
export type OnRead = (endpoint: EndpointName, source: CacheLayer | "upstream" | "stale") => void;

interface ServiceOptions {
  readonly upstream: Upstream;
  readonly cache: Cache;
  /** Identifies the explorer in cache keys, because several bots can share a cache. */
  readonly origin?: string;
  readonly now?: () => number;
  readonly onRead?: OnRead;
  readonly onAnswer?: OnAnswer;
  readonly onFetched?: OnFetched;
}

/** Part of every cache key. A change of the entry format needs a new version, so that an upgraded bot never reads old entries. */
const CACHE_VERSION = 1;

/** Time for which a failure of the explorer is the reason why other requests wait, in ms. */
const TROUBLE_MS = 15_000;

/** Creates the service for one upstream and one cache, with single flight per question and stale-while-revalidate. */
export function createExplorerService({
  upstream,
  cache,
  origin = "",
  now = Date.now,
  onRead = () => {},
  onAnswer,
  onFetched,
}: ServiceOptions): ExplorerService {
  const limit = createPersonalLimit(now);
  const flights = createFlights({ upstream, cache, limit, now, onAnswer, onFetched });
  /** Returns why a request waits in the queue without being sent, unless there are only too many. */
  const reasonToWait = () => (flights.hasUnanswered() ? "slow" : flights.troubleWithin(TROUBLE_MS));
  /**
   * Returns what is to blame for a request that a person could not send. Retries count towards a person's limit, and requests without an
   * answer fill the queue.
   */
  const blameFor = (error: unknown): ExplorerProblem | undefined => {
    if (isSpent(error)) return flights.troubleWithin(MINUTE);
    return isBusy(error) ? reasonToWait() : undefined;
  };
  /**
   * Waits for a new answer. A person waits for a limited time, and gets the cached answer if the fetch fails or takes too long.
   */
  const renewed = async <Name extends EndpointName>(
    question: ExplorerQuestion<Name>,
    held: CacheEntry | undefined,
    patienceMs: () => number,
  ): Promise<Reading<Answer<Name>>> => {
    const { name, caller } = question;
    const askedAt = performance.now();
    /** True if the last attempt failed that the answer depends on, and it was sent before this caller asked. */
    let isEarlier = false;
    /** True if background work joined a person's request, which waits in the queue for a shorter time. */
    let isTooShort = false;
    const askExplorer = () => {
      const flight = flights.renew(question);
      flight.entry.catch((error: unknown) => {
        isEarlier =
          error instanceof ExplorerError && error.retryable && (flight.lastSentAt ?? askedAt) < askedAt;
        isTooShort = flight.isPersons && caller === "background" && isBusy(error);
      });
      const tooSlow = () => {
        // A request that was not sent is no sign of the explorer's state, unless it waits for others that get no answer.
        const problem = flight.waitsFor === "busy" ? (reasonToWait() ?? "busy") : flight.waitsFor;
        throw new ExplorerError(problem, "No answer while a person waits");
      };
      return caller === "background" ? flight.entry : withTimeout(flight.entry, patienceMs(), tooSlow);
    };
    /** True if it failed only because the people who had started it had no requests left, although this caller has some. */
    const isOthers = (error: unknown): boolean =>
      isSpent(error) && (caller === "background" || limit.payerAmong([caller.person]) !== undefined);
    try {
      const entry = await askExplorer().catch((error: unknown) => {
        if (!isOthers(error) && !isEarlier && !isTooShort) throw error;
        return askExplorer();
      });
      onRead(name, "upstream");
      return toReading(name, entry, false);
    } catch (thrown) {
      const blamed = caller === "background" ? undefined : blameFor(thrown);
      const error = blamed ? new ExplorerError(blamed, "Not sent", { cause: thrown }) : thrown;
      const problem = error instanceof ExplorerError ? error.problem : "failing";
      // A 404 is an answer: the thing no longer exists.
      if (!held || "missing" in held || caller === "background" || problem === "missing") throw error;
      onRead(name, "stale");
      return { ...toReading(name, held, true), problem };
    }
  };

  const readAnswer = async <Name extends EndpointName>(
    question: ExplorerQuestion<Name>,
    patienceMs: () => number,
    staleWaitMs: () => number,
  ): Promise<Reading<Answer<Name>>> => {
    const { name, parameters, key, options } = question;
    const freshness = freshnessOf(name, parameters);
    const foundEntry = await cache.get(key, {
      newerThan: now() - (options.maxAgeMs ?? freshness.fresh),
      parse: (data) => parseAnswer(name, data),
    });
    const ageMs = foundEntry ? ageOf(foundEntry.entry.fetchedAt, now()) : 0;
    const heldAnswer = foundEntry && { ageMs, missing: "missing" in foundEntry.entry };
    const decision = decide(heldAnswer, freshness, options.maxAgeMs);
    if (!foundEntry || decision === "fetch") return renewed(question, foundEntry?.entry, patienceMs);
    if (decision === "answer") {
      onRead(name, foundEntry.layer);
      return toReading(name, foundEntry.entry, ageMs > freshness.fresh);
    }
    const newEntry = flights.renew(question).entry.catch(() => undefined);
    const newest = options.isPatient
      ? await withTimeout(newEntry, staleWaitMs(), () => undefined)
      : undefined;
    onRead(name, newest ? "upstream" : "stale");
    return newest ? toReading(name, newest, false) : toReading(name, foundEntry.entry, true);
  };

  /** The explorer for one caller. The endpoint methods are defined once, on the prototype. */
  class BoundExplorer {
    /** Deadlines for all reads of one screen together (steady clock, ms), because a screen reads several things in sequence. */
    #patienceEnds: number | undefined;
    #staleWaitEnds: number | undefined;
    constructor(
      readonly caller: Caller,
      readonly options: ReadOptions,
    ) {}
    read<Name extends EndpointName>(name: Name, parameters: Parameters<Name>) {
      const key = `${CACHE_VERSION}:${origin}:${addressOf(name, parameters)}`;
      const question = { name, parameters, key, caller: this.caller, options: this.options };
      const patienceMs = () => {
        this.#patienceEnds ??= performance.now() + PATIENCE_MS;
        return this.#patienceEnds - performance.now();
      };
      const staleWaitMs = () => {
        this.#staleWaitEnds ??= performance.now() + STALE_WAIT_MS;
        return Math.max(0, this.#staleWaitEnds - performance.now());
      };
      return readAnswer(question, patienceMs, staleWaitMs);
    }
  }
  for (const name of endpointNames) {
    Object.defineProperty(BoundExplorer.prototype, name, {
      value(this: BoundExplorer, parameters: Parameters<typeof name>) {
        return this.read(name, parameters);
      },
    });
  }
  return { for: (caller, options = {}) => new BoundExplorer(caller, options) as unknown as Explorer };
}

const isSpent = problemIs("spent");
const isBusy = problemIs("busy");

type Answered = Exclude<CacheEntry, { missing: true }>;
/** An entry is read many times as the same reading, so that what is derived from a reading can be remembered (per-object.ts). */
const freshReading = perObject(({ data, fetchedAt }: Answered) => ({ data, fetchedAt, stale: false }));
const staleReading = perObject(({ data, fetchedAt }: Answered) => ({ data, fetchedAt, stale: true }));

function toReading<Name extends EndpointName>(
  name: Name,
  entry: CacheEntry,
  stale: boolean,
): Reading<Answer<Name>> {
  if ("missing" in entry) throw new ExplorerError("missing", `Not found: ${name}`);
  // This endpoint's schema parsed the entry, either when it was fetched or when it was read from Redis.
  return (stale ? staleReading(entry) : freshReading(entry)) as Reading<Answer<Name>>;
}
