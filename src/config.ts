import { existsSync, readFileSync } from "node:fs";
import { isIP } from "node:net";
import { parseEnv } from "node:util";
import * as z from "zod";

/** What is wrong with the environment: one line for each variable, naming it and what it wants. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";

  constructor(readonly problems: readonly string[]) {
    super(problems.join("\n"));
  }
}

const addressOf = (protocols: readonly string[]) =>
  z.string().refine((value) => {
    if (!URL.canParse(value)) return false;
    const url = new URL(value);
    const bare = url.search === "" && url.hash === "";
    // fetch refuses an address with a password in it; Redis needs one.
    const secret = url.username !== "" || url.password !== "";
    const redis = url.protocol.startsWith("redis");
    // A Redis' path is the number of a database.
    const path = !redis || /^\/?\d*$/.test(url.pathname);
    return protocols.includes(url.protocol) && bare && path && (!secret || (redis && isDecodable(url)));
  });

/** Whether a user and password come out of their address: a % of their own is written %25. */
function isDecodable({ username, password }: URL): boolean {
  try {
    decodeURIComponent(username + password);
    return true;
  } catch {
    return false;
  }
}

const wholeNumber = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/)
    .transform(Number)
    .pipe(z.number().min(least).max(most));

const snowflake = z.string().regex(/^\d{15,20}$/);

/** The web explorer's page of one thing, by a pattern with its id in it. */
const pattern = z
  .string()
  .refine((value) => {
    if (!value.includes("{id}") || !URL.canParse(value)) return false;
    const url = new URL(value);
    // The id is no part of the host.
    return /^https?:$/.test(url.protocol) && !url.username && !url.password && !/[{}]|%7b/i.test(url.host);
  })
  .optional();
const WANTS_PATTERN = "an http(s) address with {id} in it, such as https://explorer.example/update/{id}";

/** Which of all the bot's shards this process runs: 0-3/16 is the first four of sixteen. */
const shards = z
  .string()
  .regex(/^(auto|\d{1,5}(-\d{1,5})?\/[1-9]\d{0,4})$/)
  .default("auto")
  .transform((text) => {
    const [, first, last, count] = /^(\d+)(?:-(\d+))?\/(\d+)$/.exec(text) ?? [];
    if (first === undefined) return "auto";
    const [from, to] = [Number(first), Number(last ?? first)];
    return {
      ids: Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index),
      count: Number(count),
    };
  })
  .refine((given) => given === "auto" || (given.ids.length > 0 && given.ids.every((id) => id < given.count)));

const levels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

/** Each variable: its shape, and the words that tell an operator what it wants. */
const variables = {
  DISCORD_TOKEN: [z.string().regex(/^[\x21-\x7e]+$/), "the bot's token, from the application's Bot page"],
  EXPLORER_API_URL: [
    addressOf(["http:", "https:"]),
    "the explorer's http(s) address, such as https://explorer.example",
  ],
  EXPLORER_API_KEY: [z.string().regex(/^[\x21-\x7e]+$/), "the explorer's API key"],
  REDIS_URL: [
    addressOf(["redis:", "rediss:"]).optional(),
    "a redis:// or rediss:// address, with no path but a database's number; a % in its user or password is written %25",
  ],
  DATA_DIR: [z.string().default("./data"), "a folder the bot may write to"],
  DISCORD_SHARDS: [shards, "auto, or this process's part of all shards, such as 0-3/16"],
  DISCORD_GUILD_ID: [snowflake.optional(), "a server's id: 15 to 20 digits"],
  GOVERNANCE_CHANNEL_ID: [snowflake.optional(), "a channel's id: 15 to 20 digits"],
  WATCH_POLL_SECONDS: [wholeNumber(1, 86_400).default(300), "whole seconds from 1 to 86400"],
  GOVERNANCE_POLL_SECONDS: [wholeNumber(1, 86_400).default(60), "whole seconds from 1 to 86400"],
  SUBSCRIPTIONS_PER_SERVER: [wholeNumber(1, 10_000).default(100), "a whole number from 1 to 10000"],
  DISCORD_API_URL: [
    addressOf(["http:", "https:"]).default("https://discord.com/api"),
    "an http(s) address without a version, such as https://discord.com/api",
  ],
  LOG_LEVEL: [z.enum(levels).default("info"), `one of ${levels.join(", ")}`],
  HTTP_PORT: [wholeNumber(1, 65_535).optional(), "a port from 1 to 65535"],
  HTTP_HOST: [
    z
      .string()
      .refine((host) => isIP(host) !== 0 || host === "localhost")
      .default("127.0.0.1"),
    "an IP address of this machine, such as 127.0.0.1, or 0.0.0.0 for all of them",
  ],
  EXPLORER_REQUESTS_PER_MINUTE: [wholeNumber(1, 100_000).default(120), "a whole number from 1 to 100000"],
  EXPLORER_CONCURRENCY: [wholeNumber(1, 100).default(4), "a whole number from 1 to 100"],
  CACHE_MEMORY_MB: [wholeNumber(1, 100_000).default(64), "whole megabytes from 1 to 100000"],
  EXPLORER_LINK_UPDATE: [pattern, WANTS_PATTERN],
  EXPLORER_LINK_EVENT: [pattern, WANTS_PATTERN],
  EXPLORER_LINK_PARTY: [pattern, WANTS_PATTERN],
  EXPLORER_LINK_VALIDATOR: [pattern, WANTS_PATTERN],
  EXPLORER_LINK_CONTRACT: [pattern, WANTS_PATTERN],
  EXPLORER_LINK_PROPOSAL: [pattern, WANTS_PATTERN],
} as const satisfies Record<string, readonly [z.ZodType, string]>;

/** Kinds of things that the web explorer may have pages of. */
type PageKind = "update" | "event" | "party" | "validator" | "contract" | "proposal";

type Variables = typeof variables;
type Values = { [Name in keyof Variables]: z.infer<Variables[Name][0]> };

/** The bot's settings. Nothing but this module reads the environment. */
export interface Config {
  readonly discord: {
    readonly token: string;
    /** Without a version and a trailing slash. */
    readonly apiUrl: string;
    /** The one server to register the commands in; undefined registers them everywhere. */
    readonly guildId: string | undefined;
    /** This process's part of all shards; "auto": all, as many as Discord recommends. */
    readonly shards: "auto" | { readonly ids: readonly number[]; readonly count: number };
  };
  readonly explorer: {
    /** Ends in `/v1`, without a trailing slash. */
    readonly apiUrl: string;
    readonly apiKey: string;
    readonly requestsPerMinute: number;
    readonly concurrency: number;
    /** The web explorer's pages, by the kind of thing: addresses with `{id}` in them. */
    readonly pages: Readonly<Record<PageKind, string | undefined>>;
  };
  /** The most subscriptions that a server may have. */
  readonly subscriptionsPerServer: number;
  readonly governance: { readonly channelId: string | undefined; readonly pollSeconds: number };
  /** How often what channels watch besides vote requests is read. */
  readonly watchPollSeconds: number;
  readonly redisUrl: string | undefined;
  readonly dataDir: string;
  readonly cacheMemoryMb: number;
  readonly logLevel: (typeof levels)[number];
  readonly httpPort: number | undefined;
  /** The address that the port is opened on. */
  readonly httpHost: string;
}

/** How often what is announced is read. */
export type PollSettings = Pick<Config, "governance" | "watchPollSeconds">;

type Environment = Readonly<Record<string, string | undefined>>;

/** The named variables' values. @throws {ConfigError} */
function readValues<Name extends keyof Variables>(
  env: Environment,
  names: readonly Name[],
): Pick<Values, Name> {
  const problems: string[] = [];
  const read = (name: Name): Values[Name] => {
    const [schema, wants] = variables[name];
    const value = env[name]?.trim() || undefined;
    const result = schema.safeParse(value);
    if (!result.success) {
      problems.push(`${name} is ${value === undefined ? "missing" : "malformed"}: it wants ${wants}`);
    }
    // Every value is read before the problems are thrown, so a failed one is never seen outside.
    return result.data as Values[Name];
  };

  const values = Object.fromEntries(names.map((name) => [name, read(name)])) as Pick<Values, Name>;
  if (problems.length > 0) throw new ConfigError(problems);
  return values;
}

/** Where the state is kept. */
export type StorageConfig = Pick<Config, "redisUrl" | "dataDir">;

/**
 * Reads the settings from an environment, in which an empty string counts as unset.
 * @throws {ConfigError} with one line for each variable that is missing or malformed
 */
export function parseConfig(env: Environment): Config {
  const values = readValues(env, Object.keys(variables) as (keyof Variables)[]);
  const { DISCORD_SHARDS: part, REDIS_URL } = values;
  if (part !== "auto" && part.ids.length < part.count && REDIS_URL === undefined) {
    throw new ConfigError([
      "REDIS_URL is missing: where DISCORD_SHARDS is a part of all shards, it wants the Redis that all processes share",
    ]);
  }
  return {
    discord: {
      token: values.DISCORD_TOKEN,
      apiUrl: values.DISCORD_API_URL.replace(/(\/+v\d+)?\/*$/, ""),
      guildId: values.DISCORD_GUILD_ID,
      shards: values.DISCORD_SHARDS,
    },
    explorer: {
      apiUrl: `${values.EXPLORER_API_URL.replace(/(\/+v1)?\/*$/, "")}/v1`,
      apiKey: values.EXPLORER_API_KEY,
      requestsPerMinute: values.EXPLORER_REQUESTS_PER_MINUTE,
      concurrency: values.EXPLORER_CONCURRENCY,
      pages: {
        update: values.EXPLORER_LINK_UPDATE,
        event: values.EXPLORER_LINK_EVENT,
        party: values.EXPLORER_LINK_PARTY,
        validator: values.EXPLORER_LINK_VALIDATOR,
        contract: values.EXPLORER_LINK_CONTRACT,
        proposal: values.EXPLORER_LINK_PROPOSAL,
      },
    },
    subscriptionsPerServer: values.SUBSCRIPTIONS_PER_SERVER,
    governance: { channelId: values.GOVERNANCE_CHANNEL_ID, pollSeconds: values.GOVERNANCE_POLL_SECONDS },
    watchPollSeconds: values.WATCH_POLL_SECONDS,
    redisUrl: values.REDIS_URL,
    dataDir: values.DATA_DIR,
    cacheMemoryMb: values.CACHE_MEMORY_MB,
    logLevel: values.LOG_LEVEL,
    httpPort: values.HTTP_PORT,
    httpHost: values.HTTP_HOST,
  };
}

/**
 * The settings of this process: its environment, and behind it a `.env` file where one exists.
 * @throws {ConfigError} see parseConfig
 */
export const loadConfig = (): Config => parseConfig(environment());

/**
 * The same for where the state is kept alone, which is all that a tool for it needs.
 * @throws {ConfigError} see parseConfig
 */
export function loadStorageConfig(): StorageConfig {
  const values = readValues(environment(), ["REDIS_URL", "DATA_DIR"]);
  return { redisUrl: values.REDIS_URL, dataDir: values.DATA_DIR };
}

function environment(): Environment {
  const file = existsSync(".env") ? parseEnv(readFileSync(".env", "utf8")) : {};
  const set = Object.entries(process.env).filter(([, value]) => value?.trim());
  return { ...file, ...Object.fromEntries(set) };
}
