import { LRUCache } from "lru-cache";
import type { Cache, CacheLayer, Entry } from "../storage/cache.js";
import { within } from "../within.js";
import { addressOf, createClient, type Parameters, parseAnswer } from "./client.js";
import { ExplorerError, type ExplorerProblem } from "./errors.js";
import { FRESHNESS, KEPT_MS, MISSING_MS, PATIENCE_MS, REQUESTS_PER_PERSON } from "./policy.js";
import type { Answer, EndpointName } from "./schema.js";
import type { Upstream } from "./upstream.js";

/** A value from the explorer with its age. */
export interface Reading<T> {
  readonly data: T;
  /** When it was asked for, in epoch ms. */
  readonly fetchedAt: number;
  /** Whether it is older than it should be: a newer one is on its way, or cannot be had. */
  readonly stale: boolean;
  /** Why no newer one could be had, where it was asked for. */
  readonly problem?: ExplorerProblem;
}

/** What the explorer answers, by endpoint, for one asker. Each throws ExplorerError. */
export type Explorer = {
  readonly [Name in EndpointName]: (parameters: Parameters[Name]) => Promise<Reading<Answer<Name>>>;
};

/** Who asks: a person by their user id, or the bot's own background work. */
export type Asker = { readonly person: string } | "background";

export interface AskOptions {
  /** Nothing older than this will do while the explorer answers, in ms; by default what FRESHNESS says. */
  readonly maxAgeMs?: number | undefined;
  /** Whether what is fetched is worth keeping (true): not where a whole list is read once to be told apart. */
  readonly keep?: boolean;
}

/** The shared API service: cached readings, for whoever asks. */
export interface ExplorerService {
  for(asker: Asker, options?: AskOptions): Explorer;
}

interface Options {
  readonly upstream: Upstream;
  readonly cache: Cache;
  /** Tells the answers of one explorer from those of another in a cache that bots share. */
  readonly origin?: string;
  readonly now?: () => number;
  readonly onRead?: (endpoint: EndpointName, source: CacheLayer | "upstream" | "stale") => void;
}

/** Entries of another shape live under another version, so an upgrade never reads what it does not know. */
const CACHE_VERSION = 1;

export function createExplorerService({
  upstream,
  cache,
  origin = "",
  now = Date.now,
  onRead,
}: Options): ExplorerService {
  /** Renewals under way by key: whoever asks meanwhile shares them, and a person hurries them on. */
  const renewals = new Map<string, { readonly entry: Promise<Entry>; readonly hurry: AbortController }>();
  const limit = personalLimit(now);

  const renew = <Name extends EndpointName>(
    name: Name,
    parameters: Parameters[Name],
    key: string,
    asker: Asker,
    keep: boolean,
  ): Promise<Entry> => {
    const fetchedAt = now();
    const hurry = new AbortController();
    const allowance = asker === "background" ? undefined : limit.of(asker.person);
    const lane = asker === "background" ? "background" : "people";
    const client = createClient((path, query) =>
      upstream({ lane, path, query, hurry: hurry.signal, ...(allowance ? { maySend: allowance } : {}) }),
    );
    const entry = client[name](parameters)
      .then(
        ({ data, bytes }): Entry => ({ data, bytes, fetchedAt }),
        (error: unknown): Entry => {
          if (!(error instanceof ExplorerError && error.problem === "missing")) throw error;
          return { missing: true, bytes: 0, fetchedAt };
        },
      )
      .then(async (entry) => {
        const ttl = "missing" in entry ? MISSING_MS : FRESHNESS[name].stale + KEPT_MS;
        if (keep) await cache.set(key, entry, ttl);
        return entry;
      })
      .finally(() => renewals.delete(key));
    renewals.set(key, { entry, hurry });
    return entry;
  };

  const read = async <Name extends EndpointName>(
    name: Name,
    parameters: Parameters[Name],
    asker: Asker,
    { maxAgeMs, keep = true }: AskOptions,
    until: () => number,
  ): Promise<Reading<Answer<Name>>> => {
    const key = `${CACHE_VERSION}:${origin}:${addressOf(name, parameters)}`;
    const { fresh, stale } = FRESHNESS[name];
    const found = await cache.get(key, {
      newerThan: now() - (maxAgeMs ?? fresh),
      parse: (data) => parseAnswer(name, data),
    });
    const age = found ? now() - found.entry.fetchedAt : Number.POSITIVE_INFINITY;
    const wanted =
      found && "missing" in found.entry ? Math.min(MISSING_MS, maxAgeMs ?? MISSING_MS) : (maxAgeMs ?? fresh);
    if (found && age <= wanted) {
      onRead?.(name, found.layer);
      return toReading(name, found.entry, age > fresh);
    }

    const held = found && !("missing" in found.entry) ? found.entry : undefined;
    const underWay = renewals.get(key);
    const renewal = underWay?.entry ?? renew(name, parameters, key, asker, keep);
    if (asker !== "background") underWay?.hurry.abort();
    if (held && maxAgeMs === undefined && age <= stale) {
      renewal.catch(() => {});
      onRead?.(name, "stale");
      return toReading(name, held, true);
    }
    try {
      const entry = await (asker === "background"
        ? renewal
        : within(renewal, until() - performance.now(), tooSlow));
      onRead?.(name, "upstream");
      return toReading(name, entry, false);
    } catch (error) {
      if (!held || asker === "background") throw error;
      onRead?.(name, "stale");
      const problem = error instanceof ExplorerError ? error.problem : "failing";
      return { ...toReading(name, held, true), problem };
    }
  };

  /** One asker's view; its methods are on the prototype, made once for all. */
  class BoundExplorer {
    /** A screen reads several things one after another: the person waits for all of them together. */
    #patienceEnds: number | undefined;
    constructor(
      readonly asker: Asker,
      readonly options: AskOptions,
    ) {}
    ask<Name extends EndpointName>(name: Name, parameters: Parameters[Name]) {
      const until = () => {
        this.#patienceEnds ??= performance.now() + PATIENCE_MS;
        return this.#patienceEnds;
      };
      return read(name, parameters, this.asker, this.options, until);
    }
  }
  for (const name of Object.keys(FRESHNESS) as EndpointName[]) {
    Object.defineProperty(BoundExplorer.prototype, name, {
      value(this: BoundExplorer, parameters: Parameters[typeof name]) {
        return this.ask(name, parameters);
      },
    });
  }
  return { for: (asker, options = {}) => new BoundExplorer(asker, options) as unknown as Explorer };
}

function toReading<Name extends EndpointName>(
  name: Name,
  entry: Entry,
  stale: boolean,
): Reading<Answer<Name>> {
  if ("missing" in entry) throw new ExplorerError("missing", `The explorer knows no such thing (${name})`);
  // The entry was parsed by this endpoint's schema, when it was fetched or when it came from Redis.
  return { data: entry.data as Answer<Name>, fetchedAt: entry.fetchedAt, stale };
}

function tooSlow(): never {
  throw new ExplorerError("slow", "No answer while a person waits");
}

/** The requests that each person may cause: so many in any minute, each try counted as it is sent. */
function personalLimit(now: () => number) {
  const recent = new LRUCache<string, number[]>({ max: 10_000 });
  return {
    /** @returns a function that tells whether one more may be sent for this person, and counts it */
    of: (person: string) => (): boolean => {
      const times = (recent.get(person) ?? []).filter((time) => time > now() - 60_000);
      const allowed = times.length < REQUESTS_PER_PERSON;
      recent.set(person, allowed ? [...times, now()] : times);
      return allowed;
    },
  };
}
