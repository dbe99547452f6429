import { pino } from "pino";

/** Messages for the operator. */
export interface Log {
  debug(details: object, message: string): void;
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}

const HIDDEN = "[hidden]";

const COLOURS: Readonly<Record<string, number>> = { warn: 33, error: 31, fatal: 31, info: 36 };

/** An error below its line: with its stack, or what it says. */
function toIndented(err: unknown): string {
  if (typeof err !== "object" || err === null) return "";
  if ("stack" in err) return `\n${err.stack}`;
  return "message" in err ? `: ${err.message}` : "";
}

/** A line for a person at a terminal: when, what, and the rest. */
function toReadable(line: string): string {
  const { time, level, msg, err, ...rest } = JSON.parse(line) as Record<string, unknown>;
  const details = Object.entries(rest).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
  const stack = toIndented(err);
  const mark = `\u001b[${COLOURS[String(level)] ?? 2}m${level}\u001b[0m`;
  return `${String(time).slice(11, 19)} ${mark} ${msg} ${details.join(" ")}${stack}\n`;
}

/** Errors that are to be expected: what they say is all there is to know, and where they were thrown is nobody's concern. */
const EXPECTED: ReadonlySet<string> = new Set(["ConfigError", "ExplorerError", "StateError"]);

/** What a log line holds of an error. Not its address: those of interactions hold a token. */
function serializeError(error: unknown, depth = 0, isExpected = false): unknown {
  if (!(error instanceof Error)) return String(error);
  const { name, message, cause } = error;
  const expected = isExpected || EXPECTED.has(name);
  const stack = expected ? undefined : error.stack;
  const code = "code" in error ? error.code : undefined;
  const status = "status" in error ? error.status : undefined;
  const inner = cause === undefined || depth > 3 ? undefined : serializeError(cause, depth + 1, expected);
  return { type: name, message, code, status, stack, cause: inner };
}

/** As it is, as it stands in JSON, and in an address. */
const spellings = (secret: string): string[] => [
  secret,
  JSON.stringify(secret).slice(1, -1),
  encodeURIComponent(secret),
];

/**
 * A log whose lines never hold one of the secrets, wherever in them it would stand. JSON, one line each; at a terminal,
 * lines to be read.
 */
export function createLog(
  { logLevel }: { readonly logLevel: string },
  secrets: readonly string[],
  out: { write(line: string): void } = process.stdout,
): Log {
  const hidden = [...new Set(secrets.flatMap(spellings))];
  const hide = (line: string) => hidden.reduce((text, secret) => text.replaceAll(secret, HIDDEN), line);
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
 * Logs whatever nobody caught, and lets the process go on: a dispatch of Discord's that discord.js cannot read, for one, costs
 * that dispatch and nothing else. A rejection that nobody handles arrives here as well (Node: --unhandled-rejections=throw).
 * @returns what ends it
 */
export function logUncaught(log: Pick<Log, "error">): () => void {
  const note = (err: unknown) => log.error({ err }, "Something failed that nobody caught; the bot goes on");
  // Where nobody reads the log any more, saying so would fail again, for ever.
  const ignore = () => {};
  process.stdout.on("error", ignore);
  process.on("uncaughtException", note);
  return () => {
    process.off("uncaughtException", note);
    process.stdout.off("error", ignore);
  };
}
