import { errorCode } from "../util/error-code.js";

const CLUSTER = "REDIS_URL leads to a Redis Cluster, which the bot does not support. Use a single Redis";

/** Explanations of Redis error replies for operators, by the reply's first word. */
const ANSWERS: Readonly<Record<string, string>> = {
  WRONGPASS: "REDIS_URL: Redis refuses that user or password",
  NOPASS: "REDIS_URL: Redis has no password. Remove the one in the address",
  NOAUTH: "REDIS_URL: Redis requires a password. Add it to the address",
  NOPERM: "Redis refuses a command of that user. Grant it all commands on keys that begin with crier:",
  READONLY: "REDIS_URL leads to a replica, which does not accept writes. Set it to an address of the primary",
  NOREPLICAS:
    "Redis does not accept writes while it has too few replicas. Start them, or set REDIS_URL to an address of the primary",
  MASTERDOWN: "REDIS_URL leads to a replica whose primary is down. Set it to an address of the primary",
  OOM: "Redis is out of memory. Give it more, and set maxmemory-policy to volatile-lru",
  MISCONF: "Redis does not accept writes while it cannot save to its disk",
  LOADING: "Redis is still loading its data",
  MOVED: CLUSTER,
  CROSSSLOT: CLUSTER,
  CLUSTERDOWN: CLUSTER,
  DENIED: "Redis is in protected mode: it only accepts connections from its own host. Set a password for it",
  MAXCLIENTS: "Redis has too many connections. Raise its maxclients",
  NODB: "REDIS_URL: Redis has no database of that number",
};

/** Explanations of connection errors by code. */
const CODES: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing is listening there",
  ENOTFOUND: "there is no such host",
  EAI_AGAIN: "its name cannot be looked up",
  EHOSTUNREACH: "that host cannot be reached",
  ETIMEDOUT: "no answer",
};

/** Error replies to which Redis gives no code of their own. */
const UNCODED: readonly (readonly [RegExp, code: keyof typeof ANSWERS])[] = [
  [/^ERR AUTH .*without any password/, "NOPASS"],
  // Redis 7, if the user may not run a command in a script.
  [/^ERR The user executing the script can't/, "NOPERM"],
  [/^ERR .*(non local key in a cluster node|not hash to the same slot|in cluster mode)/, "CROSSSLOT"],
  [/^ERR max number of clients/, "MAXCLIENTS"],
  [/^ERR DB index is out of range/, "NODB"],
];

/** Returns the code of an error reply. Redis 6 puts the code of an error in a script after its own words ("ERR … -READONLY …"). */
function replyCode({ message }: Error): string {
  const [, code] = UNCODED.find(([pattern]) => pattern.test(message)) ?? [];
  return code ?? /^ERR Error running script.*? -([A-Z]+) /.exec(message)?.[1] ?? message.split(" ")[0] ?? "";
}

/** Messages of the client's errors for commands whose connection ended (@redis/client). */
const ENDED = [
  "Disconnects client",
  "The client is closed",
  "The client is offline",
  "Socket closed unexpectedly",
];

/** Codes of a socket that ended while a command waited for its answer. */
const ENDED_CODES = ["ECONNRESET", "EPIPE", "ECONNABORTED", "ETIMEDOUT"];

/** True if a command failed because its connection ended. The connection logs that itself. */
export const isConnectionLost = (error: unknown): boolean =>
  error instanceof Error && (ENDED.includes(error.message) || ENDED_CODES.includes(errorCode(error)));

/** True if Redis refuses a command in a way that only an operator can fix. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof Error && Object.hasOwn(ANSWERS, replyCode(error));

/** Replies of a server that takes no writes. After a failover, it may be the old primary. */
const NO_WRITES = ["READONLY", "MASTERDOWN", "NOREPLICAS", "MISCONF"];

/** True if Redis takes no writes, so that another server may have become the primary. */
export const takesNoWrites = (error: unknown): boolean =>
  error instanceof Error && NO_WRITES.includes(replyCode(error));

const isCertificate = (code: string): boolean => /CERT|^UNABLE_TO_|^HOSTNAME_MISMATCH/.test(code);

/**
 * Explains why Redis cannot be used, without its address or password.
 * @param url needed only for connection errors
 * @param wasConnected true if a connection to it has worked before
 */
export function explainRedis(error: unknown, url = "", wasConnected = false): string {
  if (!(error instanceof Error)) return "Redis failed";
  const isTls = url.startsWith("rediss:");
  const word = replyCode(error);
  const answer = isRefusal(error) ? ANSWERS[word] : undefined;
  if (answer !== undefined) return answer;
  const code = errorCode(error);
  if (isCertificate(code)) return `Redis' TLS certificate is not trusted (${code})`;
  if (/SSL|EPROTO/.test(code)) return "REDIS_URL begins with rediss://, but Redis does not use TLS there";
  const codeWords = Object.hasOwn(CODES, code) ? CODES[code] : undefined;
  if (codeWords !== undefined) return `Redis cannot be reached: ${codeWords} (${code})`;
  if (/^Unknown RESP type/.test(error.message))
    return "REDIS_URL: what answers there is not Redis. Check the host and the port";
  if (error.message === "Connection timeout" || /^Socket timeout/.test(error.message))
    return isTls
      ? "Redis does not answer. REDIS_URL begins with rediss://. Check that Redis uses TLS there"
      : "Redis does not answer";
  if (code === "ECONNRESET" || error.message === "Socket closed unexpectedly")
    return isTls || wasConnected
      ? "Redis closes the connection"
      : "Redis closes the connection. If it requires TLS, begin REDIS_URL with rediss://. It may also be in protected mode, or have too many connections";
  return `Redis failed (${code || (/^[A-Z]+$/.test(word) ? word : error.name)})`;
}
