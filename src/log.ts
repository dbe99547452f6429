import { pino } from "pino";

/** Messages for the operator. */
export interface Log {
  debug(details: object, message: string): void;
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}

const COLOURS: Readonly<Record<string, number>> = { warn: 33, error: 31, fatal: 31, info: 36 };

/** Formats an error for readable output: its stack on the next lines, or else its message. */
function toIndented(err: unknown): string {
  if (typeof err !== "object" || err === null) return "";
  if ("stack" in err) return `\n${err.stack}`;
  return "message" in err ? `: ${err.message}` : "";
}

/** Formats a JSON line for a terminal: time, level, message and details. */
function toReadable(line: string): string {
  const { time, level, msg, err, ...rest } = JSON.parse(line) as Record<string, unknown>;
  const details = Object.entries(rest).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
  const stack = toIndented(err);
  const mark = `\u001b[${COLOURS[String(level)] ?? 2}m${level}\u001b[0m`;
  return `${String(time).slice(11, 19)} ${mark} ${msg} ${details.join(" ")}${stack}\n`;
}

/** Expected errors are logged without a stack. */
const EXPECTED: ReadonlySet<string> = new Set(["ConfigError", "ExplorerError", "StateError"]);

/** Returns the loggable parts of an error. The request's URL is left out, because the URLs of interactions contain a token. */
function serializeError(error: unknown, depth = 0, isExpected = false): unknown {
  if (!(error instanceof Error)) return String(error);
  const { name, message, cause } = error;
  const expected = isExpected || EXPECTED.has(name);
  const stack = expected ? undefined : error.stack;
  const code = "code" in error ? error.code : undefined;
  const status = "status" in error ? error.status : undefined;
  const innerError =
    cause === undefined || depth > 3 ? undefined : serializeError(cause, depth + 1, expected);
  return { type: name, message, code, status, stack, cause: innerError };
}

/** Minimum length of a secret, in characters. A shorter key, such as "0" for an explorer without keys, is part of every line. */
const MIN_SECRET = 4;

/** Shown in place of a secret. */
const HIDDEN = "[hidden]";

/** Returns the forms of a secret that may appear in a text: plain, escaped in JSON, and encoded in a URL. */
const spellings = (secret: string): string[] => [
  secret,
  JSON.stringify(secret).slice(1, -1),
  encodeURIComponent(secret),
];

/**
 * Creates a function that hides secrets in a text.
 * @param minLength shorter secrets stay, in characters: they are part of many texts
 */
export function createHider(secrets: readonly string[], minLength: number): (text: string) => string {
  const hidden = [...new Set(secrets.filter(({ length }) => length >= minLength).flatMap(spellings))];
  return (text) => hidden.reduce((rest, secret) => rest.replaceAll(secret, HIDDEN), text);
}

/** Creates a log whose lines never contain a secret. It writes JSON lines, or readable lines at a terminal. */
export function createLog(
  { logLevel }: { readonly logLevel: string },
  secrets: readonly string[],
  out: { write(line: string): void } = process.stdout,
): Log {
  const hide = createHider(secrets, MIN_SECRET);
  const shape = "isTTY" in out && out.isTTY ? toReadable : (line: string) => line;
  return pino(
    {
      level: logLevel,
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      serializers: { err: (error) => serializeError(error) },
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line: string) => out.write(shape(hide(line))) },
  );
}

/**
 * Logs uncaught errors and keeps the process running. For example, a gateway event that discord.js cannot parse does not affect
 * other events. Unhandled rejections are also handled here (Node: --unhandled-rejections=throw).
 * @returns a function that stops it
 */
export function logUncaught(log: Pick<Log, "error">): () => void {
  const noteUncaught = (err: unknown) => log.error({ err }, "Uncaught error; the bot keeps running");
  // If stdout is closed, logging that error would fail again and again.
  const ignore = () => {};
  process.stdout.on("error", ignore);
  process.on("uncaughtException", noteUncaught);
  return () => {
    process.off("uncaughtException", noteUncaught);
    process.stdout.off("error", ignore);
  };
}
