import { LRUCache } from "lru-cache";
import type { Cache, CacheEntry } from "../storage/cache.js";
import { type Fetched, fetchAnswer, type OnAnswer, type Request } from "./client.js";
import { type Answer, type EndpointName, type Parameters, takesId } from "./endpoints.js";
import { ExplorerError } from "./errors.js";
import { freshnessOf, KEPT_MS, MISSING_MS } from "./freshness.js";
import type { PersonalLimit } from "./personal-limit.js";
import type { Upstream } from "./upstream.js";
import { createWaiters, type Waiters } from "./waiters.js";

/** The caller: a person by their user id, or background work. */
export type Caller = { readonly person: string } | "background";

/** Options of a reading. */
export interface ReadOptions {
  /** Maximum age in ms while the explorer answers. By default freshnessOf applies. */
  readonly maxAgeMs?: number | undefined;
  /** False if the answer is not worth caching, such as a list that is read only for its names. */
  readonly keep?: boolean;
  /** True if the caller waits a moment for a new answer in place of a stale one. */
  readonly isPatient?: boolean;
}

/** A question to the explorer. */
export interface ExplorerQuestion<Name extends EndpointName> {
  readonly name: Name;
  readonly parameters: Parameters<Name>;
  /** Cache key of the answer. */
  readonly key: string;
  readonly caller: Caller;
  readonly options: ReadOptions;
}

/** Called with each fetched answer, unless it is the same as the previous one. */
export type OnFetched = <Name extends EndpointName>(endpoint: Name, data: Answer<Name>) => void;

/** A fetch in progress, shared by all callers with the same question (single flight). */
export interface Flight {
  readonly waiters: Waiters;
  /** Reason why there is no answer yet: the request waits in the queue, was sent, or was refused because of a limit. */
  waitsFor: "busy" | "slow" | "limited";
  /** When it was first sent (monotonic clock, ms). */
  sentAt?: number;
  /** The same for its latest attempt. */
  lastSentAt?: number;
  /** True if one of the callers wants the answer to be cached. */
  keep: boolean;
  /** True if a person started it. It waits in the queue for a shorter time, also for background work that joined. */
  readonly isPersons: boolean;
  readonly entry: Promise<CacheEntry>;
}

/** Maximum total size of the answers that are kept for comparison with the next one, in characters. */
const COMPARED_CHARACTERS = 1_000_000;

/** Time without an answer after which the explorer counts as slow, in ms. */
const SLOW_MS = 3_000;

interface FlightDeps {
  readonly upstream: Upstream;
  readonly cache: Cache;
  readonly limit: PersonalLimit;
  readonly now: () => number;
  readonly onAnswer: OnAnswer | undefined;
  readonly onFetched: OnFetched | undefined;
}

/** Fetches in progress, and what they say about the explorer. */
export interface ExplorerFlights {
  /** Starts to fetch a new answer, or joins the fetch in progress for the same question. */
  renew<Name extends EndpointName>(question: ExplorerQuestion<Name>): Flight;
  /** True if a request has had no answer for so long that the explorer is slow. */
  hasUnanswered(): boolean;
  /** Returns how the explorer failed within the last ms, unless it has answered since. */
  troubleWithin(ms: number): "failing" | "slow" | undefined;
}

/** Creates the fetches of one explorer. Their answers are cached. */
export function createFlights({
  upstream,
  cache,
  limit,
  now,
  onAnswer,
  onFetched,
}: FlightDeps): ExplorerFlights {
  const flights = new Map<string, Flight>();
  const lastAnswers = new LRUCache<string, Fetched<EndpointName>>({
    maxSize: COMPARED_CHARACTERS,
    sizeCalculation: ({ text }) => text.length + 1,
  });
  /** The last failure of the explorer, until it answers again (monotonic clock, ms). */
  let trouble: { readonly problem: "failing" | "slow"; readonly at: number } | undefined;
  const troubleWithin = (ms: number) =>
    trouble && performance.now() - trouble.at < ms ? trouble.problem : undefined;

  const fetchEntry = async <Name extends EndpointName>(
    { name, parameters, key }: ExplorerQuestion<Name>,
    flight: Omit<Flight, "entry">,
  ): Promise<CacheEntry> => {
    const fetchedAt = now();
    const { waiters } = flight;
    const onSent = () => {
      flight.waitsFor = "slow";
      flight.lastSentAt = performance.now();
      flight.sentAt ??= flight.lastSentAt;
      // Background requests do not count against a person.
      if (!waiters.background) limit.charge(waiters.people);
    };
    const onLimited = () => {
      flight.waitsFor = "limited";
    };
    const isAlwaysThere = !takesId(parameters);
    const send: Request = (path, query) =>
      upstream({ waiters, endpoint: name, isAlwaysThere, path, query, onSent, onLimited });
    try {
      // The key names the endpoint, so the last answer is of the same type.
      const lastAnswer = lastAnswers.get(key) as Fetched<Name> | undefined;
      const answer = await fetchAnswer(send, name, parameters, onAnswer, lastAnswer);
      const { data, bytes } = answer;
      trouble = undefined;
      if (answer !== lastAnswer) {
        lastAnswers.set(key, answer);
        onFetched?.(name, data);
      }
      const entry = { data, bytes, fetchedAt };
      if (flight.keep) await cache.set(key, entry, freshnessOf(name, parameters).stale + KEPT_MS);
      return entry;
    } catch (error) {
      const problem = error instanceof ExplorerError ? error.problem : undefined;
      if (problem === "failing" || problem === "slow") trouble = { problem, at: performance.now() };
      if (problem !== "missing") throw error;
      const entry = { missing: true, bytes: 0, fetchedAt } as const;
      if (flight.keep) await cache.set(key, entry, MISSING_MS);
      return entry;
    }
  };

  const renew = <Name extends EndpointName>(question: ExplorerQuestion<Name>): Flight => {
    const { key, caller, options } = question;
    const underWay = flights.get(key);
    const person = caller === "background" ? undefined : caller.person;
    if (underWay) {
      underWay.waiters.join(person);
      underWay.keep ||= options.keep ?? true;
      return underWay;
    }
    const waiters = createWaiters(person, (people) => limit.payerAmong(people) !== undefined);
    const begun: Omit<Flight, "entry"> = {
      waiters,
      waitsFor: "busy",
      keep: options.keep ?? true,
      isPersons: person !== undefined,
    };
    const entry = fetchEntry(question, begun).finally(() => flights.delete(key));
    const flight: Flight = Object.assign(begun, { entry });
    flights.set(key, flight);
    return flight;
  };

  const hasUnanswered = (): boolean =>
    [...flights.values()].some(
      ({ waitsFor, sentAt = Infinity }) => waitsFor === "slow" && performance.now() - sentAt > SLOW_MS,
    );

  return { renew, hasUnanswered, troubleWithin };
}
