import { existsSync, readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import * as z from "zod";
import {
  addressOf,
  brokenLinesIn,
  decodedText,
  hostOfThisMachine,
  httpAddress,
  namesIn,
  networkIds,
  pattern,
  readableIds,
  shards,
  snowflake,
  typosBetween,
  visible,
  wholeNumber,
} from "./config-shapes.js";

/** An invalid configuration. There is one line per variable, with its name and what to set. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";

  constructor(readonly problems: readonly string[]) {
    super(problems.join("\n"));
  }
}

const WANTS_PATTERN = "an http(s) address with {id} in it, such as https://explorer.example/update/{id}";
const WANTS_CHANNEL = "a channel's id: 15 to 20 digits";

const levels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

type Shape = readonly [z.ZodType, string];

/** Variables of the bot: each with its schema, and a description of valid values for the operator. */
const botVariables = {
  DISCORD_TOKEN: [visible, "the bot's token, from the application's Bot page"],
  REDIS_URL: [
    addressOf(["redis:", "rediss:"]).optional(),
    "a redis:// or rediss:// address whose only path is a database number. Percent-encode special characters in the user and password: % as %25, / as %2F, # as %23, ? as %3F, @ as %40",
  ],
  DATA_DIR: [
    z.string().regex(/^[^~]/).default("./data"),
    "a folder the bot may write to. Only a shell knows what ~ means",
  ],
  DISCORD_SHARDS: [shards, "auto, or this process's part of all shards, such as 0-3/16"],
  DISCORD_GUILD_ID: [snowflake.optional(), "a server's id: 15 to 20 digits"],
  WATCH_POLL_SECONDS: [wholeNumber(1, 86_400).default(300), "whole seconds from 1 to 86400"],
  GOVERNANCE_POLL_SECONDS: [wholeNumber(1, 86_400).default(60), "whole seconds from 1 to 86400"],
  SUBSCRIPTIONS_PER_SERVER: [wholeNumber(1, 10_000).default(100), "a whole number from 1 to 10000"],
  DISCORD_API_URL: [
    addressOf(["http:", "https:"]).default("https://discord.com/api"),
    "an http(s) address without a version, such as https://discord.com/api",
  ],
  LOG_LEVEL: [z.enum(levels).default("info"), `one of ${levels.join(", ")}`],
  HEARTBEAT_URL: [
    httpAddress.optional(),
    "the http(s) address to call each minute, such as https://monitor.example/ping/…",
  ],
  OPERATOR_CHANNEL_ID: [snowflake.optional(), WANTS_CHANNEL],
  HTTP_PORT: [wholeNumber(1, 65_535).optional(), "a port from 1 to 65535"],
  HTTP_HOST: [
    hostOfThisMachine,
    "an IP address of this machine, such as 127.0.0.1, or 0.0.0.0 for all of them",
  ],
  CACHE_MEMORY_MB: [wholeNumber(1, 100_000).default(64), "whole megabytes from 1 to 100000"],
  NETWORKS: [
    networkIds,
    "at most 8 names of 2 to 12 lowercase letters and digits, beginning with a letter, separated by commas, such as main,test; no two begin with the same two characters",
  ],
} as const satisfies Record<string, Shape>;

/** Variables that each network can have. A network's own variable ends in its name in capitals, such as EXPLORER_API_URL_TEST. */
const networkVariables = {
  EXPLORER_API_URL: [
    addressOf(["http:", "https:"]),
    "the explorer's http(s) address, such as https://explorer.example",
  ],
  EXPLORER_API_KEY: [visible, "the explorer's API key"],
  NETWORK_NAME: [z.string().max(20).optional(), "a name of at most 20 characters, such as TestNet"],
  COIN: [z.string().max(10).optional(), "the coin's unit, at most 10 characters"],
  GOVERNANCE_CHANNEL_ID: [snowflake.optional(), WANTS_CHANNEL],
  EXPLORER_REQUESTS_PER_MINUTE: [wholeNumber(1, 100_000).default(120), "a whole number from 1 to 100000"],
  EXPLORER_CONCURRENCY: [wholeNumber(1, 100).default(4), "a whole number from 1 to 100"],
  EXPLORER_LINK_UPDATE: [pattern, WANTS_PATTERN],
  EXPLORER_LINK_EVENT: [pattern, WANTS_PATTERN],
  EXPLORER_LINK_PARTY: [pattern, WANTS_PATTERN],
  EXPLORER_LINK_VALIDATOR: [pattern, WANTS_PATTERN],
  EXPLORER_LINK_CONTRACT: [pattern, WANTS_PATTERN],
  EXPLORER_LINK_PROPOSAL: [pattern, WANTS_PATTERN],
} as const satisfies Record<string, Shape>;

/**
 * Variables whose value without a suffix is the default for all networks. The others apply only to the first network without a suffix.
 */
const FOR_ALL: ReadonlySet<string> = new Set([
  "COIN",
  "EXPLORER_REQUESTS_PER_MINUTE",
  "EXPLORER_CONCURRENCY",
]);
/**
 * Variables that count only with a network's suffix if NETWORKS is set, even for the first network: a channel belongs to one network
 * permanently.
 */
const FOR_NONE: ReadonlySet<string> = new Set(["GOVERNANCE_CHANNEL_ID", "NETWORK_NAME"]);

/** Kinds of things for which the web explorer may have pages. */
type PageKind = "update" | "event" | "party" | "validator" | "contract" | "proposal";

type ValuesOf<Variables extends Record<string, Shape>> = {
  [Name in keyof Variables]: z.infer<Variables[Name][0]>;
};

/** Address, key and limits of an explorer. */
export interface ExplorerConfig {
  /** Ends in `/v1`, without a trailing slash. */
  readonly apiUrl: string;
  readonly apiKey: string;
  readonly requestsPerMinute: number;
  readonly concurrency: number;
  /** URL patterns of the web explorer's pages by kind, with `{id}` for the id. */
  readonly pages: Readonly<Record<PageKind, string | undefined>>;
  /** Names of the variables for the explorer's address and key. */
  readonly variables: { readonly url: string; readonly key: string };
}

/** Settings of a network that the bot serves. */
export interface NetworkConfig {
  /** Name in NETWORKS. `undefined` if NETWORKS is not set, and there is one network without a name. */
  readonly id: string | undefined;
  /** Display name. */
  readonly name: string;
  /** The coin's unit. `undefined` for the default one. */
  readonly coin: string | undefined;
  readonly explorer: ExplorerConfig;
  /** The network's own channel that is subscribed to governance from the start. */
  readonly governanceChannelId: string | undefined;
}

/** The bot's settings. Only this module reads the environment. */
export interface Config {
  readonly discord: {
    readonly token: string;
    /** Without a version or a trailing slash. */
    readonly apiUrl: string;
    /** The server in which the commands are registered. `undefined` registers them everywhere. */
    readonly guildId: string | undefined;
    /** Shards of this process. "auto" means all shards, as many as Discord recommends. */
    readonly shards: "auto" | { readonly ids: readonly number[]; readonly count: number };
  };
  /** The default network comes first. */
  readonly networks: readonly [NetworkConfig, ...NetworkConfig[]];
  /** Maximum number of subscriptions per server. */
  readonly subscriptionsPerServer: number;
  readonly governance: {
    /** Channel of the network that came first when NETWORKS was first set. `undefined` if NETWORKS or the channel is not set. */
    readonly channelId: string | undefined;
    readonly pollSeconds: number;
  };
  /** Interval at which everything except vote requests is polled, in seconds. */
  readonly watchPollSeconds: number;
  readonly redisUrl: string | undefined;
  readonly dataDir: string;
  readonly cacheMemoryMb: number;
  readonly logLevel: (typeof levels)[number];
  /** Address that is called each minute while the background work is running. It usually contains a secret of the monitor. */
  readonly heartbeatUrl: string | undefined;
  /** The channel in which the bot reports its own problems. */
  readonly operatorChannelId: string | undefined;
  readonly httpPort: number | undefined;
  /** Address on which the port is opened. */
  readonly httpHost: string;
}

/** Poll intervals. */
export interface PollSettings {
  readonly governance: Pick<Config["governance"], "pollSeconds">;
  readonly watchPollSeconds: number;
}

const NO_FILE =
  "There's no .env in this folder. Copy .env.example to .env and fill it in, or set these in the environment";

type Environment = Readonly<Record<string, string | undefined>>;

/** Creates a reader that parses variables and collects their problems. */
function createReader(env: Environment) {
  const problems: string[] = [];
  const givenAs = (name: string) => env[name]?.trim() || undefined;
  /** Reads a variable. @param names its possible names, the most specific first */
  const readVariable = <Value extends Shape>(
    [schema, wants]: Value,
    names: readonly [string, ...string[]],
  ) => {
    const [usual] = names.toReversed();
    const name = names.find((each) => givenAs(each) !== undefined);
    const given = name === undefined ? undefined : givenAs(name);
    const result = schema.safeParse(given);
    // Some tools keep the quotation marks of a file with settings.
    if (given !== undefined && /^(["'`])[^"'`]*\1$/.test(given))
      problems.push(`${name} is malformed. Remove the quotation marks around its value`);
    else if (!result.success)
      problems.push(
        `${name ?? usual ?? names[0]} is ${name === undefined ? "missing" : "malformed"}. Set it to ${wants}`,
      );
    // `check` throws before an invalid value can be used.
    return result.data as z.infer<Value[0]>;
  };
  /** Reads all variables of a table. `namesOf` returns the possible names of each. */
  const readAll = <Variables extends Record<string, Shape>>(
    variables: Variables,
    namesOf: (name: string) => readonly [string, ...string[]] = (name) => [name],
  ) =>
    Object.fromEntries(
      Object.entries(variables).map(([name, shape]) => [name, readVariable(shape, namesOf(name))]),
    ) as ValuesOf<Variables>;
  return {
    readAll,
    /** @throws {ConfigError} if any variable so far is missing or malformed */
    check() {
      if (problems.length > 0) throw new ConfigError([...new Set(problems)]);
    },
  };
}

/**
 * True for variables that describe one explorer. They are inherited only together, so that a key is never sent to another
 * explorer's address.
 */
const isOfExplorer = (name: string): boolean => /^EXPLORER_(API_|LINK_)/.test(name);

/**
 * Returns a function that returns the possible names of a network's variable, its own first. The first network also reads the
 * variables without a network's name. It does so for the explorer's variables only if it has neither its own address nor its own
 * key.
 */
const namesOf = (id: string | undefined, isFirst: boolean, env: Environment) => {
  const ownOf = (name: string) => `${name}_${id?.toUpperCase()}`;
  const hasOwnExplorer = ["EXPLORER_API_URL", "EXPLORER_API_KEY"].some((name) => env[ownOf(name)]?.trim());
  return (name: string): [string, ...string[]] => {
    if (id === undefined) return [name];
    const isInherited = isFirst && !FOR_NONE.has(name) && !(hasOwnExplorer && isOfExplorer(name));
    return FOR_ALL.has(name) || isInherited ? [ownOf(name), name] : [ownOf(name)];
  };
};

function toNetwork(
  id: string | undefined,
  values: ValuesOf<typeof networkVariables>,
  nameOf: (name: string) => readonly string[],
): NetworkConfig {
  return {
    id,
    name: values.NETWORK_NAME ?? id ?? "",
    coin: values.COIN,
    explorer: {
      apiUrl: `${withoutVersion(values.EXPLORER_API_URL)}/v1`,
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
      variables: {
        url: nameOf("EXPLORER_API_URL").join(" or "),
        key: nameOf("EXPLORER_API_KEY").join(" or "),
      },
    },
    governanceChannelId: values.GOVERNANCE_CHANNEL_ID,
  };
}

/** Differences that a misspelt name may have. */
const MAX_TYPOS = 2;
/** Shorter names resemble too many others. */
const MIN_NAME = 6;

/**
 * Returns a line for each variable that resembles one of the bot's and is none, such as "OPERATOR_CHANEL_ID: did you mean
 * OPERATOR_CHANNEL_ID?", that is for a network without a place in NETWORKS, or that NETWORKS makes ineffective.
 */
export function misspeltVariables(env: Environment = environment()): readonly string[] {
  const ids = env.NETWORKS?.trim() ? readableIds(env.NETWORKS) : [];
  const names = [
    ...Object.keys(botVariables),
    ...Object.keys(networkVariables).flatMap((name) => [
      name,
      ...ids.map((id) => `${name}_${id.toUpperCase()}`),
    ]),
  ];
  const known = new Set(names);
  const isRead = (given: string) => ids.some((id, at) => namesOf(id, at === 0, env)(given).includes(given));
  return Object.keys(env).flatMap((given) => {
    // It belongs to the network that came first, which the state knows.
    if (given === "GOVERNANCE_CHANNEL_ID") return [];
    const unset = ids.find((id) => !env[`${given}_${id.toUpperCase()}`]?.trim()) ?? ids[0];
    if (unset !== undefined && given in networkVariables && env[given]?.trim() && !isRead(given))
      return [
        // It may be the key of another network's explorer.
        given === "EXPLORER_API_KEY"
          ? `${given} has no effect. With NETWORKS, each network has its own`
          : `${given}: did you mean ${given}_${unset.toUpperCase()}? With NETWORKS, each network has its own`,
      ];
    if (known.has(given) || given.length < MIN_NAME) return [];
    const meant = names.find(
      (name) =>
        Math.abs(name.length - given.length) <= MAX_TYPOS &&
        typosBetween(given.toUpperCase(), name) <= MAX_TYPOS,
    );
    if (meant !== undefined) return [`${given}: did you mean ${meant}?`];
    // Other programs may have variables that begin with COIN.
    const base = Object.keys(networkVariables).find(
      (name) => name !== "COIN" && given.startsWith(`${name}_`),
    );
    const suffix = base === undefined ? "" : given.slice(base.length + 1);
    // A name that is malformed, or too similar to another one, is reported as such.
    const isNamed = namesIn(env.NETWORKS ?? "").some((name) => name.toUpperCase() === suffix);
    return base === undefined || isNamed ? [] : [`${given}: NETWORKS does not name ${suffix}`];
  });
}

/**
 * Reads the settings from an environment, in which an empty string counts as unset.
 * @throws {ConfigError} with one line for each variable that is missing or malformed
 */
export function parseConfig(env: Environment): Config {
  const { readAll, check } = createReader(env);
  const { DISCORD_TOKEN, NETWORKS, ...others } = botVariables;
  const { NETWORKS: named, ...known } = readAll({ DISCORD_TOKEN, NETWORKS });
  // If NETWORKS is malformed, the variables of the names that can be read are checked all the same.
  const readable = readableIds(env.NETWORKS ?? "");
  const isUnnamed =
    !env.NETWORKS?.trim() || [env.EXPLORER_API_URL, env.EXPLORER_API_KEY].some((each) => each?.trim());
  const ids = named ?? (readable.length === 0 && isUnnamed ? [undefined] : readable);
  const readNetworks = ids.map((id, index) => {
    const networkNames = namesOf(id, index === 0, env);
    return { id, names: networkNames, values: readAll(networkVariables, networkNames) };
  });
  const values = { ...known, ...readAll(others) };
  const { GOVERNANCE_CHANNEL_ID } = networkVariables;
  const oldestNetwork = named ? readAll({ GOVERNANCE_CHANNEL_ID }) : undefined;
  check();
  const [network, ...networks] = readNetworks.map(({ id, names, values: own }) => toNetwork(id, own, names));
  if (!network) throw new ConfigError(["NETWORKS is malformed. Set it to at least one name"]);
  const names = [network, ...networks].map(({ name }) => name.toLowerCase());
  const namesake = names.findIndex((name, at) => names.indexOf(name) < at);
  if (namesake >= 0) {
    const variable = readNetworks[namesake]?.names("NETWORK_NAME")[0];
    throw new ConfigError([
      `${variable} is missing or malformed. Set it to a name that no other network has`,
    ]);
  }
  const { DISCORD_SHARDS: part, REDIS_URL } = values;
  if (part !== "auto" && part.ids.length < part.count && REDIS_URL === undefined) {
    throw new ConfigError([
      "REDIS_URL is missing. If DISCORD_SHARDS is only a part of all shards, set it to the Redis that all processes share",
    ]);
  }
  return {
    discord: {
      token: values.DISCORD_TOKEN,
      apiUrl: values.DISCORD_API_URL.replace(/(\/+v\d+)?\/*$/, ""),
      guildId: values.DISCORD_GUILD_ID,
      shards: values.DISCORD_SHARDS,
    },
    networks: [network, ...networks],
    subscriptionsPerServer: values.SUBSCRIPTIONS_PER_SERVER,
    governance: {
      channelId: oldestNetwork?.GOVERNANCE_CHANNEL_ID,
      pollSeconds: values.GOVERNANCE_POLL_SECONDS,
    },
    watchPollSeconds: values.WATCH_POLL_SECONDS,
    redisUrl: values.REDIS_URL,
    dataDir: values.DATA_DIR,
    cacheMemoryMb: values.CACHE_MEMORY_MB,
    logLevel: values.LOG_LEVEL,
    heartbeatUrl: values.HEARTBEAT_URL,
    operatorChannelId: values.OPERATOR_CHANNEL_ID,
    httpPort: values.HTTP_PORT,
    httpHost: values.HTTP_HOST,
  };
}

/**
 * Returns the settings of this process, from its environment and a `.env` file if there is one. The environment takes precedence.
 * @throws {ConfigError} see parseConfig
 */
export function loadConfig(): Config {
  const file = readEnvFile();
  const env = environment(file.variables);
  const problems = [...file.brokenLines, ...straySecrets(file.variables, process.env)];
  try {
    const config = parseConfig(env);
    if (problems.length === 0) return config;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    problems.push(...error.problems);
  }
  // With the token in the environment, as in a container, no file is expected.
  const isFileExpected = !existsSync(".env") && !process.env.DISCORD_TOKEN;
  throw new ConfigError([...problems, ...misspeltVariables(env), ...(isFileExpected ? [NO_FILE] : [])]);
}

/**
 * Like `loadConfig`, but reads only the settings of the storage, for a tool that needs no others.
 * @throws {ConfigError} see parseConfig
 */
export function loadStorageConfig(): Pick<Config, "redisUrl" | "dataDir"> {
  const { brokenLines } = readEnvFile();
  if (brokenLines.length > 0) throw new ConfigError(brokenLines);
  return readStorageConfig();
}

/**
 * Like `loadStorageConfig`, also if other lines of `.env` are no variables.
 * @throws {ConfigError} if one of these settings is malformed
 */
export function readStorageConfig(): Pick<Config, "redisUrl" | "dataDir"> {
  const { REDIS_URL, DATA_DIR } = botVariables;
  const { readAll, check } = createReader(environment());
  const values = readAll({ REDIS_URL, DATA_DIR });
  check();
  return { redisUrl: values.REDIS_URL, dataDir: values.DATA_DIR };
}

/**
 * Returns the environment with the variables of `.env` that it does not set.
 * @throws {ConfigError} if there is a `.env` that cannot be read
 */
function environment(inFile = readEnvFile().variables): Environment {
  const environmentEntries = Object.entries(process.env).filter(([, value]) => value?.trim());
  return { ...inFile, ...Object.fromEntries(environmentEntries) };
}

/** Returns an explorer's address without the version of its API and without a slash at the end. */
const withoutVersion = (address: string): string => address.replace(/(\/+v1)*\/*$/i, "");

/** Returns the variable of the secret that is sent to a variable's address. */
const secretFor = (name: string): string | undefined => {
  if (name === "DISCORD_API_URL") return "DISCORD_TOKEN";
  return name.startsWith("EXPLORER_API_URL") ? name.replace("URL", "KEY") : undefined;
};

/** Returns a line for each secret in `.env` that would be sent to another host, because the environment sets another address. */
export const straySecrets = (file: Environment, env: Environment): string[] =>
  Object.keys(file).flatMap((name) => {
    const secret = secretFor(name);
    // The version of an API does not change where a secret goes.
    const [inFile, inEnvironment] = [file[name], env[name]].map((each = "") =>
      each.trim().replace(/(\/+v\d+)*\/*$/i, ""),
    );
    const isOther = inFile && inEnvironment && inFile !== inEnvironment;
    return isOther && secret && file[secret]?.trim() && !env[secret]?.trim()
      ? [
          `${secret}: the environment sets another ${name} than .env, so set ${secret} for it in the environment, too`,
        ]
      : [];
  });

/** Reads `.env`. Empty if there is no such file. @throws {ConfigError} if it cannot be read */
function readEnvFile(): { readonly variables: Environment; readonly brokenLines: readonly string[] } {
  if (!existsSync(".env")) return { variables: {}, brokenLines: [] };
  try {
    const text = decodedText(readFileSync(".env"));
    return { variables: parseEnv(text), brokenLines: brokenLinesIn(text) };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unreadable";
    throw new ConfigError([
      `.env can't be read (${code}). Let the user who runs the bot read this file, or set the variables in the environment`,
    ]);
  }
}
